"""Rules of a scenario, section by section, with their compiled `when`; and the table of magic accounts, compiled into
rules."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from simulator.domain.model.rules import NO_MAGIC, Magic, Rule
from simulator.domain.model.transactions import SETTLED, PaymentThen, Step
from simulator.scenario.reading.patterns import finder
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections import times
from simulator.scenario.sections.catalog_section import bill_then
from simulator.scenario.sections.matchers import (
    BODY_FACTS,
    COUNTS,
    GROUPS,
    OUTSTANDING,
    When,
    compile_when,
    needs_body,
    number,
    without_body,
)
from simulator.scenario.sections.scripted_answers import fault
from simulator.scenario.sections.timelines import (
    Timelines,
    choices,
    dispute,
    payment_then,
    payment_thens,
    void,
    with_variants,
)
from simulator.scenario.sections.times import SPAN_KEYS, check_window

Then = TypeVar("Then")

NO_MATCHERS = frozenset({*COUNTS, *times.WINDOW_KEYS, "any", "new"})


class KnownCodes(msgspec.Struct, frozen=True):
    """The names that a rule may use: codes in `when` and timelines in `then`, None for any; and whether an amount may
    be compared with the `outstanding` amount."""

    products: Collection[str] | None = None
    resellers: Collection[str] | None = None
    outstanding: bool = False
    timelines: Timelines = msgspec.field(default_factory=dict)

    def for_section(self, section: str) -> "KnownCodes":
        """Return the names for rules of a section; payments and bills may compare an amount."""
        if self.outstanding or section not in ("payments", "bills"):
            return self
        return structs.replace(self, outstanding=True)


# The rule sections in their order, each with its definition in the schema.
DEFINITIONS: Mapping[str, str] = {
    "payments": "payment_rule",
    "voids": "void_rule",
    "disputes": "dispute_rule",
    "bills": "bill_rule",
    "faults": "fault_rule",
}
THENS: Mapping[str, Callable[[ValueReader], Any]] = {
    "voids": void,
    "disputes": dispute,
    "bills": bill_then,
    "faults": fault,
}


def rules_of(section: str, items: ValueReader, known: KnownCodes) -> tuple[Rule[Any], ...]:
    """Return the rules of a section; the default ids are payments-1 and so on."""
    known = known.for_section(section)  # once for all rules of a large file
    return tuple(rule_of(section, item, f"{section}-{place}", known) for place, item in enumerate(items.items(), 1))


def rule_of(section: str, item: ValueReader, rule_id: str, known: KnownCodes) -> Rule[Any]:
    """Return a rule of a section; `rule_id` is its default id."""
    known = known.for_section(section)
    thens = _thens(section, item, known)
    rule = _rule(item, rule_id, known, thens[0][1])
    if section == "faults":
        # Neither the execution nor the body is known when a request arrives, only the rest of the test.
        written = _written(item)
        waits = any(one.after_commit for _, one in thens) or rule.per in BODY_FACTS or needs_body(written)
        rule = replace(rule, when_of_head=compile_when(without_body(written))) if waits else rule
    elif item["fallback"].boolean():
        rule = replace(rule, fallback=True)
    return with_variants(rule, thens)


def _thens(section: str, item: ValueReader, known: KnownCodes) -> list[tuple[int, Any]]:
    if section == "payments":
        return list(payment_thens(item["then"], item["callbacks"], known.timelines))
    return choices(item["then"], THENS[section])


def _rule(item: ValueReader, rule_id: str, known: KnownCodes, then: Then) -> Rule[Then]:
    times, nth, every = (_from_either(item, key, ValueReader.optional_integer) for key in ("times", "nth", "every"))
    per = _from_either(item, "per", ValueReader.text)
    return Rule(
        id=item["id"].text(rule_id),
        name=item["name"].text(),
        when=_when(item, known),
        then=then,
        times=times,
        nth=nth,
        every=every,
        per=(per or "") if times or nth or every else "",
        chance=_from_either(item, "chance", ValueReader.optional_amount),
        written=item.node.plain if item.node is not None else dict,
        place=item.position.place,
    )


def _when(item: ValueReader, known: KnownCodes) -> When:
    """Return the test of a rule's `when` and of the time window beside it."""
    for key in SPAN_KEYS:
        check_window(key, item[key])
    test = when_of(item["when"], known)
    return compile_when(_written(item)) if any(map(item.has, SPAN_KEYS)) else test


