"""A fault, in words and as a part of a scenario; and the catalogue of single faults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from simulator.explore.observation import Observation, ObservedPayment, OrderKey, SeenStep

NAME_CHARS_MAX: Final = 100  # of a rule of a scenario
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A fault, identified by its `words`. Two faults with the same `place` cannot be in the same run.

    A fault is a rule of the section `faults` for the `nth` request that matches `when`, or other `sections` of a
    scenario. It may also change the statuses of a `payment` (`steps`, or `refuse` to create none) or the delivery of
    its callbacks. With `decides_outcome` the payment may end otherwise or not be created, so the command may rightly
    fail. `wait_s` is the longest delay of the command, in the sandbox's time. Shrinking tries the `milder` faults of
    the same kind.
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
    milder: tuple["Fault", ...] = ()


def ordinal(number: int) -> str:
    """Return `first`, `second` … `11th`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def sentence(faults: "tuple[Fault, ...]") -> str:
    """Return a line that names all of the faults."""
    return ", ".join(one.words for one in faults) or "no fault"


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
    return [fault for _, fault in sorted(found, key=lambda one: one[0])]


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
        if (steps := hanging(payment.steps, HANGS_S)) is not None:
            hangs = f"{words} hangs for {HANGS_S // 60} minutes"
            yield 0, Fault(hangs, place, payment=payment, steps=steps, wait_s=HANGS_S)
        if payment.steps[0].status != "Failed":
            refused = f"every payment of {payment.order} refused with Invalid_Account"
            if payment.nth == 1:
                yield 0, Fault(refused, place, payment=payment, refuse="Invalid_Account", decides_outcome=True)
            yield 1, Fault(f"{words} fails", place, payment=payment, steps=failing(payment.steps), decides_outcome=True)


def payment_name(payment: ObservedPayment) -> str:
    """Return the name of a payment in a sentence."""
    return (
        f"the payment of {payment.order}"
        if payment.nth == 1
        else f"the {ordinal(payment.nth)} payment of {payment.order}"
    )


def hanging(steps: tuple[SeenStep, ...], seconds: float) -> tuple[SeenStep, ...] | None:
    """Return the steps with a delayed final status; None for a payment that does not end by itself."""
    if not steps or not steps[-1].is_final:
        return None
    *before, last = steps
    if not before:  # its first answer was final
        before = [SeenStep("Processing", 0, 0)]
    late = SeenStep(last.status, last.code, last.after_s + seconds, last.texts, is_final=True)
    return (*before, late)


def failing(steps: tuple[SeenStep, ...]) -> tuple[SeenStep, ...]:
    """Return the steps with a failure at the end."""
    *before, last = steps
    failed = SeenStep("Failed", 48, max(last.after_s, 0.5), is_final=True)
    return (*before, failed) if before else (SeenStep("Processing", 0, 0), failed)


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
