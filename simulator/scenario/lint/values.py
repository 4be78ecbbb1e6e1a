"""The set of values that a matcher admits, and what can be proved about two of them. What cannot is not claimed.

A matcher is the conjunction of its parts: prefix, suffix, min and so on; a plain value or a list is a part `in`. Where
a matcher lists its values, the rules' own test is asked about each, and the answer is exact. Otherwise `PARTS` says for
each part when another matcher implies it, and `CLASHES` which parts exclude each other; a part without an entry there
is implied by an equal one only.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.inboxes import MIDNIGHT, TimeOfDay
from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.reader import text_of
from simulator.scenario.sections.matchers import Test, amount_test, number, text_test
from simulator.scenario.sections.windows import DAYS

MICROSECOND = timedelta(microseconds=1)
NESTED_MAX = 2  # `not` within `not` beyond this is not looked into, which bounds the work
STAR = "*"
BOUNDS = ("min", "more_than")  # a part that another one may imply


class Kind(msgspec.Struct, frozen=True):
    """How the values of a condition are compared. `spellings` are all values that a listed one stands for, None when
    they cannot be enumerated; with `has_stars` a `*` in a listed one matches anything."""

    test: Callable[[object], Test]
    spellings: Callable[[object], tuple[object, ...] | None]
    has_stars: bool = False


def _spelled_path(value: object) -> tuple[object, ...] | None:
    return None if STAR in text_of(value) else (text_of(value),)


def _spelled_amount(value: object) -> tuple[object, ...] | None:
    """An amount in whole cents has one text, however it was sent; others keep their zeros."""
    found = number(value)
    if found is None:
        return ()
    return (found,) if is_whole_cents(found) else None


TEXT = Kind(text_test, lambda value: (text_of(value),))
METHOD = Kind(lambda matcher: text_test(matcher, upper=True), lambda value: (text_of(value).upper(),))
PATH = Kind(lambda matcher: text_test(matcher, is_path=True), _spelled_path, has_stars=True)
AMOUNT = Kind(amount_test, _spelled_amount)
OPAQUE = Kind(lambda matcher: bool, lambda value: None)  # nothing is known of its values


class Values(msgspec.Struct, frozen=True):
    """What a matcher admits: the values that pass `test`, which has all `parts`. `listed` are all of them, None when
    there are too many to list."""

    kind: Kind
    parts: tuple[tuple[str, Any], ...]
    test: Test
    listed: tuple[object, ...] | None


def values(kind: Kind, matcher: object, depth: int = 0) -> Values:
    """What a valid matcher admits."""
    written = matcher if isinstance(matcher, dict) else {"in": matcher if isinstance(matcher, list) else [matcher]}
    test, parts = kind.test(matcher), []
    listed: tuple[object, ...] | None = None
    for name, wanted in written.items():
        if name == "in":
            listed = _listed(kind, wanted, test)
        if name == "not" and depth < NESTED_MAX:
            wanted = values(kind, wanted, depth + 1)
        parts.append((name, wanted))
    return Values(kind, tuple(parts), test, listed)


def times_of_day(found: TimeOfDay) -> Values:
    """The values of a time of day."""
    return Values(OPAQUE, (("time", found),), bool, None)


def microseconds(part: str, span: timedelta) -> Values:
    """The microseconds from a span on, or before it: `part` is min or max."""
    return Values(OPAQUE, ((part, Decimal(span // MICROSECOND)),), bool, None)


def opaque(matcher: object) -> Values:
    """The values of a condition that nothing is known about: covered by an equal one only."""
    return Values(OPAQUE, (("equal", matcher),), bool, None)


def _listed(kind: Kind, wanted: list[object], test: Test) -> tuple[object, ...] | None:
    found: list[object] = []
    for value in wanted:
        spelled = kind.spellings(value)
        if spelled is None:
            return None
        found += filter(test, spelled)
    return tuple(found)


def covers(wide: Values, narrow: Values) -> bool:
    """True when every value that `narrow` admits is admitted by `wide`, the absent one included."""
    if narrow.listed is not None:
        return all(map(wide.test, narrow.listed))
    return all(_implies(narrow, name, wanted, wide.kind) for name, wanted in wide.parts)


def excludes(one: Values, other: Values) -> bool:
    """True when no value is admitted by both."""
    for listing, asked in ((one, other), (other, one)):
        if listing.listed is not None:
            return not any(map(asked.test, listing.listed))
    return any(
        _clash(one, *first, other, *second) or _clash(other, *second, one, *first)
        for first in one.parts
        for second in other.parts
    )


def is_all_time(key: str, found: Values) -> bool:
    """True when the window `key` admits every moment of a sandbox: all days, from its start, all day long."""
    match key:
        case "weekday":
            return set(DAYS) <= set(found.listed or ())
        case "since":
            return found.parts == (("min", 0),)
        case "time":
            [(_, wanted)] = found.parts
            return isinstance(wanted, TimeOfDay) and wanted.spans() == ((MIDNIGHT, None),)
    return False


def is_empty(found: Values) -> bool:
    """True when it admits nothing."""
    return not found.listed if found.listed is not None else excludes(found, found)


def _implies(narrow: Values, name: str, wanted: Any, kind: Kind) -> bool:
    """True when whatever `narrow` admits passes the part `name`."""
    if name == "not" and isinstance(wanted, Values):
        return excludes(narrow, wanted)
    is_implied = PARTS.get((name, name))
    for other, given in narrow.parts:
        if other == name and (given == wanted if is_implied is None else is_implied(kind, wanted, given)):
            return True
        if (bound := PARTS.get((name, other))) and other in BOUNDS and other != name and bound(kind, wanted, given):
            return True
        if other == "in" and kind.has_stars and (within := PARTS.get((name, "in"))) and within(kind, wanted, given):
            return True
    return False


def _clash(one: Values, name: str, wanted: Any, other: Values, other_name: str, given: Any) -> bool:
    """True when the part `name` of `one` excludes the part `other_name` of `other`, or all of `other`."""
    if name == "not" and isinstance(wanted, Values):
        return covers(wanted, other)
    found = CLASHES.get((name, other_name))
    if "in" in (name, other_name) and not one.kind.has_stars:
        return False
    return found is not None and found(wanted, given)


def _bound(value: object) -> Decimal:
    found = number(value)
    assert found is not None, "the schema accepts numbers only"
    return found


def _head(text: object) -> str:
    return text_of(text).partition(STAR)[0]


def _tail(text: object) -> str:
    return text_of(text).rpartition(STAR)[2]


def _admit_all(kind: Kind, wanted: list[object], given: list[object]) -> bool:
    """A star that is matched like any other character can only be matched by a star."""
    return all(map(kind.test(wanted), map(text_of, given) if kind.has_stars else map(number, given)))


def _apart(one: str, other: str, has: Callable[[str, str], bool]) -> bool:
    return not has(one, other) and not has(other, one)


# (part, part of the narrower matcher): whether the second, `given`, implies the first, `wanted`.
PARTS: Mapping[tuple[str, str], Callable[[Kind, Any, Any], bool]] = {
    ("in", "in"): _admit_all,
    ("prefix", "prefix"): lambda kind, wanted, given: text_of(given).startswith(text_of(wanted)),
    ("prefix", "in"): lambda kind, wanted, given: all(_head(one).startswith(text_of(wanted)) for one in given),
    ("suffix", "suffix"): lambda kind, wanted, given: text_of(given).endswith(text_of(wanted)),
    ("suffix", "in"): lambda kind, wanted, given: all(_tail(one).endswith(text_of(wanted)) for one in given),
    ("min", "min"): lambda kind, wanted, given: _bound(given) >= _bound(wanted),
    ("max", "max"): lambda kind, wanted, given: _bound(given) <= _bound(wanted),
    ("more_than", "more_than"): lambda kind, wanted, given: _bound(given) >= _bound(wanted),
    ("min", "more_than"): lambda kind, wanted, given: _bound(given) >= _bound(wanted),
    ("more_than", "min"): lambda kind, wanted, given: _bound(given) > _bound(wanted),
    ("time", "time"): lambda kind, wanted, given: wanted.includes(given),
}

# Two parts: whether no value has both. Those with "in" are about texts with stars.
CLASHES: Mapping[tuple[str, str], Callable[[Any, Any], bool]] = {
    ("prefix", "prefix"): lambda one, other: _apart(text_of(one), text_of(other), str.startswith),
    ("suffix", "suffix"): lambda one, other: _apart(text_of(one), text_of(other), str.endswith),
    ("min", "max"): lambda low, high: _bound(low) > _bound(high),
    ("more_than", "max"): lambda low, high: _bound(low) >= _bound(high),
    ("time", "time"): lambda one, other: one.is_apart(other),
    ("prefix", "in"): lambda prefix, texts: all(
        STAR in text_of(one) and _apart(_head(one), text_of(prefix), str.startswith) for one in texts
    ),
    ("suffix", "in"): lambda suffix, texts: all(
        STAR in text_of(one) and _apart(_tail(one), text_of(suffix), str.endswith) for one in texts
    ),
    ("in", "in"): lambda some, others: all(
        _apart(_head(one), _head(other), str.startswith) or _apart(_tail(one), _tail(other), str.endswith)
        for one in some
        for other in others
    ),
}
