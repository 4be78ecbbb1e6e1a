"""Sets of values that matchers admit, and proofs about two matchers from equality, prefixes and ranges.

A matcher is the conjunction of its parts: prefix, suffix, min and so on; a plain value or a list is a part `in`. Listed
values are checked with the test that rules use. Other relations are not detected.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.reader import text_of
from simulator.scenario.sections.matchers import Test, amount_test, number, text_test

STAR = "*"


class Comparison(msgspec.Struct, frozen=True):
    """A comparison of a condition's values. `spelled` returns the only value that equals a listed value, or None when
    several values do."""

    test: Callable[[object], Test]
    spelled: Callable[[object], object]


def _spelled_amount(value: object) -> Decimal | None:
    """Return an amount in whole cents, which has a single spelling; None for other amounts, which keep their zeros."""
    found = number(value)
    return found if found is not None and is_whole_cents(found) else None


TEXT = Comparison(text_test, text_of)
METHOD = Comparison(lambda matcher: text_test(matcher, upper=True), lambda value: text_of(value).upper())
PATH = Comparison(
    lambda matcher: text_test(matcher, is_path=True), lambda value: None if STAR in text_of(value) else value
)
AMOUNT = Comparison(amount_test, _spelled_amount)
OPAQUE = Comparison(lambda matcher: bool, lambda value: None)  # its values are unknown


class Values(msgspec.Struct, frozen=True):
    """The values that a matcher admits: all that pass `test`, which checks all `parts`. `listed` are all of them, None
    when there are too many to list."""

    kind: Comparison
    parts: tuple[tuple[str, Any], ...]
    test: Test
    listed: tuple[object, ...] | None = None

    @property
    def prefix(self) -> str | None:
        """Return the known prefix of each value, or None."""
        return next((text_of(wanted) for name, wanted in self.parts if name == "prefix"), None)

    def bound(self, *names: str) -> Decimal | None:
        """Return the first of these bounds that is present, as a number."""
        return next((number(wanted) for name, wanted in self.parts if name in names), None)


def values(kind: Comparison, matcher: object) -> Values:
    """Return the values that a valid matcher admits. A path that ends with its only star is a prefix."""
    written = matcher if isinstance(matcher, dict) else {"in": matcher if isinstance(matcher, list) else [matcher]}
    test, parts, listed = kind.test(matcher), written.copy(), None
    if "in" in written:
        spelled = [kind.spelled(value) for value in written["in"]]
        listed = None if None in spelled else tuple(filter(test, spelled))
        head, star, tail = text_of(written["in"][0]).partition(STAR)
        if kind is PATH and star and not tail and len(spelled) == 1 and "prefix" not in parts:
            del parts["in"]
            parts["prefix"] = head
    return Values(kind, tuple(parts.items()), test, listed)


def opaque(part: object) -> Values:
    """Return the values of an opaque condition, which only an equal condition covers."""
    return Values(OPAQUE, (("equal", part),), bool)


def covers(wide: Values, narrow: Values) -> bool:
    """Return True if `wide` admits every value that `narrow` admits, the absent value included."""
    if narrow.listed is not None:
        return all(map(wide.test, narrow.listed))
    return all(part in narrow.parts or _begins(narrow.prefix, *part) for part in wide.parts)


def _begins(prefix: str | None, name: str, wanted: object) -> bool:
    return prefix is not None and name == "prefix" and prefix.startswith(text_of(wanted))


def excludes(one: Values, other: Values) -> bool:
    """Return True if no value is admitted by both."""
    for listing, asked in ((one, other), (other, one)):
        if listing.listed is not None:
            return not any(map(asked.test, listing.listed))
    if one.prefix is not None and other.prefix is not None and not _is_alike(one.prefix, other.prefix):
        return True
    return _is_above(one, other) or _is_above(other, one)


def _is_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _is_above(one: Values, other: Values) -> bool:
    low, above, high = one.bound("min"), one.bound("more_than"), other.bound("max")
    return high is not None and ((low is not None and low > high) or (above is not None and above >= high))


def is_empty(found: Values) -> bool:
    """Return True if no value is admitted."""
    return not found.listed if found.listed is not None else excludes(found, found)
