"""Races: answers and callbacks of a payment in an order, or at a time, that the client has not seen before.

A race sets its own times: the statuses of its payment follow each other at intervals of `UNIT_WALL_S`. Answers are
delayed by odd multiples of half an interval, so each arrives between two callbacks.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from simulator.explore.fault_catalogue import Fault, payment_name, when_of
from simulator.explore.observation import Observation, ObservedPayment, SeenStep

UNIT_WALL_S: Final = 1.0
CALLBACKS_MAX: Final = 2
"""An answer is delayed past the first callback, the second or the last."""

TOPUP: Final = {"method": "POST", "path": "/v2/topup"}
NO_TIMEOUT: Final = {"limits": {"integration_timeout": None}}
"""Disables the integration timeout. Under a fast clock, whose seconds are short, a late answer would become a 504."""

RESTART: Final = "explore-restart"
"""The name of the hold that keeps a callback until the client restarts."""

RETRY_S: Final = 60.0
"""The wait before a callback is retried that no receiver accepted."""


def overtaken_answers(baseline: Observation, rate: float = 1.0) -> list[Fault]:
    """Return the races that users report most: answers that arrive after callbacks, and simultaneous deliveries. There
    are races for each payment of the baseline that has callbacks. `rate` is the speed of the sandbox's clock."""
    payments, unit_s = _payments(baseline), _unit_s(rate)
    late = [fault for payment in payments for fault in _late_answers(payment, unit_s)]
    return [*late, *(fault for payment in payments for fault in _at_once(payment, unit_s)), *_webhooks(baseline)]


def crossed_requests(baseline: Observation, rate: float = 1.0) -> list[Fault]:
    """Return the races of a retry or a re-query whose answer is stale when it arrives."""
    payments, unit_s = _payments(baseline), _unit_s(rate)
    asks_again = baseline.exchanges.get((TOPUP["method"], TOPUP["path"]), 0) > len(baseline.payments)
    first = [payment for payment in payments if asks_again and payment.nth == 1]
    crossing = [_crossing_retry(payment, unit_s) for payment in payments]
    return [*crossing, *(_late_requery(payment, unit_s) for payment in first)]


def restarts(baseline: Observation) -> list[Fault]:
    """Return the races of callbacks that arrive while the client restarts."""
    return [
        Fault(
            f"callback {status} of {payment_name(payment)} while the client restarts",
            f"callback {status} of {payment_name(payment)}",
            payment=payment,
            callbacks={"status": status, "hold": RESTART},
            wait_s=RETRY_S,
        )
        for payment in baseline.payments
        for status in payment.callbacks
    ]


def _payments(baseline: Observation) -> list[ObservedPayment]:
    return [payment for payment in baseline.payments if payment.callbacks and payment.steps[-1].is_final]


def _unit_s(rate: float) -> float:
    return UNIT_WALL_S * max(rate, 1.0)


def _late_answers(payment: ObservedPayment, unit_s: float) -> Iterator[Fault]:
    """Yield delays of the answer to a payment: past the first callback, which comes at once, or past one, two or all
    callbacks that come later."""
    count = len(payment.callbacks)
    during = f"the first callback of {payment_name(payment)} during its request"
    milder: tuple[Fault, ...] = (_late(payment, during, 0.5 * unit_s, _paced(payment.steps, unit_s, begin=0)),)
    yield from milder
    for behind in sorted({*range(1, min(count, CALLBACKS_MAX) + 1), count}):
        words = f"answer to {payment_name(payment)} late, after {_callbacks(behind, count)}"
        fault = _late(payment, words, (behind + 0.5) * unit_s, _paced(payment.steps, unit_s))
        yield replace(fault, milder=milder)
        milder = (*milder, fault)


def _late(payment: ObservedPayment, words: str, late_s: float, steps: tuple[SeenStep, ...]) -> Fault:
    return Fault(
        words,
        f"outcome of {payment_name(payment)}",
        when=_request(payment, is_new=True),
        nth=payment.nth,
        then={"after_commit": True, "delay": f"{late_s:.3f}s"},
        payment=payment,
        steps=steps,
        sections=NO_TIMEOUT,
        wait_s=late_s,
    )


def _at_once(payment: ObservedPayment, unit_s: float) -> Iterator[Fault]:
    """Yield simultaneous callbacks on two connections."""
    if len(payment.callbacks) > 1:
        words = f"all callbacks of {payment_name(payment)} at the same time"
        first, *others = payment.steps
        steps = (replace(first, after_s=0.0), *(replace(step, after_s=unit_s) for step in others))
        at_once = {"concurrent": True}
        yield Fault(words, f"outcome of {payment_name(payment)}", payment=payment, steps=steps, callbacks=at_once)
    for status in payment.callbacks:
        words = f"callback {status} of {payment_name(payment)} sent twice at the same time"
        distortion = {"status": status, "duplicate": 1, "concurrent": True}
        yield Fault(words, f"callback {status} of {payment_name(payment)}", payment=payment, callbacks=distortion)


def _webhooks(baseline: Observation) -> Iterator[Fault]:
    if baseline.webhooks:
        words = f"webhook {' and '.join(sorted(baseline.webhooks))} sent twice at the same time"
        yield Fault(words, "webhooks", sections={"webhooks": {"duplicate": 1}})


def _crossing_retry(payment: ObservedPayment, unit_s: float) -> Fault:
    """Lose the payment's answer; the stale answer to the retry then crosses re-queries and callbacks."""
    name = payment_name(payment)
    words = f"answer to {name} lost after commit, and its retry crosses a re-query: its answer is stale"
    late_s = (len(payment.callbacks) + 0.5) * unit_s
    rule = {
        "name": f"stale answer to the retry of {name}"[:100],
        "when": _request(payment, is_new=False),
        "nth": 1,
        "then": {"after_commit": True, "delay": f"{late_s:.3f}s"},
    }
    return replace(
        _late(payment, words, late_s, _paced(payment.steps, unit_s)),
        then={"after_commit": True, "disconnect": True},
        sections={"faults": [rule], **NO_TIMEOUT},
    )


def _late_requery(payment: ObservedPayment, unit_s: float) -> Fault:
    """Delay the answer to a re-query until it is stale, since the callbacks of the payment came during the request."""
    words = f"the first re-query of {payment_name(payment)} answered late, with its callbacks during the request"
    fault = _late(payment, words, payment.steps[-1].after_s + unit_s, ())
    when = _request(payment, is_new=False)
    return replace(fault, place=f"re-query of {payment_name(payment)}", when=when, nth=1, payment=None)


def _paced(steps: tuple[SeenStep, ...], unit_s: float, begin: int = 1) -> tuple[SeenStep, ...]:
    """Return the statuses at constant intervals. The second comes `begin` units after the first."""
    first, *others = steps
    paced = (replace(step, after_s=number * unit_s) for number, step in enumerate(others, start=begin))
    return (replace(first, after_s=0.0), *paced)


def _request(payment: ObservedPayment, *, is_new: bool) -> dict[str, Any]:
    return {**TOPUP, **when_of(payment.order), "new": is_new}


def _callbacks(behind: int, count: int) -> str:
    if behind == 1:
        return "its callback" if count == 1 else "its first callback"
    if behind == count:
        return "both of its callbacks" if count == 2 else f"all {count} of its callbacks"
    return f"its first {behind} callbacks"
