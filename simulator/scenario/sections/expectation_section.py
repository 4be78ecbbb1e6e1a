"""`expect`: expected calls, payments and deliveries of a run, compiled like the rules' `when`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from reseller_sim.formats import one_line
from simulator.domain.model.expectations import ANY_COUNT, Count, Expectation, ExpectationKind
from simulator.domain.model.outcomes import IDS
from simulator.domain.model.rules import Fields, Magic, Rule
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import compile_when
from simulator.scenario.sections.rule_sections import KnownCodes, check_codes, when_of
from simulator.scenario.yaml import flow


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
    if given:
        text = f"an expectation has a single subject; this expectation has {given[0].value!r} already"
        item.misplaced(text, *given[1:])
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
            about["name"].refuse_unknown("rule", rules)
            return Expectation(name, kind, count, label=about["name"].text())
        case ExpectationKind.OUTCOME:
            about.refuse_unknown("outcome", IDS, "in the coverage")
            return Expectation(name, kind, count, label=about.text())
        case ExpectationKind.BALANCE:
            return _balance(name, item, known)
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
    if kind is not ExpectationKind.CALLS:
        item.misplaced(f"{{!r}} applies to calls, not to {kind.value}", "per", "apart")
    if not item["count"].is_given and not item["apart"].is_given:
        item.misplaced("'per' needs 'count' or 'apart' beside it: what should hold for each value", "per")
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
    item.misplaced("an expectation of a balance has an 'amount' and no 'count'", "count")
    check_codes(about["reseller"], known.resellers, "reseller")
    return Expectation(name, ExpectationKind.BALANCE, label=about["reseller"].text(), amount=about["amount"].amount())


def _described(kind: ExpectationKind, about: ValueReader) -> str:
    """Return the default name of an expectation: its subject, as written."""
    return one_line(f"{kind.value} {flow(about.plain)}" if about.plain else kind.value)
