"""Reads the rules of a scenario, section by section, and compiles their `when`."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

from simulator.domain.model.bills import BillThen
from simulator.domain.model.cases import CaseThen
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import PaymentThen
from simulator.scenario.reading.patterns import finder
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.bills import bill_then
from simulator.scenario.sections.cases import dispute, void
from simulator.scenario.sections.faults import fault
from simulator.scenario.sections.matchers import BODY_FACTS, COUNTS, When, compile_when, number
from simulator.scenario.sections.payments import payment_thens
from simulator.scenario.sections.timeline import Timelines
from simulator.scenario.sections.variants import choices, with_variants

Then = TypeVar("Then")


@dataclass(frozen=True, slots=True)
class KnownCodes:
    """Codes that a `when` may name, None allows any; and the timelines that a `then` may name."""

    products: Collection[str] | None = None
    resellers: Collection[str] | None = None
    timelines: Timelines = field(default_factory=dict)


def rules_of(section: str, items: Reader, known: KnownCodes) -> tuple[Rule[Any], ...]:
    """The rules of a section; the default ids are payments-1 and so on."""
    make = RULE_READERS[section]
    return tuple(make(item, f"{section}-{place}", known) for place, item in enumerate(items.items(), 1))


def payment_rule(item: Reader, rule_id: str, known: KnownCodes) -> Rule[PaymentThen]:
    """One rule of `payments`."""
    return _outcome_rule(item, rule_id, known, payment_thens(item["then"], item["callbacks"], known.timelines))


def fault_rule(item: Reader, rule_id: str, known: KnownCodes) -> Rule[FaultThen]:
    """One rule of `faults`."""
    thens = choices(item["then"], fault)
    rule = _rule(item, rule_id, known, thens[0][1])
    # Neither the execution nor the body is known when a request arrives.
    waits = any(then.after_commit for _, then in thens) or _needs_body(item["when"])
    return with_variants(replace(rule, before_body=before_body(item["when"])) if waits else rule, thens)


def _needs_body(when: Reader) -> bool:
    return any(key in BODY_FACTS for key, _ in when.entries())


def before_body(when: Reader) -> When:
    """The part of a test that can be evaluated before the body of a request is known."""
    plain = _plain(when)
    return compile_when({key: matcher for key, matcher in plain.items() if key not in BODY_FACTS})


def void_rule(item: Reader, rule_id: str, known: KnownCodes) -> Rule[CaseThen]:
    """One rule of `voids`."""
    return _outcome_rule(item, rule_id, known, choices(item["then"], void))


def dispute_rule(item: Reader, rule_id: str, known: KnownCodes) -> Rule[CaseThen]:
    """One rule of `disputes`."""
    return _outcome_rule(item, rule_id, known, choices(item["then"], dispute))


def bill_rule(item: Reader, rule_id: str, known: KnownCodes) -> Rule[BillThen]:
    """One rule of `bills`."""
    return _outcome_rule(item, rule_id, known, choices(item["then"], bill_then))


# In the order of the sections of a scenario.
RULE_READERS: Mapping[str, Callable[[Reader, str, KnownCodes], Rule[Any]]] = {
    "payments": payment_rule,
    "voids": void_rule,
    "disputes": dispute_rule,
    "bills": bill_rule,
    "faults": fault_rule,
}


def _outcome_rule(item: Reader, rule_id: str, known: KnownCodes, thens: list[tuple[int, Then]]) -> Rule[Then]:
    """A rule of a business outcome may be a fallback; a fault may not."""
    rule = replace(_rule(item, rule_id, known, thens[0][1]), fallback=item["fallback"].boolean())
    return with_variants(rule, thens)


def _rule(item: Reader, rule_id: str, known: KnownCodes, then: Then) -> Rule[Then]:
    return Rule(
        id=item["id"].text(rule_id),
        name=item["name"].text(),
        when=when_of(item["when"], known),
        then=then,
        times=_count(item, "times"),
        nth=_count(item, "nth"),
        every=_count(item, "every"),
        chance=_from_either(item, "chance", lambda reader: reader.optional_amount()),
    )


def when_of(when: Reader, known: KnownCodes) -> When:
    """The test of a `when`; an absent or invalid one matches everything."""
    for key, entry in when.entries():
        _check_matcher(key, entry, known)
    return compile_when(_plain(when))


def _plain(when: Reader) -> Mapping[str, Any]:
    return when.node.plain() if when.node is not None and when.is_mapping and when.is_valid else {}


def _count(item: Reader, key: str) -> int | None:
    return _from_either(item, key, lambda reader: reader.optional_integer())


Value = TypeVar("Value", int, Decimal)


def _from_either(item: Reader, key: str, read: Callable[[Reader], Value | None]) -> Value | None:
    """`nth`, `times`, `every` and `chance` are valid beside `when` or in it, not both."""
    beside, within = item[key], item["when"][key]
    if beside.is_given and within.is_given:
        within.problem("duplicate", f"{key!r} is also written beside 'when'; write it once", at_key=True)
    return read(within if within.is_given else beside)


def _check_matcher(key: str, entry: Reader, known: KnownCodes) -> None:
    if key in COUNTS or key == "new":
        return
    if key in ("extras", "headers"):
        for _, member in entry.entries():
            _check_patterns(member)
        return
    _check_patterns(entry)
    if key == "amount":
        _check_amounts(entry)
    if key == "product":
        check_codes(entry, known.products, key)
    if key == "reseller":
        check_codes(entry, known.resellers, key)


def _check_patterns(entry: Reader) -> None:
    entry["pattern"].parsed(finder, "bad_pattern")
    if entry["not"].is_given:
        _check_patterns(entry["not"])


def values_of(entry: Reader) -> list[Reader]:
    """The plain values in a matcher, in any of its forms."""
    if entry.is_mapping:
        return [value for key in ("in", "not") if entry[key].is_given for value in values_of(entry[key])]
    return entry.items() if entry.is_list else [entry]


def listed_values(entry: Reader) -> list[Reader]:
    """The plain values that a matcher lists, any of which matches: a value, a list, or `in`."""
    found = entry["in"] if entry.is_mapping else entry
    return found.items() if found.is_list else [found] if found.is_given else []


def _check_amounts(entry: Reader) -> None:
    for value in values_of(entry):
        if value.node is not None and number(value.node.value) is None:
            value.problem("bad_amount", f"an amount is a number, not {value.text()!r}")


def check_codes(entry: Reader, codes: Collection[str] | None, what: str) -> None:
    """Report each unknown code in a matcher or a plain value."""
    if codes is None:
        return
    for value in values_of(entry):
        if (code := value.text()) and code not in codes:
            value.unknown(what, code, "in this scenario", codes)
