"""A compiler for tests of the domain, which have scenarios and no files."""

from collections.abc import Collection, Mapping
from typing import Any

from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.model.transactions import PaymentThen, Step


class FixedCompiler:
    """Compiles the document `{}` with a scenario's name to that scenario, and a rule's document to a rule with its `id`
    and `name` that matches every request and accepts payments by the timeline `then`."""

    def __init__(self, *scenarios: Scenario) -> None:
        self._scenarios = {scenario.name: scenario for scenario in scenarios}

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
        timelines: Mapping[str, tuple[Step, ...]],
    ) -> Rule[Any]:
        """Return a rule that matches every request."""
        then = PaymentThen(timelines[document["then"]] if "then" in document else ())
        return Rule(document.get("id", rule_id), lambda facts: True, then, document.get("name", ""))

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """Return the scenario of this name."""
        return self._scenarios[name]
