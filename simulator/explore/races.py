"""Races: the answers and callbacks of one payment in an order, or at one time, that the client did not see before.

A race uses times of its own: the statuses of its payment come one `UNIT_WALL_S` after the other. Answers are late by
odd halves of it, so that each comes between two callbacks.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from simulator.explore.faults import Fault, named, ordinal, when_of
from simulator.explore.observation import Seen, SeenPayment, SeenStep

UNIT_WALL_S: Final = 1.0
BEHIND_MAX: Final = 3
TOPUP: Final = {"method": "POST", "path": "/v2/topup"}
NO_TIMEOUT: Final = {"limits": {"integration_timeout": None}}
"""A late answer would else be a 504 under a fast clock, whose seconds are short."""


def overtaken_answers(baseline: Seen, rate: float = 1.0) -> list[Fault]:
    """Return the races that users report most: answers behind callbacks, and callbacks at one time, of each payment of
    the baseline that has callbacks. `rate` is that of the sandbox's clock."""
    payments, unit_s = _payments(baseline), _unit_s(rate)
    late = [fault for payment in payments for fault in _late_answers(payment, len(payment.callbacks), unit_s)]
    return late + [fault for payment in payments for fault in _at_once(payment, len(payment.callbacks), unit_s)]


def crossed_requests(baseline: Seen, rate: float = 1.0) -> list[Fault]:
    """Return the races of a retry or a re-query, whose answer is stale when it comes."""
    payments, unit_s = _payments(baseline), _unit_s(rate)
    crossing = [_crossing_retry(payment, len(payment.callbacks), unit_s) for payment in payments]
    asks_again = baseline.exchanges.get((TOPUP["method"], TOPUP["path"]), 0) > len(baseline.payments)
    first = [payment for payment in payments if asks_again and payment.nth == 1]
    return crossing + [_late_requery(payment, unit_s) for payment in first]


def _payments(baseline: Seen) -> list[SeenPayment]:
    return [payment for payment in baseline.payments if payment.callbacks and payment.steps[-1].is_final]


def _unit_s(rate: float) -> float:
    return UNIT_WALL_S * max(rate, 1.0)


def _late_answers(payment: SeenPayment, count: int, unit_s: float) -> Iterator[Fault]:
    """The answer to the payment overtaken by one, two and all of its callbacks."""
    milder: tuple[Fault, ...] = ()
    for behind in sorted({*range(1, min(count, BEHIND_MAX - 1) + 1), count}):
        fault = replace(
            _race(payment, f"answer to {named(payment)} late, behind {_callbacks(behind, count)}", unit_s),
            when=_request(payment, is_new=True),
            nth=payment.nth,
            then=_late(behind, unit_s),
            sections=NO_TIMEOUT,
            wait_s=(behind + 0.5) * unit_s,
            milder=milder,
        )
        milder = (*milder, fault)
        yield fault


def _at_once(payment: SeenPayment, count: int, unit_s: float) -> Iterator[Fault]:
    """Callbacks that come at one time, on two connections."""
    if count > 1:
        fault = _race(payment, f"all callbacks of {named(payment)} at the same time", unit_s)
        first, *others = fault.steps
        together = tuple(replace(step, after_s=unit_s) for step in others)
        yield replace(fault, steps=(first, *together), callbacks={"concurrent": True})
    for status in payment.callbacks:
        words = f"callback {status} of {named(payment)} sent twice at the same time"
        distortion = {"status": status, "duplicate": 1, "concurrent": True}
        yield Fault(words, f"callback {status} of {named(payment)}", payment=payment, callbacks=distortion)


def _crossing_retry(payment: SeenPayment, count: int, unit_s: float) -> Fault:
    """The payment's answer is lost, and the stale answer to the retry crosses re-queries and callbacks."""
    words = f"answer to {named(payment)} lost after commit, and that to its retry late, behind its callbacks"
    rule = {
        "name": f"retry of {named(payment)} answered late"[:100],
        "when": _request(payment, is_new=False),
        "nth": 1,
        "then": _late(count, unit_s),
    }
    return replace(
        _race(payment, words, unit_s),
        when=_request(payment, is_new=True),
        nth=payment.nth,
        then={"after_commit": True, "disconnect": True},
        sections={"faults": [rule], **NO_TIMEOUT},
        wait_s=(count + 0.5) * unit_s,
    )


def _late_requery(payment: SeenPayment, unit_s: float) -> Fault:
    """A re-query whose answer is stale: the callbacks of the payment came during the request."""
    late_s = payment.steps[-1].after_s + unit_s
    return Fault(
        f"the {ordinal(1)} re-query of {named(payment)} answered late, with its callbacks during the request",
        f"re-query of {named(payment)}",
        when=_request(payment, is_new=False),
        nth=1,
        then={"after_commit": True, "delay": f"{late_s:.3f}s"},
        sections=NO_TIMEOUT,
        wait_s=late_s,
    )


def _race(payment: SeenPayment, words: str, unit_s: float) -> Fault:
    """A fault that lets the payment come to the same statuses, one unit after the other."""
    return Fault(words, f"outcome of {named(payment)}", payment=payment, steps=_paced(payment.steps, unit_s))


def _paced(steps: tuple[SeenStep, ...], unit_s: float) -> tuple[SeenStep, ...]:
    return tuple(replace(step, after_s=number * unit_s) for number, step in enumerate(steps))


def _late(behind: int, unit_s: float) -> dict[str, Any]:
    return {"after_commit": True, "delay": f"{(behind + 0.5) * unit_s:.3f}s"}


def _request(payment: SeenPayment, *, is_new: bool) -> dict[str, Any]:
    return {**TOPUP, **when_of(payment.order), "new": is_new}


def _callbacks(behind: int, count: int) -> str:
    if behind == 1:
        return "its callback" if count == 1 else "its first callback"
    if behind == count:
        return "both of its callbacks" if count == 2 else f"all {count} of its callbacks"
    return f"its first {behind} callbacks"
