"""Compiles `when` into one plain callable per rule, called for every request.

Values are compared as text, amounts as numbers. A test of an absent value fails, so its `not` succeeds.
"""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal

import msgspec

from simulator.domain.model.inbox_programs import Window
from simulator.domain.model.money import CENT, is_whole_cents, parse_amount
from simulator.domain.model.rules import Fields, matches_all
from simulator.scenario.reading import patterns
from simulator.scenario.reading.value_reader import text_of
from simulator.scenario.sections import times
from simulator.scenario.sections.times import window_of

Test = Callable[[object], bool]
When = Callable[[Fields], bool]

# Facts from the request's body; a fault that tests one of these is evaluated after the body was read.
BODY_FACTS = frozenset({"product", "account", "amount", "refid", "extras", "new"})
COUNTS = ("nth", "every", "times", "per", "chance")
# Conditions with named members, each with its matcher.
GROUPS = ("extras", "headers", "query")
OUTSTANDING = "outstanding"

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,20})?", re.ASCII)


def compile_when(when: Mapping[str, object]) -> When:
    """Return the test of a rule's `when`, without its counts. Raises `ValueError` for a bad pattern."""
    tests: list[When] = []
    for key, matcher in when.items():
        if key in COUNTS or key in times.WINDOW_KEYS:
            continue
        if key in GROUPS:
            assert isinstance(matcher, Mapping)
            tests += [_inner(key, name, part) for name, part in matcher.items()]
        elif key == "any":
            assert isinstance(matcher, list)
            tests.append(_any_of([compile_when(branch) for branch in matcher]))
        elif key == "amount" and exceeds_outstanding(matcher):
            assert isinstance(matcher, dict)
            others = {name: wanted for name, wanted in matcher.items() if name != "more_than"}
            tests += [_exceeds_outstanding] if not others else [_outer(key, others), _exceeds_outstanding]
        else:
            tests.append(_outer(key, matcher))
    if (window := window_of(when)) is not None:
        tests.append(_within(window))
    return _all_of(tests)


def needs_body(when: Mapping[str, object]) -> bool:
    """Return True if a `when` asks for a fact of the body."""
    return bool(BODY_FACTS & when.keys()) or any(map(needs_body, _branches(when)))


def without_body(when: Mapping[str, object]) -> dict[str, object]:
    """Return the conditions of a `when` that need no body; if they fail, the `when` fails."""
    found = {key: matcher for key, matcher in when.items() if key not in BODY_FACTS}
    return found | {"any": [without_body(branch) for branch in _branches(when)]} if "any" in when else found


def _branches(when: Mapping[str, object]) -> list[Mapping[str, object]]:
    branches = when.get("any", [])
    assert isinstance(branches, list)
    return branches


def exceeds_outstanding(matcher: object) -> bool:
    """Return True for the matcher of an amount with `more_than: outstanding`."""
    return isinstance(matcher, dict) and matcher.get("more_than") == OUTSTANDING


def _exceeds_outstanding(facts: Fields) -> bool:
    """Compare lazily: the fact is a function, since a bill is drawn only for a rule that asks for it."""
    find_outstanding, amount = facts.get(OUTSTANDING), parse_amount(facts.get("amount"))
    if amount is None or not callable(find_outstanding):
        return False
    outstanding = find_outstanding()
    return outstanding is not None and amount > outstanding


def _any_of(branches: list[When]) -> When:
    return lambda facts: any(branch(facts) for branch in branches)


def _all_of(tests: list[When]) -> When:
    if len(tests) <= 1:
        return tests[0] if tests else matches_all

    def matches(facts: Fields) -> bool:
        for test in tests:  # noqa: SIM110  # twice as fast as all()
            if not test(facts):
                return False
        return True

    return matches


