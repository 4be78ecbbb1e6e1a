"""Judges a run by the baseline: what it did that the command does not do without faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from simulator.explore.faults import Fault, when_of
from simulator.explore.observation import GIVEN_BACK, Order, Outcome
from simulator.wire.payments import STATUS_NAMES


class Kind(StrEnum):
    """What tells that a run failed, the most telling first."""

    PAID_TWICE = "paid twice"
    EXPECTATION = "expectation"
    AUDIT = "audit"
    EXIT = "exit"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class Reason:
    """One way in which a run failed: a few words and a whole line. `expect` is what a scenario expects that makes the
    run fail under `exec`, too; `needs_audit` where only `exec --audit` sees it."""

    kind: Kind
    words: str
    text: str
    expect: Mapping[str, Any] = field(default_factory=dict)
    needs_audit: bool = False


# What a scenario can expect in place of a warning of the audit, which no exit code tells.
_EXPECTED_OF_WARNINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "refusal-not-repeated": {
        "name": "a refused payment is not sent again as it was",
        "calls": {"method": "POST", "path": "/v2/topup", "status": 400},
        "per": "refid",
        "count": {"max": 1},
    },
}


def reasons(baseline: Outcome, outcome: Outcome, faults: tuple[Fault, ...]) -> tuple[Reason, ...]:
    """Why a run under these faults failed; none when it survived."""
    found = [*_paid_twice(baseline, outcome), *_unmet(baseline, outcome), *_breaches(baseline, outcome)]
    if outcome.exit_code is None:
        found.append(Reason(Kind.HUNG, "hung", f"the command had not ended after {outcome.duration_s:.0f} s"))
    elif outcome.exit_code != baseline.exit_code and not any(one.decides_outcome for one in faults):
        found.append(Reason(Kind.EXIT, f"exit {outcome.exit_code}", f"the command exited with {outcome.exit_code}"))
    return tuple(found)


def ways(found: tuple[Reason, ...]) -> set[tuple[Kind, str]]:
    """In what ways a run failed, whatever it was about."""
    return {(one.kind, one.words) for one in found}


def same(one: tuple[Reason, ...], other: tuple[Reason, ...]) -> bool:
    """True when two runs failed in one of the same ways."""
    return bool(ways(one) & ways(other))


def common(of_runs: list[tuple[Reason, ...]]) -> tuple[Reason, ...]:
    """The reasons of the last run that all runs have; none when each failed in its own way."""
    in_all = set.intersection(*map(ways, of_runs)) if of_runs else set()
    return tuple(one for one in of_runs[-1] if (one.kind, one.words) in in_all) if in_all else ()


def _paid_twice(baseline: Outcome, outcome: Outcome) -> list[Reason]:
    """Orders of which more payments were kept than the command makes in the baseline.

    The simulator does not know the client's orders: two payments of the same product, account and amount are one
    order's if the baseline had one. An account that the baseline did not have, since the command draws its accounts,
    may be paid as often as the one that the baseline paid most often.
    """
    usual = max(baseline.seen.kept.values(), default=1)
    found = []
    for order, count in outcome.seen.kept.items():
        allowed = baseline.seen.kept.get(order) or (1 if order in _refused_in(baseline) else usual)
        if count > allowed:
            found.append(_excess(order, count, allowed))
    return found


def _refused_in(baseline: Outcome) -> set[Order]:
    """The orders of the baseline of which nothing was kept."""
    return {one.order for one in baseline.seen.payments} - set(baseline.seen.kept)


def _excess(order: Order, count: int, allowed: int) -> Reason:
    times = "twice" if count == 2 * allowed else f"{count} times instead of {allowed}"
    expect = {
        "name": f"{order} is paid {'once' if allowed == 1 else f'{allowed} times'}"[:100],
        "payments": {
            **when_of(order),
            "status": [name for status, name in STATUS_NAMES.items() if status not in GIVEN_BACK],
        },
        "count": {"max": allowed},
    }
    return Reason(Kind.PAID_TWICE, f"paid {times}", f"{order} was paid {times}", expect)


def _unmet(baseline: Outcome, outcome: Outcome) -> list[Reason]:
    new = {name: text for name, text in outcome.seen.unmet.items() if name not in baseline.seen.unmet}
    return [Reason(Kind.EXPECTATION, f"expectation not met: {name}", text) for name, text in new.items()]


def _breaches(baseline: Outcome, outcome: Outcome) -> list[Reason]:
    """New errors, and those warnings that a scenario can expect the contrary of."""
    found = []
    for id_, breach in outcome.seen.breaches.items():
        expect = _EXPECTED_OF_WARNINGS.get(id_, {})
        if id_ not in baseline.seen.breaches and (breach.is_error or expect):
            text = f"{id_}: {breach.text}"
            found.append(Reason(Kind.AUDIT, f"audit: {id_}", text, expect, needs_audit=not expect))
    return found
