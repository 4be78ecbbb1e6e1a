"""What a rule's `when` asks for, as sets of values, and whether one rule matches all that another does."""

from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from simulator.scenario.lint.reach import ANY_METHOD, ANY_PATH, Reach, reach
from simulator.scenario.lint.values import (
    AMOUNT,
    METHOD,
    PATH,
    TEXT,
    Kind,
    Values,
    covers,
    is_all_time,
    microseconds,
    opaque,
    times_of_day,
    values,
)
from simulator.scenario.reading.reader import ONE, Reader
from simulator.scenario.sections.matchers import COUNTS, OUTSTANDING, exceeds_outstanding
from simulator.scenario.sections.windows import KEYS, time_of_day

# How each condition compares values. A condition that is missing here is covered by an equal one only.
KINDS: Mapping[str, Kind] = {
    "method": METHOD,
    "path": PATH,
    "amount": AMOUNT,
    **dict.fromkeys(("reseller", "product", "account", "refid", "trxid", "refund_type", "new", "weekday"), TEXT),
}
# Conditions with named members, each with its matcher; and what makes equal names equal.
GROUPS: Mapping[str, Callable[[str], str]] = {"extras": str, "headers": str.lower, "query": str}

# The members of a rule that do not limit when it applies.
WITHOUT_LIMIT = frozenset({"id", "name", "when", "then", "callbacks", "fallback", "since", "until"})

PAIRS_MAX = 50  # more alternatives of two rules than this are not compared, which bounds the work

# Spans since the start, and which bound of the time they are. That `until` is exclusive changes no comparison.
SPANS: Mapping[str, str] = {"since": "min", "until": "max"}

Key = tuple[str, str]
ABOVE_OUTSTANDING: Key = ("amount", OUTSTANDING)


class Condition(msgspec.Struct, frozen=True):
    """One test of a `when`: its key, with the member's name in a group, what it admits, and where it is written."""

    key: Key
    admits: Values
    at: Reader

    @property
    def holds_always(self) -> bool:
        """True of a window that is all the time."""
        return self.key[0] in KEYS and is_all_time(self.key[0], self.admits)


class When(msgspec.Struct, frozen=True):
    """All conditions of a rule but those in `any`, which are `branches`; `reach` are the endpoints of a fault, if they
    are known."""

    conditions: tuple[Condition, ...]
    reach: Reach | None = None
    branches: tuple["Branch", ...] = ()

    def of(self, key: str) -> Values | None:
        """What is admitted for a plain condition; None when there is none."""
        return next((one.admits for one in self.conditions if one.key == (key, "")), None)

    @property
    def alternatives(self) -> "tuple[When, ...]":
        """The same as several without `any`, one of which has to match."""
        return tuple(branch.whole for branch in self.branches) or (self,)


class Branch(msgspec.Struct, frozen=True):
    """One item of `any`: its own conditions, and with those beside `any` as a `whole`."""

    at: Reader
    own: tuple[Condition, ...]
    whole: When


def when_of(item: Reader, section: str) -> When | None:
    """The conditions of a rule, without its counts; None when it has a problem."""
    if not item.is_valid:
        return None
    found = _whole((*_conditions(item["when"]), *_spans(item)), section)
    return replace(found, branches=tuple(_branch(one, found, section) for one in item["when"]["any"].items()))


def conditions_of(about: Reader) -> When:
    """The conditions of an expectation on its calls, payments and so on; it must be valid."""
    return When(tuple(_conditions(about)))


def _branch(at: Reader, beside: When, section: str) -> Branch:
    own = tuple(_conditions(at))
    return Branch(at, own, _whole((*own, *beside.conditions), section))


def _whole(conditions: tuple[Condition, ...], section: str) -> When:
    """With the endpoints of a fault, unless two conditions are about them: then these are compared like any others."""
    found, keys = When(conditions), [one.key[0] for one in conditions]
    if section != "faults" or any(keys.count(key) > 1 for key in ("method", "path")):
        return found
    return replace(found, reach=reach(found.of("method") or ANY_METHOD, found.of("path") or ANY_PATH))


