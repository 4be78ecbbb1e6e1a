"""The scenario of a run: the user's own scenario plus the faults."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any

from reseller_sim.formats import DURATION_MAX, LINE_CHARS_MAX
from simulator.domain.model.scenario import Scenario
from simulator.explore.fault_catalogue import NAME_CHARS_MAX, Fault, sentence, when_of
from simulator.explore.observation import OrderKey, SeenStep


@dataclass(frozen=True, slots=True)
class Base:
    """The common part of all runs: the extended scenario, the clock and seed of the flags, and more `sections`."""

    extends: str
    clock: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    sections: Mapping[str, Any] = field(default_factory=dict)


def document(base: Base, faults: tuple[Fault, ...], expect: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the document. Faults do not override the base: they share no section with it except the clock."""
    said = sentence(faults)
    made: dict[str, Any] = {"scenario": distinct_text(said, NAME_CHARS_MAX), "extends": base.extends}
    if len(said) > NAME_CHARS_MAX:
        made["description"] = distinct_text(said, LINE_CHARS_MAX)
    if base.seed is not None:
        made["seed"] = base.seed
    # For each endpoint, the rule for the later request comes first. It ignores requests until its turn.
    ordered = sorted(faults, key=lambda fault: -fault.nth)
    sections: dict[str, Any] = {"clock": base.clock, **base.sections, "payments": list(_payment_rules(faults))}
    sections["faults"] = [
        {"name": rule_name(fault), "when": dict(fault.when), "nth": fault.nth, "then": dict(fault.then)}
        for fault in ordered
        if fault.then is not None
    ]
    for section, value in (item for fault in ordered for item in fault.sections.items()):
        before = sections.get(section, type(value)())
        sections[section] = [*before, *value] if isinstance(value, list) else {**before, **value}
    sections["expect"] = [dict(expectation) for expectation in expect]
    return made | {section: value for section, value in sections.items() if value}


def rule_name(*faults: Fault) -> str:
    """Return the name of the rule for these faults: a single fault, or all faults of a payment."""
    return distinct_text("; ".join(fault.words for fault in faults), NAME_CHARS_MAX)


def rule_names(faults: tuple[Fault, ...]) -> set[str]:
    """Return the names of all rules. The observation shows which rules applied."""
    return {rule_name(fault) for fault in faults if fault.then is not None} | {
        _payment_rule_name(group) for group in _by_payment(faults).values()
    }


def _payment_rule_name(group: tuple[Fault, ...]) -> str:
    """Return the name of a payment's rule. A fault that also damages a request has a second rule for the request."""
    name = rule_name(*group)
    return name if all(fault.then is None for fault in group) else distinct_text(f"steps under: {name}", NAME_CHARS_MAX)


def distinct_text(text: str, most: int) -> str:
    """Return a text of at most `most` characters. Different texts stay different."""
    return text if len(text) <= most else f"{text[: most - 10]}… {sha256(text.encode()).hexdigest()[:8]}"


def _by_payment(faults: tuple[Fault, ...]) -> dict[tuple[OrderKey, int], tuple[Fault, ...]]:
    found: dict[tuple[OrderKey, int], tuple[Fault, ...]] = {}
    for fault in faults:
        if fault.payment is not None:
            key = (fault.payment.order, fault.payment.nth)
            found[key] = (*found.get(key, ()), fault)
    return dict(sorted(found.items(), key=lambda pair: -pair[0][1]))


def _payment_rules(faults: tuple[Fault, ...]) -> Iterable[dict[str, Any]]:
    for group in _by_payment(faults).values():
        payment = next(fault.payment for fault in group if fault.payment is not None)
        rule: dict[str, Any] = {"name": _payment_rule_name(group), "when": when_of(payment.order)}
        refusal = next((fault.refuse for fault in group if fault.refuse), "")
        if refusal:  # however often it is asked for
            yield rule | {"then": {"refuse": refusal}}
            continue
        rule |= {
            "nth": payment.nth,
            "then": timeline(next((fault.steps for fault in group if fault.steps), payment.steps)),
        }
        distorted = [dict(fault.callbacks) for fault in group if fault.callbacks is not None]
        if distorted:
            rule["callbacks"] = distorted if "status" in distorted[0] else distorted[0]
        yield rule


def timeline(steps: tuple[SeenStep, ...]) -> list[dict[str, Any]]:
    """Return the statuses of a payment as a scenario specifies them."""
    first, *others = steps
    return [_step(first), *({"after": f"{step.after_s:.3f}s"} | _step(step) for step in others)]


def _step(step: SeenStep) -> dict[str, Any]:
    code = {"statusCode": step.code} if step.status == "Failed" else {}
    return {"status": step.status, **code, **dict(step.texts)}


RECEIVER_WALL = timedelta(seconds=5)
"""The minimum timeout of a receiver, in seconds of wall time."""


def receiver_timeouts(scenario: Scenario, rate: float) -> dict[str, Any]:
    """Return the sections of a scenario that give receivers this timeout under a clock of this rate."""
    if rate <= 1:
        return {}
    least, found = min(RECEIVER_WALL * rate, DURATION_MAX), dict[str, Any]()
    timeout = f"{least.total_seconds():.0f}s"
    if scenario.limits.callback_timeout < least:
        found["limits"] = {"callback_timeout": timeout}
    if scenario.webhooks.timeout is not None and scenario.webhooks.timeout < least:
        found["webhooks"] = {"timeout": timeout}
    return found
