"""The rules of a section by the exact values that they ask for, so that a request meets few of thousands."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Generic

from simulator.domain.model.rules import Fields, Rule, Then

INDEXED = ("refid", "account", "product", "reseller")
"""Facts by which rules are found; of a rule that asks for several it is the first, which tells most requests apart."""


class RuleIndex(Generic[Then]):
    """Finds the rules that a request may match, in their order. All others ask for another value of a fact than the
    request has. Immutable."""

    def __init__(self, rules: Sequence[Rule[Then]]) -> None:
        self._rules = rules
        self._always: list[int] = []  # the places of rules that any request may match
        self._by_fact: dict[str, dict[str, list[int]]] = {}
        for place, rule in enumerate(rules):
            name = next((name for name in INDEXED if name in rule.exact), None)
            if name is None:
                self._always.append(place)
            else:
                by_value = self._by_fact.setdefault(name, {})
                for value in rule.exact[name]:
                    by_value.setdefault(value, []).append(place)

    def candidates(self, facts: Fields) -> Sequence[Rule[Then]]:
        """All rules whose `when` may match these facts. One that is neither a text nor absent is compared by the rules
        themselves, as only they know how."""
        by_fact, rules = self._by_fact, self._rules
        if not by_fact:
            return rules
        found = [self._always]
        for name, by_value in by_fact.items():
            value = facts.get(name)
            if type(value) is str:
                if value in by_value:
                    found.append(by_value[value])
            elif value is not None:
                return rules
        if len(found) == 1:
            return [rules[place] for place in self._always]
        return [rules[place] for place in sorted(chain.from_iterable(found))]


def by_label(rules: Sequence[Rule[Then]]) -> Mapping[str, Rule[Then]]:
    """The first rule of each name and id."""
    found: dict[str, Rule[Then]] = {}
    for rule in rules:
        found.setdefault(rule.name, rule)
        found.setdefault(rule.id, rule)
    return found
