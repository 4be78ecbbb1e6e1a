"""Magic accounts of a scenario: compiles its table of outcomes and delays into rules."""

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from simulator.domain.model.rule_book import NO_MAGIC, Magic, rule_name
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import SETTLED, PaymentThen, Step
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import When, compile_when
from simulator.scenario.sections.rule_sections import THENS, KnownCodes, when_of
from simulator.scenario.sections.timelines import Timelines, payment_then, payment_thens
from simulator.scenario.sections.variants import choices, with_variants

_ALWAYS = compile_when({})


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
    earlier = (step if step.after is None else replace(step, after=min(step.after, span)) for step in steps[:-1])
    return (*earlier, replace(steps[-1], after=span))


def _magic(section: ValueReader, timelines: Timelines) -> Magic:
    durations = {digit: item.duration() for digit, item in section["durations"].entries()}
    outcomes = dict(section["outcomes"].entries())
    _check_digits(section["durations"], 1)
    _check_digits(section["outcomes"], 2)
    usual = payment_then(section["then"], timelines)
    found: dict[str, dict[str, Rule[Any]]] = {name: {} for name in ("payments", *THENS)}
    for code, item in outcomes.items():
        found["payments"] |= _payment_rules(code, item["payments"], usual, durations, timelines)
        for name, read in THENS.items():
            if item[name].is_given:
                when = when_of(item[name]["when"], KnownCodes()) if name == "faults" else _ALWAYS
                thens = choices(item[name]["then"], read)
                found[name] |= {digit + code: _rule(digit + code, when, thens) for digit in ("0", *durations)}
    texts = {code: item["outcome"].text() for code, item in outcomes.items()}
    return Magic(MappingProxyType(texts), MappingProxyType(durations), MappingProxyType(found))


def _check_digits(section: ValueReader, count: int) -> None:
    for key, item in section.entries():
        if not re.fullmatch(f"[0-9]{{{count}}}", key, re.ASCII):
            item.problem("bad_digits", f"{key!r} must be {count} digit{'s' * (count > 1)} in quotes", at_key=True)


def _payment_rules(
    code: str, item: ValueReader, usual: PaymentThen, durations: Mapping[str, timedelta], timelines: Timelines
) -> dict[str, Rule[PaymentThen]]:
    """Return the payment rules of an outcome by their three digits; empty without any timeline."""
    thens = payment_thens(item["then"], item["callbacks"], timelines, usual)
    if not any(then.steps or then.refusal for _, then in thens):
        return {}
    return {"0" + code: _rule("0" + code, _ALWAYS, thens)} | {
        digit + code: _rule(
            digit + code,
            _ALWAYS,
            [(weight, replace(then, steps=finishing_after(then.steps, span))) for weight, then in thens],
        )
        for digit, span in durations.items()
    }


def _rule(digits: str, when: When, thens: list[tuple[int, Any]]) -> Rule[Any]:
    return with_variants(Rule(rule_name(digits), when, thens[0][1]), thens)
