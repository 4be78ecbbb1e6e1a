"""Rules: `when` (a match) and `then` (what happens); the first match wins.

Matchers are compiled to plain callables. Rules are shared and immutable; their counts are state of a `RuleBook`
(`rule_book`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Generic, TypeVar

import msgspec

from simulator.domain.model.places import Place

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
    place: Place | None = field(default=None, compare=False, repr=False)
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