def _within(window: Window) -> When:
    def holds(facts: Fields) -> bool:
        now, start = facts["now"], facts["start"]
        assert isinstance(now, datetime), "a time is a fact of every request"
        assert isinstance(start, datetime), "the start is one too"
        return window.holds(now, start)

    return holds


def _outer(key: str, matcher: object) -> When:
    kind = KINDS.get(key, TEXT)
    if not isinstance(matcher, list | dict) and kind is not AMOUNT and not (kind is PATH and "*" in text_of(matcher)):
        wanted = kind.wanted(matcher)
        return lambda facts: facts.get(key) == wanted
    test = value_test(matcher, kind)
    return lambda facts: test(facts.get(key))


def _inner(key: str, name: str, matcher: object) -> When:
    test = value_test(matcher)
    member = name.lower() if key == "headers" else name

    def matches(facts: Fields) -> bool:
        members = facts.get(key)
        return test(members.get(member) if isinstance(members, Mapping) else None)

    return matches


class Comparison(msgspec.Struct, frozen=True):
    """How the values of a condition are compared: `wanted` reads a value of the scenario, the others read the value of
    a request for equality, for bounds, and for prefixes, suffixes and patterns."""

    wanted: Callable[[object], object]
    plain: Callable[[object], object]
    number: Callable[[object], Decimal | None]
    text: Callable[[object], str | None]


def number(value: object) -> Decimal | None:
    """Return the number in a text or a plain value."""
    if isinstance(value, str):
        return Decimal(value) if _NUMBER.fullmatch(value) else None
    return Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return None if value is None else text_of(value)


def _amount_text(value: object) -> str | None:
    """Return the amount with at least two decimals, independent of the client's spelling."""
    found = parse_amount(value)
    if found is None:
        return None
    return f"{found.quantize(CENT) if is_whole_cents(found) else found:f}"


TEXT = Comparison(text_of, _text, number, _text)
METHOD = Comparison(lambda value: text_of(value).upper(), _text, number, _text)
PATH = Comparison(text_of, _text, number, _text)  # with globs; compared by identity
AMOUNT = Comparison(number, parse_amount, parse_amount, _amount_text)
KINDS: Mapping[str, Comparison] = {"method": METHOD, "path": PATH, "amount": AMOUNT}


def value_test(matcher: object, kind: Comparison = TEXT) -> Test:
    """Return the test of a value. Raises `ValueError` for a bad pattern."""
    if isinstance(matcher, dict):
        return _every([_part(name, wanted, kind) for name, wanted in matcher.items()])
    values = matcher if isinstance(matcher, list) else [matcher]
    wanted = frozenset(map(kind.wanted, values))
    globs = [patterns.glob(text) for text in map(text_of, values) if kind is PATH and "*" in text]

    def matches(value: object) -> bool:
        found = kind.plain(value)
        return found is not None and (found in wanted or any(fits(text_of(found)) for fits in globs))

    return matches


def _part(name: str, wanted: object, kind: Comparison) -> Test:
    match name:
        case "not":
            inner = value_test(wanted, kind)
            return lambda value: not inner(value)
        case "in":
            return value_test(wanted, kind)
        case "min" | "max" | "more_than":
            return _bound(name, wanted, kind.number)
    return _part_of_text(name, text_of(wanted), kind.text)


def _every(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


def _bound(name: str, wanted: object, read: Callable[[object], Decimal | None]) -> Test:
    bound = number(wanted)
    assert bound is not None
    compare = {"min": operator.ge, "max": operator.le, "more_than": operator.gt}[name]
    return lambda value: (found := read(value)) is not None and compare(found, bound)


def _part_of_text(name: str, wanted: str, read: Callable[[object], str | None]) -> Test:
    if name == "pattern":
        found_in = patterns.finder(wanted)
        return lambda value: (text := read(value)) is not None and found_in(text)
    compare = {"prefix": str.startswith, "suffix": str.endswith}[name]
    return lambda value: (text := read(value)) is not None and compare(text, wanted)
