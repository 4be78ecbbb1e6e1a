"""What makes of documents the values that the domain works with. It is handed in, since reading documents is no subject
of the domain, and commands that carry them can be written down."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Scenario


class Compiler(Protocol):
    """Raises an error of its own for a document that makes no sense; nothing has changed then."""

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
    ) -> Rule[Any]:
        """A rule of a section; `rule_id` is its id when it has none of its own."""
        ...

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """A whole scenario; `name` is its title when it has none."""
        ...
