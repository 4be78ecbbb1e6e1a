"""`expect`: expected calls, payments and deliveries of a run, compiled like the rules' `when`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from reseller_sim.formats import one_line
from simulator.domain.model.expectations import ANY_COUNT, Count, Expectation, ExpectationKind
from simulator.domain.model.outcomes import IDS
from simulator.domain.model.rules import Fields, Magic, Rule
from simulator.domain.model.transactions import Status
from simulator.domain.model.webhooks import BALANCE_ADDED
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import compile_when
from simulator.scenario.sections.rule_sections import KnownCodes, check_codes, values_of, when_of
from simulator.scenario.sections.timelines import STATUSES
from simulator.scenario.yaml import flow
from simulator.wire.payment_answers import STATUS_NAMES

_CHANGES = ("created", "updated", "deleted")
EVENT_TYPES = (
    BALANCE_ADDED,
    *(f"{name}.{change}" for name in ("product", "option", "category", "group") for change in _CHANGES),
)

# Matcher members with a fixed set of values.
_KNOWN_VALUES: Mapping[tuple[str, str], Collection[str]] = {
    ("payments", "status"): tuple(STATUS_NAMES.values()),
    ("callbacks", "status"): tuple(name for name, status in STATUSES.items() if status is not Status.ACCEPTED),
    ("callbacks", "state"): ("pending", "delivered", "failed", "dropped"),
    ("webhooks", "state"): ("pending", "success", "failed"),
}
_NUMBERS = frozenset({("calls", "status"), ("payments", "statusCode"), ("callbacks", "statusCode")})


def labels(sections: Mapping[str, Iterable[Rule[Any]]], magic: Magic) -> set[str]:
    """Return all labels of rules, including magic rules."""
    found = {label for rules in sections.values() for rule in rules for label in (rule.id, rule.name) if label}
    return found | magic.names()


def expectations(section: ValueReader, known: KnownCodes, rules: Collection[str]) -> tuple[Expectation, ...]:
    """Return the expectations in order; they may name `known` codes and the labels of `rules`. Invalid expectations are
    reported."""
    return tuple(one for item in section.items() if (one := _expectation(item, known, rules)) is not None)


def _expectation(item: ValueReader, known: KnownCodes, rules: Collection[str]) -> Expectation | None:
    given = [kind for kind in ExpectationKind if item[kind].is_given]
    for other in given[1:]:
        text = f"an expectation has a single subject; this expectation has {given[0].value!r} already"
        item[other].problem("misplaced", text, at_key=True)
    if not given:
        if item.is_valid:  # otherwise a misspelt key was reported
            item.problem("missing_key", f"an expectation is about one of {', '.join(ExpectationKind)}")
        return None
    kind = given[0]
    _refuse_misplaced(item, kind)
    place = item.position.place
    return replace(_about(item, kind, known, rules), written=item.plain, place=place)


def _about(item: ValueReader, kind: ExpectationKind, known: KnownCodes, rules: Collection[str]) -> Expectation:
    about = item[kind]
    name = item["name"].text(_described(kind, about))
    count = _count(item["count"])
    match kind:
        case ExpectationKind.RULE:
            return Expectation(name, kind, count, label=_named(about["name"], rules, "rule"))
        case ExpectationKind.OUTCOME:
            return Expectation(name, kind, count, label=_named(about, IDS, "outcome"))
        case ExpectationKind.BALANCE:
            return _balance(name, item, known)
    for member, entry in about.entries():
        _check_values(kind, member, entry)
    per, apart = item["per"].text(), item["apart"].optional_duration()
    if (per or apart is not None) and not item["count"].is_given:
        count = ANY_COUNT
    test = when_of(about, known)
    return Expectation(name, kind, count, test, parts=_parts(about), per=per, apart=apart)


def _parts(about: ValueReader) -> Mapping[str, Callable[[Fields], bool]]:
    """Return a test for each condition, to show which conditions a record misses."""
    if not about.is_mapping or not about.is_valid:
        return {}
    return {name: compile_when({name: matcher}) for name, matcher in about.plain.items()}


def _refuse_misplaced(item: ValueReader, kind: ExpectationKind) -> None:
    for key in ("per", "apart"):
        if item[key].is_given and kind is not ExpectationKind.CALLS:
            item[key].problem("misplaced", f"{key!r} applies to calls, not to {kind.value}", at_key=True)
    if item["per"].is_given and not item["count"].is_given and not item["apart"].is_given:
        text = "'per' needs 'count' or 'apart' beside it: what should hold for each value"
        item["per"].problem("misplaced", text, at_key=True)
    if item["apart"].is_given and item["apart"].optional_duration() == timedelta(0):
        item["apart"].problem("out_of_range", "any two calls are 0 s apart; write a longer time")


def _count(item: ValueReader) -> Count:
    if item.is_mapping:
        low, high = item["min"].integer(0), item["max"].optional_integer()
        if high is not None and high < low:
            item["max"].problem("out_of_range", f"max is below min, {low}")
        if item.is_valid and Count(low, high) == ANY_COUNT:
            item.problem("out_of_range", "every count meets this; write 'max', or 'min: 1' or more")
        return Count(low, high)
    exactly = item.optional_integer()
    return Count() if exactly is None else Count(exactly, exactly)


def _balance(name: str, item: ValueReader, known: KnownCodes) -> Expectation:
    about = item[ExpectationKind.BALANCE]
    if item["count"].is_given:
        item["count"].problem("misplaced", "an expectation of a balance has an 'amount' and no 'count'", at_key=True)
    check_codes(about["reseller"], known.resellers, "reseller")
    return Expectation(name, ExpectationKind.BALANCE, label=about["reseller"].text(), amount=about["amount"].amount())


def _named(item: ValueReader, names: Collection[str], what: str) -> str:
    name = item.text()
    if name and name not in names:
        text = f"there is no {what} {shown(name)}{suggestion(name, list(names))}"
        item.problem(f"unknown_{what}", text)
    return name


def _check_values(kind: ExpectationKind, member: str, entry: ValueReader) -> None:
    """Report an impossible value; an expectation of it would always or never be met."""
    known = _KNOWN_VALUES.get((kind.value, member))
    for value in values_of(entry):
        text = value.text()
        if known and text not in known:
            message = f"{shown(text)} is not one of {', '.join(known)}{suggestion(text, list(known))}"
            value.problem("unknown_value", message)
        if (kind.value, member) in _NUMBERS and not (text.isascii() and text.isdigit()):
            value.problem("bad_number", f"{shown(text)} must be a whole number{_class_of(text)}")


def _class_of(text: str) -> str:
    """Return a hint how to write 4xx."""
    first = text[:1]
    return f", or {{ min: {first}00, max: {first}99 }}" if text.lower() in ("1xx", "2xx", "3xx", "4xx", "5xx") else ""


def _described(kind: ExpectationKind, about: ValueReader) -> str:
    """Return the default name of an expectation: its subject, as written."""
    return one_line(f"{kind.value} {flow(about.plain)}" if about.plain else kind.value)