def _written(item: ValueReader) -> Mapping[str, Any]:
    """Return the conditions of a rule as written; `since` and `until` are valid beside `when` or in it, not both."""
    beside = {key: item[key].text() for key in SPAN_KEYS if item.has(key) and item[key].is_valid}
    for key in beside:
        _refuse_twice(item, key)
    return {**_plain(item["when"]), **beside}


def _refuse_twice(item: ValueReader, key: str) -> None:
    if item.has(key) and item["when"].has(key):
        item["when"][key].problem("duplicate", f"{key!r} is also written beside 'when'; write it once", at_key=True)


def when_of(when: ValueReader, known: KnownCodes) -> When:
    """Return the test of a `when`; an absent or invalid one matches every request."""
    for key, entry in when.entries():
        _check_matcher(key, entry, known)
    return compile_when(_plain(when))


def _plain(when: ValueReader) -> Mapping[str, Any]:
    return when.plain if when.is_mapping and when.is_valid else {}


Value = TypeVar("Value", int, str, Decimal)


def _from_either(item: ValueReader, key: str, read: Callable[[ValueReader], Value | None]) -> Value | None:
    """Read `nth`, `times`, `every`, `per` or `chance` from beside `when` or from within, not both; None without the
    key."""
    _refuse_twice(item, key)
    if (when := item["when"]).has(key):
        return read(when[key])
    return read(item[key]) if item.has(key) else None


def _check_matcher(key: str, entry: ValueReader, known: KnownCodes) -> None:
    if key in times.WINDOW_KEYS:
        check_window(key, entry)
    if key == "any":
        for branch in entry.items():
            _check_branch(branch, known)
    if key in NO_MATCHERS:
        return
    if key in GROUPS:
        for _, member in entry.entries():
            _check_patterns(member)
        return
    _check_patterns(entry, may_exceed_outstanding=key == "amount" and known.outstanding)
    if key == "amount":
        _check_amounts(entry)
    if key == "product":
        check_codes(entry, known.products, key)
    if key == "reseller":
        check_codes(entry, known.resellers, key)


def _check_branch(branch: ValueReader, known: KnownCodes) -> None:
    """Report counts within `any`, and another `any`."""
    for key, entry in branch.entries():
        if key in COUNTS:
            entry.problem(
                "misplaced", f"{key!r} counts the matches of a whole rule; write it beside 'when'", at_key=True
            )
        elif key == "any":
            entry.problem(
                "misplaced", "'any' within 'any' is not needed; write its items beside the others", at_key=True
            )
        else:
            _check_matcher(key, entry, known)


def _check_patterns(entry: ValueReader, *, may_exceed_outstanding: bool = False) -> None:
    if not entry.is_mapping:
        return
    entry["pattern"].parsed(finder, "bad_pattern")
    if entry["more_than"].text() == OUTSTANDING and not may_exceed_outstanding:
        text = "'outstanding' is only for the 'amount' of payments and bills, and not within 'not'; write a number"
        entry["more_than"].problem("misplaced", text)
    if entry["not"].is_given:
        _check_patterns(entry["not"])


def values_of(entry: ValueReader) -> list[ValueReader]:
    """Return the plain values in a matcher, in any of its forms."""
    if entry.is_mapping:
        return [value for key in ("in", "not") if entry[key].is_given for value in values_of(entry[key])]
    return entry.items() if entry.is_list else [entry]


def listed_values(entry: ValueReader) -> list[ValueReader]:
    """Return the plain values that a matcher lists as alternatives: a value, a list, or `in`."""
    found = entry["in"] if entry.is_mapping else entry
    return found.items() if found.is_list else [found] if found.is_given else []


