"""A fault, in words and as a part of a scenario; the catalogue of single faults; and races, answers and callbacks of a
payment in an order, or at a time, that the client has not seen before.

A race sets its own times: the statuses of its payment follow each other at intervals of `UNIT_WALL_S`. Answers are
delayed by odd multiples of half an interval, so each arrives between two callbacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from simulator.explore.observation import Observation, ObservedPayment, OrderKey, SeenStep

NAME_CHARS_MAX: Final = 100  # of a rule or an expectation, and of a file without its number
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A fault, identified by its `words`. Two faults with the same `place` cannot be in the same run.

    A fault is a rule of the section `faults` for the `nth` request that matches `when`, or other `sections` of a
    scenario. It may also change the statuses of a `payment` (`steps`, or `refuse` to create none) or the delivery of
    its callbacks. With `decides_outcome` the payment may end otherwise or not be created, so the command may rightly
    fail. `wait_s` is the longest delay of the command, in the sandbox's time.
    """

    words: str
    place: str
    when: Mapping[str, Any] = field(default_factory=dict)
    nth: int = 0
    then: Mapping[str, Any] | None = None
    payment: ObservedPayment | None = None
    steps: tuple[SeenStep, ...] = ()
    refuse: str = ""
    callbacks: Mapping[str, Any] | None = None
    sections: Mapping[str, Any] = field(default_factory=dict)
    decides_outcome: bool = False
    wait_s: float = 0


