"""Compiles documents into domain values. It is injected, so that the domain reads no documents and commands that carry
documents stay serializable."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.model.transactions import Step


class Compiler(Protocol):
    """Raises its own error for an invalid document; nothing has changed then."""

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
        timelines: Mapping[str, tuple[Step, ...]],
    ) -> Rule[Any]:
        """Compile a rule of a section; `rule_id` is its id when the document has none. It may name these products,
        resellers and timelines."""
        ...

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """Compile a whole scenario; `name` is its title when the document has none."""
        ...