def _check_amounts(entry: ValueReader) -> None:
    for value in values_of(entry):
        if value.node is not None and number(value.node.value) is None:
            text, hint = value.text(), ""
            if text == OUTSTANDING:
                hint = "; only more_than takes 'outstanding'"
            elif not _COMPARISON.isdisjoint(text):
                hint = "; write a range as { min: …, max: … }"
            value.problem("bad_amount", f"an amount is a number, not {text!r}{hint}")


def check_codes(entry: ValueReader, codes: Collection[str] | None, what: str) -> None:
    """Report each unknown code in a matcher or a plain value."""
    if codes is not None:
        for value in values_of(entry):
            value.refuse_unknown(what, codes)


_ALWAYS = compile_when({})
_COMPARISON = frozenset("<>=-")


def magic(section: ValueReader, timelines: Timelines) -> Magic:
    """Return the magic accounts. They are cached unless the scenario has timelines, which outcomes may name."""
    if not section.is_mapping:
        return NO_MAGIC
    if timelines:
        return _magic(section, timelines)
    return section.built_once(partial(_magic, timelines=timelines))


def finishing_after(steps: tuple[Step, ...], span: timedelta) -> tuple[Step, ...]:
    """Return the timeline with its final status `span` after the creation, and no other status later than that.

    A timeline without a final status, or with one in the first answer, at a time of day or on a re-query, is unchanged.
    """
    if not steps or steps[-1].status not in SETTLED or steps[-1].after is None:
        return steps
    earlier = (
        step if step.after is None else structs.replace(step, after=min(step.after, span)) for step in steps[:-1]
    )
    return (*earlier, structs.replace(steps[-1], after=span))


def _magic(section: ValueReader, timelines: Timelines) -> Magic:
    durations = {digit: item.duration() for digit, item in section["durations"].entries()}
    outcomes = dict(section["outcomes"].entries())
    _check_digits(section["durations"], 1)
    _check_digits(section["outcomes"], 2)
    usual = payment_then(section["then"], timelines)
    found: dict[str, dict[str, Rule[Any]]] = {name: {} for name in ("payments", *THENS)}
    for code, item in outcomes.items():
        found["payments"] |= _magic_payment_rules(code, item["payments"], usual, durations, timelines)
        for name, read in THENS.items():
            if item[name].is_given:
                when = when_of(item[name]["when"], KnownCodes()) if name == "faults" else _ALWAYS
                thens = choices(item[name]["then"], read)
                found[name] |= {digit + code: _magic_rule(digit + code, when, thens) for digit in ("0", *durations)}
    texts = {code: item["outcome"].text() for code, item in outcomes.items()}
    return Magic(MappingProxyType(texts), MappingProxyType(durations), MappingProxyType(found))


def _check_digits(section: ValueReader, count: int) -> None:
    for key, item in section.entries():
        if not re.fullmatch(f"[0-9]{{{count}}}", key, re.ASCII):
            item.problem("bad_digits", f"{key!r} must be {count} digit{'s' * (count > 1)} in quotes", at_key=True)


def _magic_payment_rules(
    code: str, item: ValueReader, usual: PaymentThen, durations: Mapping[str, timedelta], timelines: Timelines
) -> dict[str, Rule[PaymentThen]]:
    """Return the payment rules of an outcome by their three digits; empty without any timeline."""
    thens = payment_thens(item["then"], item["callbacks"], timelines, usual)
    if not any(then.steps or then.refusal for _, then in thens):
        return {}
    return {"0" + code: _magic_rule("0" + code, _ALWAYS, thens)} | {
        digit + code: _magic_rule(
            digit + code,
            _ALWAYS,
            [(weight, structs.replace(then, steps=finishing_after(then.steps, span))) for weight, then in thens],
        )
        for digit, span in durations.items()
    }


def _magic_rule(digits: str, when: When, thens: list[tuple[int, Any]]) -> Rule[Any]:
    name = f"magic-{digits.removeprefix('0')}"  # without a `D` of 0
    return with_variants(Rule(name, when, thens[0][1]), thens)