def ordinal(number: int) -> str:
    """Return `first`, `second` … `11th`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def sentence(faults: "tuple[Fault, ...]") -> str:
    """Return a line that names all of the faults."""
    return ", ".join(fault.words for fault in faults) or "no fault"


LATE_S, SOON_S = 40, 5
HANGS_S: Final = 240


class Damage(NamedTuple):
    """Damage to an exchange. `{}` in `words` is the request; `wait_s` as in `Fault`."""

    words: str
    then: Mapping[str, Any]
    wait_s: float = 0


_AFTER = {"after_commit": True}
BUSY: Final = {"status": 503, "headers": {"Retry-After": "5"}}

# The most expensive first. If the answer to a request that changes something is lost, the client does not know whether
# the change was made.
WRITES: Final = (
    Damage("answer to {} lost after commit", {**_AFTER, "disconnect": True}),
    Damage("{} not done and its connection closed", {"disconnect": True}),
    Damage("{} done but answered 500", {**_AFTER, "status": 500}),
    Damage("{} not done and answered 500", {"status": 500}),
    Damage("answer to {} cut in the middle after commit", {**_AFTER, "disconnect": "body"}),
    Damage("{} done but answered 504 after half a minute", {**_AFTER, "delay": "30s"}, 30),
    Damage("{} not done and answered 503", BUSY),
    Damage("{} not done and answered 504", {"status": 504}),
    Damage("answer to {} garbled after commit", {**_AFTER, "malformed": True}),
    Damage(f"answer to {{}} {SOON_S} s late", {"delay": f"{SOON_S}s"}, SOON_S),
)
READS: Final = (
    Damage("answer to {} lost", {"disconnect": True}),
    Damage("{} answered 500", {"status": 500}),
    Damage("answer to {} cut in the middle", {"disconnect": "body"}),
    Damage("{} answered 504 after half a minute", {"delay": "30s"}, 30),
    Damage("{} answered 503", BUSY),
    Damage("answer to {} garbled", {"malformed": True}),
    Damage(f"answer to {{}} {SOON_S} s late", {"delay": f"{SOON_S}s"}, SOON_S),
)

CALLBACKS: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    ("sent twice", {"duplicate": 1}),
    ("lost", {"drop": True}),
    (f"{LATE_S} s late", {"delay": f"{LATE_S}s"}),
    ("sent once more after a minute", {"again_after": "1m"}),
)


def single_faults(baseline: Observation) -> list[Fault]:
    """Return every single fault for the exchanges, payments and callbacks of the baseline, the most expensive first."""
    found = [*_of_payments(baseline), *_of_exchanges(baseline), *_of_callbacks(baseline)]
    return [fault for _, fault in sorted(found, key=lambda pair: pair[0])]


def _of_exchanges(baseline: Observation) -> Iterator[tuple[int, Fault]]:
    """Yield the faults of each request, each with its rank."""
    for (method, path), count in baseline.exchanges.items():
        when = {"method": method, "path": path}
        for nth in range(1, count + 1):
            what = f"the {ordinal(nth)} {method} {path}"
            for rank, (words, then, wait_s) in enumerate(READS if method == "GET" else WRITES):
                yield rank, Fault(words.format(what), what, when, nth, then, wait_s=wait_s)


def _of_payments(baseline: Observation) -> Iterator[tuple[int, Fault]]:
    """Yield the outcomes of a payment, each with its rank: it hangs, is refused, or fails."""
    for payment in baseline.payments:
        words, place = payment_name(payment), f"outcome of {payment_name(payment)}"
        last = payment.steps[-1]
        if last.is_final:
            hangs = f"{words} hangs for {HANGS_S // 60} minutes"
            steps = ending(payment.steps, replace(last, after_s=last.after_s + HANGS_S))
            yield 0, Fault(hangs, place, payment=payment, steps=steps, wait_s=HANGS_S)
        if payment.steps[0].status != "Failed":
            refused = f"every payment of {payment.order} refused with Invalid_Account"
            if payment.nth == 1:
                yield 0, Fault(refused, place, payment=payment, refuse="Invalid_Account", decides_outcome=True)
            steps = ending(payment.steps, SeenStep("Failed", 48, max(last.after_s, 0.5), is_final=True))
            yield 1, Fault(f"{words} fails", place, payment=payment, steps=steps, decides_outcome=True)


def payment_name(payment: ObservedPayment) -> str:
    """Return the name of a payment in a sentence."""
    return f"the {'' if payment.nth == 1 else f'{ordinal(payment.nth)} '}payment of {payment.order}"


def ending(steps: tuple[SeenStep, ...], last: SeenStep) -> tuple[SeenStep, ...]:
    """Return the steps with another last step, which is not the first answer."""
    return (*(steps[:-1] or (SeenStep("Processing", 0, 0),)), last)


def _of_callbacks(baseline: Observation) -> Iterator[tuple[int, Fault]]:
    """Yield the faults of the callbacks of a payment, each with its rank."""
    for payment in baseline.payments:
        whole = f"callbacks of {payment_name(payment)}"
        for status in payment.callbacks:
            what = f"callback {status} of {payment_name(payment)}"
            for rank, (words, how) in enumerate(CALLBACKS):
                yield rank, Fault(f"{what} {words}", what, payment=payment, callbacks={"status": status, **how})
        if len(payment.callbacks) > 1:
            yield 0, Fault(f"{whole} in reverse order", whole, payment=payment, callbacks={"reverse": True})


def when_of(order: OrderKey) -> dict[str, Any]:
    """Return the condition of a rule that matches the payments of an order."""
    account = {"account": order.account} if order.account else {}
    return {"product": order.product, **account, "amount": order.amount}


UNIT_WALL_S: Final = 1.0
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
    """Yield delays of the answer to a payment: past the first callback, which comes at once, or past one or
    more callbacks that come later."""
    count = len(payment.callbacks)
    during = f"the first callback of {payment_name(payment)} during its request"
    yield _late(payment, during, 0.5 * unit_s, _paced(payment.steps, unit_s, begin=0))
    for behind in range(1, count + 1):
        words = f"answer to {payment_name(payment)} late, after {_callbacks(behind, count)}"
        yield _late(payment, words, (behind + 0.5) * unit_s, _paced(payment.steps, unit_s))


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
        "name": f"stale answer to the retry of {name}"[:NAME_CHARS_MAX],
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
