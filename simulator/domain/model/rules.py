"""Rules: `when` (a match) and `then` (what happens); the first match wins.

`scenario/sections` compiles them from a file, with matchers as plain callables. Rules are shared and immutable; a
`RuleBook` (`rule_book`) has their counts, in total and for each value of a fact. Magic accounts select rules of their
own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

import msgspec


class SourceLine(msgspec.Struct, frozen=True):
    """The place where a statement or a rule is written: a file and a line, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ScenarioOrigin(msgspec.Struct, frozen=True):
    """The source of a scenario, as another file names it in `extends`: a bundled scenario, a file in the folder of
    `--scenarios` (by its path in the folder), or any other file (by its name, relative to the extending file)."""

    source: Literal["bundled", "folder", "file"]
    name: str


Then = TypeVar("Then")
Fields = Mapping[str, object]
Text = Callable[[Fields], str]


def matches_all(facts: Fields) -> bool:
    """Match everything: the test of a `when` without conditions."""
    return True


class AddedRule(msgspec.Struct, frozen=True):
    """The source of a rule that was added at run time: its document, its id if the document has no id, and the
    timelines that it may name."""

    section: str
    document: Mapping[str, Any]
    rule_id: str
    timelines: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule(Generic[Then]):
    """A rule. `nth`, `every` and `chance` depend on how often `when` matched, `times` on how often the rule was chosen
    without being selected by name. With `per`, `nth`, `every` and `times` count each value of a fact separately, and a
    request without a value does not match."""

    id: str
    when: Callable[[Fields], bool]
    then: Then
    name: str = ""
    times: int | None = None
    nth: int | None = None
    every: int | None = None
    chance: Decimal | None = None
    per: str = ""  # the name of the fact
    fallback: bool = False  # is tried after all other rules, including magic accounts
    when_of_head: Callable[[Fields], bool] | None = None  # the part that needs no body; None if the head decides
    variants: tuple[tuple[int, "Rule[Then]"], ...] = ()  # each with the sum of weights so far; a match draws a `then`
    written: Callable[[], Mapping[str, object]] = field(default=dict, compare=False, repr=False)  # as a document
    place: SourceLine | None = field(default=None, compare=False, repr=False)
    label: str = field(init=False)  # the display name: the name, else the id

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.name or self.id)

    @property
    def decides_all(self) -> bool:
        """Return whether the rule applies to every request, and to all requests alike."""
        counts = (self.times, self.nth, self.every, self.chance)
        return self.when is matches_all and counts.count(None) == len(counts) and not (self.per or self.variants)

    def with_id(self, rule_id: str) -> "Rule[Then]":
        """Return the rule, including its variants, under another id."""
        variants = tuple((end, replace(variant, id=rule_id)) for end, variant in self.variants)
        return replace(self, id=rule_id, variants=variants)

    def drawn(self, fraction: float) -> "Rule[Then]":
        """Return the variant at this fraction, in [0, 1), of the sum of all weights."""
        point = fraction * self.variants[-1][0]
        return next(variant for end, variant in self.variants if point < end)


SECTIONS = ("payments", "voids", "disputes", "bills", "faults")
"""The sections of a scenario that have rules, in its order."""


VALUES_MAX = 10_000  # of a single rule or expectation; the rules of a section have twice as many, about 6 MB
VALUE_CHARS_MAX = 200  # longer values are compared by their beginning alone


class RuleCount(msgspec.Struct):
    """The counts of a rule, or of a value of its `per`."""

    matched: int = 0
    chosen: int = 0
    selected: int = 0  # choices that were selected by name
    by_value: "dict[str, RuleCount]" = msgspec.field(default_factory=dict)  # in order of first occurrence

    def of(self, value: str) -> "RuleCount":
        """Return the count of a value, read-only; the total of the rule for the value ""."""
        return (self.by_value.get(value) or RuleCount()) if value else self


def counted_value(per: str, facts: Mapping[str, object], spelling: Callable[[str], str] | None = None) -> str:
    """Return a request's value of the fact `per`; "" without a value. A refid is qualified by its reseller."""
    found = facts.get(per)
    text = found if isinstance(found, str) else "" if found is None else str(found)
    if not text:
        return ""
    if per == "refid":
        text = f"{facts.get('reseller')} {text if spelling is None else spelling(text)}"
    return text[:VALUE_CHARS_MAX]


NO_RULES: Mapping[str, Rule[Any]] = {}


class Magic(msgspec.Struct, frozen=True):
    """All magic accounts of a scenario: the meaning of each `OO`, the delay of each `D`, and for each section the rules
    by the last three digits."""

    outcomes: Mapping[str, str] = msgspec.field(default_factory=dict)
    durations: Mapping[str, timedelta] = msgspec.field(default_factory=dict)
    sections: Mapping[str, Mapping[str, Rule[Any]]] = msgspec.field(default_factory=dict)

    def of(self, section: str) -> Mapping[str, Rule[Any]]:
        return self.sections.get(section, NO_RULES)

    def names(self) -> frozenset[str]:
        """Return the names of all magic rules."""
        return frozenset(rule.id for rules in self.sections.values() for rule in rules.values())


NO_MAGIC = Magic()
