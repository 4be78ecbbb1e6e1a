"""Conditions of a rule's `when`, as sets of admitted values: conditions that no value meets, and rules that an earlier
rule hides. Equal conditions, listed values and prefixes are compared; other relations are not detected."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import msgspec

from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ONE, ValueReader, text_of
from simulator.scenario.sections.matchers import (
    AMOUNT,
    COUNTS,
    GROUPS,
    KINDS,
    OUTSTANDING,
    PATH,
    TEXT,
    Comparison,
    Test,
    exceeds_outstanding,
    number,
    value_test,
)
from simulator.scenario.sections.times import SPAN_KEYS, WINDOW_KEYS, time_of_day

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


# The members of a rule that do not limit when it applies.
NOT_LIMITING: Final = frozenset({"id", "name", "when", "then", "callbacks", "fallback", *SPAN_KEYS})

# Conditions whose values hardly ever contain a star. An intended star goes into `in`.
WITHOUT_STAR: Final = ("account", "refid", "trxid", "extras", "headers", "query")
# A value that is a regular expression: between slashes, with anchors, classes or repetitions.
REGEX_KEYS: Final = ("account", "refid", "trxid", "extras")
REGEX: Final = re.compile(r"/.+/|\^.*|.*\$|.*(?:\\[dws]|\.[+*]|\[[^\]]+\][+*{]|\)[+*?]).*")
MEDIA_RANGE: Final = "/*"  # for a header that names the header

COMPARISONS_MAX: Final = 100_000
"""The number of comparisons in a scenario: each alternative of a rule is compared with all earlier alternatives."""

Key = tuple[str, str]
ABOVE_OUTSTANDING: Final[Key] = ("amount", OUTSTANDING)


class Condition(msgspec.Struct, frozen=True):
    """A single test of a `when`: its key, with the member's name in a group, its admitted values and its position."""

    key: Key
    admits: Values
    at: ValueReader


Conditions = tuple[Condition, ...]


class Alternative(msgspec.Struct, frozen=True):
    """An item of `any`: its own conditions, and `whole`, which adds the conditions beside `any`. A rule without `any`
    has a single alternative, and all conditions are its own."""

    at: ValueReader
    own: Conditions
    whole: Conditions


class When(msgspec.Struct, frozen=True):
    """The conditions of a rule, and the items of its `any`."""

    at: ValueReader
    conditions: Conditions
    branches: tuple[Alternative, ...] = ()

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Return the alternatives, at least one of which a request has to match."""
        return self.branches or (Alternative(self.at, self.conditions, self.conditions),)


Placed = tuple[ValueReader, When]
"""A rule and its conditions."""


def when_of(item: ValueReader) -> When | None:
    """Return the conditions of a rule, without its counts; None for an invalid rule."""
    if not item.is_valid:
        return None
    beside = (*conditions_of(item["when"]), *_written(item, SPAN_KEYS))
    branches = ((at, tuple(conditions_of(at))) for at in item["when"]["any"].items())
    return When(item["when"], beside, tuple(Alternative(at, own, (*own, *beside)) for at, own in branches))


def subject_of(about: ValueReader) -> When:
    """Return the conditions of a valid expectation on its calls, payments and so on."""
    return When(about, tuple(conditions_of(about)))


def window_of(item: ValueReader) -> When | None:
    """Return the conditions of an item that has its own window and no `when`; None for an invalid item."""
    return When(item, tuple(_written(item, WINDOW_KEYS))) if item.is_valid else None


def _written(item: ValueReader, keys: tuple[str, ...]) -> Iterator[Condition]:
    return (Condition((key, ""), _values(key, item[key]), item[key]) for key in keys if item[key].is_given)


def conditions_of(when: ValueReader) -> Iterator[Condition]:
    """Yield the conditions of a valid `when`."""
    for key, entry in when.entries():
        if key in COUNTS or key == "any":
            continue
        if key in GROUPS:
            for name, member in entry.entries():
                member_name = name.lower() if key == "headers" else name
                yield Condition((key, member_name), values(member.plain, TEXT), member)
        elif exceeds_outstanding(entry.plain):
            yield Condition(ABOVE_OUTSTANDING, opaque(OUTSTANDING), entry["more_than"])
            others = {name: wanted for name, wanted in entry.plain.items() if name != "more_than"}
            if others:
                yield Condition(("amount", ""), values(others, AMOUNT), entry)
        else:
            yield Condition((key, ""), _values(key, entry), entry)


def _values(key: str, entry: ValueReader) -> Values:
    if key in SPAN_KEYS:
        return opaque(entry.duration())
    if key == "time":
        return opaque(time_of_day(entry.plain))
    return values(entry.plain, KINDS.get(key, TEXT))


def count(item: ValueReader, key: str) -> ValueReader:
    """Return `nth`, `every`, `times` or `chance`, which may be beside `when` or in it."""
    return item[key] if item[key].is_given else item["when"][key]


def hides(wide: When, narrow: When) -> bool:
    """Return True if `wide` provably matches everything that `narrow` matches."""
    return all(any(_hides(one.whole, other.whole) for one in wide.alternatives) for other in narrow.alternatives)


def _hides(wide: Conditions, narrow: Conditions) -> bool:
    return all(any(one.key == other.key and covers(one.admits, other.admits) for other in narrow) for one in wide)


def lint_order(rules: list[Placed], comparisons_max: int) -> int:
    """Report the hidden rules. Return how many comparisons are left of `comparisons_max`.

    A rule with a name and without conditions is exempt: requests select it by X-Sim-Rule.
    """
    earlier: list[Placed] = []
    count_earlier, left = 0, comparisons_max
    for item, when in sorted(rules, key=lambda rule: rule[0]["fallback"].boolean()):
        if not item["when"].is_valid:
            continue  # matches no request: another finding
        left -= count_earlier * len(when.alternatives)
        if left < 0:
            return 0
        hiding = next((rule for rule in earlier if hides(rule[1], when)), None)
        if hiding is None:
            if _applies_always(item):
                earlier.append((item, when))
                count_earlier += len(when.alternatives)
        elif when.conditions or when.branches or not item["name"].is_given:
            above = f"{_named(hiding[0], item)} matches the same requests"
            advice = (
                "remove one of the two rules" if item["fallback"].boolean() else "put this rule above, or remove a rule"
            )
            item.problem("unreachable", f"this rule never applies: {above}; {advice}")
    return left


def _applies_always(item: ValueReader) -> bool:
    """Return True if a rule applies whenever its conditions hold."""
    limits = {key for key, _ in item.entries()} - NOT_LIMITING
    limits |= {key for key in COUNTS if item["when"][key].is_given}
    is_each = count(item, "every").integer(1) == 1 and count(item, "chance").amount(ONE) == ONE
    return limits <= {"every", "chance"} and is_each


def _named(hiding: ValueReader, hidden: ValueReader) -> str:
    """Return the hiding rule's name and line, with the file when the files differ."""
    name = hiding["name"].text() or hiding["id"].text()
    where = hiding.position.seen_from(hidden.position.source)
    return f"rule {shown(name)} {where}" if name else f"the rule {where}"


