"""Magic accounts of a scenario: compiles its table of outcomes and delays into rules."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from simulator.domain.model.magic import NO_MAGIC, Magic, rule_name
from simulator.domain.model.rules import MagicRules, Rule
from simulator.domain.model.transactions import SETTLED, PaymentThen, Step
from simulator.scenario.reading.document import Node
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.bills import bill_then
from simulator.scenario.sections.cases import dispute, void
from simulator.scenario.sections.faults import fault
from simulator.scenario.sections.matchers import When, compile_when
from simulator.scenario.sections.rules import KnownCodes, payment_then, when_of

_CACHE: WeakKeyDictionary[Node, Magic] = WeakKeyDictionary()
_ALWAYS = compile_when({})


def magic(section: Reader) -> Magic:
    """The magic accounts."""
    return section.cached(_CACHE, _magic) if section.is_mapping else NO_MAGIC


def finishing_after(steps: tuple[Step, ...], span: timedelta) -> tuple[Step, ...]:
    """The timeline with its final status `span` after the creation, and no other status later than that.

    A timeline without a final status, or with one in the first answer or on a re-query, is unchanged.
    """
    if not steps or steps[-1].status not in SETTLED or steps[-1].after is None:
        return steps
    earlier = (step if step.after is None else replace(step, after=min(step.after, span)) for step in steps[:-1])
    return (*earlier, replace(steps[-1], after=span))


def _magic(section: Reader) -> Magic:
    durations = {digit: item.duration() for digit, item in section["durations"].entries()}
    outcomes = dict(section["outcomes"].entries())
    _check_digits(section["durations"], 1)
    _check_digits(section["outcomes"], 2)
    usual = payment_then(section["then"])
    found: dict[str, dict[str, Rule[Any]]] = {name: {} for name in ("payments", *READERS)}
    for code, item in outcomes.items():
        found["payments"] |= _payment_rules(code, item["payments"], usual, durations)
        for name, read in READERS.items():
            if item[name].is_given:
                when, then = read(item[name])
                found[name] |= {digit + code: Rule(rule_name(digit + code), when, then) for digit in ("0", *durations)}
    texts = {code: item["outcome"].text() for code, item in outcomes.items()}
    sections = {name: MagicRules(rules) for name, rules in found.items()}
    return Magic(MappingProxyType(texts), MappingProxyType(durations), MappingProxyType(sections))


def _check_digits(section: Reader, count: int) -> None:
    for key, item in section.entries():
        if not re.fullmatch(f"[0-9]{{{count}}}", key, re.ASCII):
            item.problem("bad_digits", f"{key!r} must be {count} digit{'s' * (count > 1)} in quotes", at_key=True)


def _payment_rules(
    code: str, item: Reader, usual: PaymentThen, durations: Mapping[str, timedelta]
) -> dict[str, Rule[PaymentThen]]:
    """The rules of one outcome by their three digits; empty when neither it nor the table has a timeline."""
    own = payment_then(item["then"], item["callbacks"])
    then = own if item["then"].is_given else replace(usual, callbacks=own.callbacks)
    if not then.steps and then.refusal is None:
        return {}
    usually = {"0" + code: Rule(rule_name("0" + code), _ALWAYS, then)}
    return usually | {
        digit + code: Rule(rule_name(digit + code), _ALWAYS, replace(then, steps=finishing_after(then.steps, span)))
        for digit, span in durations.items()
    }


# Other parts of an outcome: by section, the match of a request and the action.
READERS: Mapping[str, Callable[[Reader], tuple[When, Any]]] = {
    "voids": lambda item: (_ALWAYS, void(item["then"])),
    "disputes": lambda item: (_ALWAYS, dispute(item["then"])),
    "bills": lambda item: (_ALWAYS, bill_then(item["then"])),
    "faults": lambda item: (when_of(item["when"], KnownCodes()), fault(item["then"])),
}
