"""Rules: `when` (a match) and `then` (what happens); the first match wins.

Matchers are compiled to plain callables. Rules are shared and immutable; their counts are state of a `RuleBook`
(`rule_book`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from typing import Any, Generic, Literal, TypeVar

import msgspec


class SourceLine(msgspec.Struct, frozen=True):
    """Where a statement or a rule is written: a file and a line, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Origin(msgspec.Struct, frozen=True):
    """What a scenario was read from, as another file extends it: a bundled scenario, a file of the folder of
    `--scenarios`, named by its path in it, or any other file, named as one beside it."""

    source: Literal["bundled", "folder", "file"]
    name: str


Then = TypeVar("Then")
Fields = Mapping[str, object]
Text = Callable[[Fields], str]


def not_written() -> None:
    """Of a rule that was not read from a document, or from one that is too long to be shown."""


def matches_all(facts: Fields) -> bool:
    """A `when` without conditions: matches everything."""
    return True


class AddedRule(msgspec.Struct, frozen=True):
    """What a rule that was added at run time was compiled from: its document, the id that it has when the document says
    none, and the timelines that it could name."""

    section: str
    document: Mapping[str, Any]
    rule_id: str
    timelines: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule(Generic[Then]):
    """`nth`, `every` and `chance` depend on how often `when` matched, `times` on how often the rule was chosen without
    being selected by its name. With `per`, the name of a fact, `nth`, `every` and `times` are about each of its values,
    and a request without one does not match.

    A `fallback` is tried after all others, the magic accounts included. `before_body` is the part of `when` that can be
    evaluated before a request's body is known; None when all of it can.

    `exact` has facts with the texts of which `when` wants one: it matches no request with another text or without one.

    `written` has the rule as a document, None when there is none to show; `place` is where it is, if in a text.

    `variants` are rules that differ in `then` alone, each with the sum of the weights up to it; each match draws one.
    """

    id: str
    when: Callable[[Fields], bool]
    then: Then
    name: str = ""
    times: int | None = None
    nth: int | None = None
    every: int | None = None
    chance: Decimal | None = None
    per: str = ""
    fallback: bool = False
    before_body: Callable[[Fields], bool] | None = None
    variants: tuple[tuple[int, "Rule[Then]"], ...] = ()
    exact: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)
    written: Callable[[], Mapping[str, object] | None] = field(default=not_written, compare=False, repr=False)
    place: SourceLine | None = field(default=None, compare=False, repr=False)
    label: str = field(init=False)
    """Its display name: the name, else the id."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.name or self.id)

    @property
    def counts_matches(self) -> bool:
        """True when every match counts, also one of a request that a rule above decides."""
        return self.nth is not None or self.every is not None

    @property
    def decides_all(self) -> bool:
        """True when it applies to every request, and to each alike."""
        counts = (self.times, self.nth, self.every, self.chance)
        return self.when is matches_all and all(count is None for count in counts) and not self.variants

    def with_id(self, rule_id: str) -> "Rule[Then]":
        """The same rule under another id, which its variants have, too."""
        variants = tuple((end, replace(variant, id=rule_id)) for end, variant in self.variants)
        return replace(self, id=rule_id, variants=variants)

    def drawn(self, fraction: float) -> "Rule[Then]":
        """The variant at this fraction, in [0, 1), of the sum of all weights; the rule itself when it has none."""
        if not self.variants:
            return self
        point = fraction * self.variants[-1][0]
        return next(variant for end, variant in self.variants if point < end)


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