def lint_conditions(when: When) -> None:
    """Report ranges and combinations that no value meets, and stars that are taken literally."""
    _lint(when.conditions, ())
    for branch in when.branches:
        _lint(branch.own, when.conditions)


def _lint(conditions: Conditions, beside: Conditions) -> None:
    """Lint the conditions of a rule, or of an item of its `any` together with those `beside` it."""
    _lint_spans(conditions, beside)
    for condition in conditions:
        if condition.key[0] == "time" and not condition.admits.parts[0][1].spans():
            condition.at.problem(
                "impossible", "nothing matches: the time ends when it begins; for a whole day, remove 'time'"
            )
        elif is_empty(condition.admits):
            condition.at.problem("impossible", "nothing matches: no value passes all parts of this condition")
        elif any(one.key == condition.key and excludes(one.admits, condition.admits) for one in beside):
            text = f"nothing matches: the {shown(condition.key[0])} beside 'any' excludes this item"
            condition.at.problem("impossible", text)
        if condition.key[0] in WITHOUT_STAR:
            _lint_literals(condition)


def _lint_spans(conditions: Conditions, beside: Conditions) -> None:
    """Report a `since` at or after `until`."""
    own = [condition for condition in conditions if condition.key[0] in SPAN_KEYS]
    spans = {span.key[0]: span.at for span in (*beside, *own)}
    until = next((one.at for one in own if one.key[0] == "until"), None)
    if until is not None and not until.duration():
        until.problem("impossible", "nothing matches: 'until' is the start of the sandbox")
    elif own and {*SPAN_KEYS} <= spans.keys() and spans["since"].duration() >= spans["until"].duration():
        last = own[-1].at if beside else spans["until"]
        last.problem("out_of_range", "nothing matches: 'until' is not after 'since'")


def _lint_literals(condition: Condition) -> None:
    entry, key = condition.at, condition.key[0]
    for value in [] if entry.is_mapping else entry.items() or [entry]:
        has_star = STAR in value.text() and not (key == "headers" and MEDIA_RANGE in value.text())
        if has_star or (key in REGEX_KEYS and REGEX.fullmatch(value.text())):
            meant = "{ prefix: … }, { suffix: … } or { pattern: … }"
            value.problem("literal_star", f"{shown(value.text())} is taken literally; write {meant}")
