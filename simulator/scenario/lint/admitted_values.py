"""Sets of values that matchers admit, and proofs about two matchers from equality, prefixes and ranges.

A matcher is the conjunction of its parts: prefix, suffix, min and so on; a plain value or a list is a part `in`. Listed
values are checked with the test that rules use. Other relations are not detected.
"""

from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.value_reader import text_of
from simulator.scenario.sections.matchers import AMOUNT, PATH, Comparison, Test, number, value_test

STAR = "*"


class Values(msgspec.Struct, frozen=True):
    """The values that a matcher admits: all that pass `test`, which checks all `parts`. `listed` are all of them, None
    when there are too many to list."""

    parts: tuple[tuple[str, Any], ...]
    test: Test
    listed: tuple[object, ...] | None = None

    @property
    def prefix(self) -> str | None:
        """Return the known prefix of each value, or None."""
        return next((text_of(wanted) for name, wanted in self.parts if name == "prefix"), None)

    def bound(self, name: str) -> Decimal | None:
        """Return this bound as a number; None without it."""
        return next((number(wanted) for part, wanted in self.parts if part == name), None)


def values(matcher: object, kind: Comparison) -> Values:
    """Return the values that a valid matcher admits. A path that ends with its only star is a prefix."""
    written = matcher if isinstance(matcher, dict) else {"in": matcher if isinstance(matcher, list) else [matcher]}
    test, parts, listed = value_test(matcher, kind), written.copy(), None
    if "in" in written:
        spelled = [_spelled(value, kind) for value in written["in"]]
        listed = None if None in spelled else tuple(filter(test, spelled))
        head, star, tail = text_of(written["in"][0]).partition(STAR) if len(spelled) == 1 else ("", "", "")
        if kind is PATH and star and not tail and "prefix" not in parts:
            del parts["in"]
            parts["prefix"] = head
    return Values(tuple(parts.items()), test, listed)


def _spelled(value: object, kind: Comparison) -> object:
    """Return the only value that equals a listed value; None when several values do."""
    found = kind.wanted(value)
    if kind is AMOUNT:  # an amount in whole cents has a single spelling; others keep their zeros
        return found if isinstance(found, Decimal) and is_whole_cents(found) else None
    return None if kind is PATH and STAR in text_of(value) else found


def opaque(part: object) -> Values:
    """Return the values of an opaque condition, which only an equal condition covers."""
    return Values((("equal", part),), bool)


def covers(wide: Values, narrow: Values) -> bool:
    """Return True if `wide` admits every value that `narrow` admits, the absent value included."""
    if narrow.listed is not None:
        return all(map(wide.test, narrow.listed))
    prefix = narrow.prefix or ""
    return all(
        part in narrow.parts or (part[0] == "prefix" and prefix.startswith(text_of(part[1]))) for part in wide.parts
    )


def excludes(one: Values, other: Values) -> bool:
    """Return True if no value is admitted by both."""
    for listing, asked in ((one, other), (other, one)):
        if listing.listed is not None:
            return not any(map(asked.test, listing.listed))
    prefix, prefix_of_other = one.prefix or "", other.prefix or ""
    if not prefix.startswith(prefix_of_other) and not prefix_of_other.startswith(prefix):
        return True
    return _is_above(one, other) or _is_above(other, one)


def _is_above(one: Values, other: Values) -> bool:
    low, above, high = one.bound("min"), one.bound("more_than"), other.bound("max")
    return high is not None and ((low is not None and low > high) or (above is not None and above >= high))


def is_empty(found: Values) -> bool:
    """Return True if no value is admitted."""
    return not found.listed if found.listed is not None else excludes(found, found)