def _conditions(when: Reader) -> Iterator[Condition]:
    for key, entry in when.entries():
        if key in COUNTS or key == "any" or entry.node is None:
            continue
        if key in GROUPS:
            for name, member in entry.entries():
                yield Condition((key, GROUPS[key](name)), _matched(TEXT, member), member)
        elif exceeds_outstanding(entry.node.plain()):
            yield from _amount_above_outstanding(entry)
        else:
            yield Condition((key, ""), _values(key, entry), entry)


def _amount_above_outstanding(entry: Reader) -> Iterator[Condition]:
    """A condition of its own, which nothing is known of, and what else the matcher says."""
    assert entry.node is not None, "a matcher that says something"
    others = {name: wanted for name, wanted in entry.node.plain().items() if name != "more_than"}
    yield Condition(ABOVE_OUTSTANDING, opaque(OUTSTANDING), entry["more_than"])
    if others:
        yield Condition(("amount", ""), values(AMOUNT, others), entry)


def _spans(item: Reader) -> Iterator[Condition]:
    """The conditions `since` and `until` beside `when`."""
    for key in SPANS:
        if item[key].is_given:
            yield Condition((key, ""), _values(key, item[key]), item[key])


def window_of(item: Reader) -> When | None:
    """The conditions of an item that has a window of its own, no `when`; None when it has a problem."""
    given = [key for key in KEYS if item[key].is_given]
    return (
        When(tuple(Condition((key, ""), _values(key, item[key]), item[key]) for key in given))
        if item.is_valid
        else None
    )


def _values(key: str, entry: Reader) -> Values:
    if key in SPANS:
        return microseconds(SPANS[key], entry.duration())
    if key == "time" and entry.node is not None:
        return times_of_day(time_of_day(entry.node.plain()))
    return _matched(KINDS.get(key), entry)


def _matched(kind: Kind | None, entry: Reader) -> Values:
    plain = entry.node.plain() if entry.node is not None else None
    return opaque(plain) if kind is None else values(kind, plain)


def count(item: Reader, key: str) -> Reader:
    """`nth`, `every`, `times` or `chance`, which may be beside `when` or in it."""
    return item[key] if item[key].is_given else item["when"][key]


def applies_always(item: Reader) -> bool:
    """True when a rule applies whenever its conditions hold."""
    limits = {key for key, _ in item.entries()} - WITHOUT_LIMIT
    limits |= {key for key in COUNTS if item["when"][key].is_given}
    if not limits <= {"every", "chance"}:
        return False
    return count(item, "every").integer(1) == 1 and count(item, "chance").amount(ONE) == ONE


def hides(wide: When, narrow: When) -> bool:
    """True when everything that `narrow` matches also matches `wide`. If undecidable, it does not."""
    alternatives, others = wide.alternatives, narrow.alternatives
    if len(alternatives) * len(others) > PAIRS_MAX:
        return False
    return all(_any_hides(alternatives, other) or _all_hide(alternatives, other) for other in others)


def _any_hides(alternatives: tuple[When, ...], narrow: When) -> bool:
    return any(_hides(one, narrow) for one in alternatives)


def _all_hide(alternatives: tuple[When, ...], narrow: When) -> bool:
    """True when each value that a condition of `narrow` lists is hidden, one by one alternative and one by another."""
    for place, condition in enumerate(narrow.conditions):
        listed = condition.admits.listed or ()
        if len(alternatives) > 1 and 1 < len(listed) <= PAIRS_MAX // len(alternatives):
            single = [replace(condition, admits=values(condition.admits.kind, value)) for value in listed]
            if all(_any_hides(alternatives, _with(narrow, place, one)) for one in single):
                return True
    return False


def _with(when: When, place: int, condition: Condition) -> When:
    """The same with another condition at this place."""
    conditions = (*when.conditions[:place], condition, *when.conditions[place + 1 :])
    return When(conditions) if when.reach is None else _whole(conditions, "faults")


def _hides(wide: When, narrow: When) -> bool:
    """The same as `hides` for two without `any`."""
    for condition in wide.conditions:
        if wide.reach is not None and condition.key[0] in ("method", "path"):
            continue  # decided by the endpoints
        key, admits = condition.key, condition.admits
        is_implied = any(key == other.key and covers(admits, other.admits) for other in narrow.conditions)
        if not is_implied and not condition.holds_always:
            return False
    return wide.reach is None or (narrow.reach is not None and narrow.reach.is_within(wide.reach))
