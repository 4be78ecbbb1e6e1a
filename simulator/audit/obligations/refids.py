"""What a refid stands for (SPEC 4.11): one order, for ever."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from simulator.audit.payments import Outcome, Payment
from simulator.audit.reading import shown
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Traffic


@obligation(
    "refid-keeps-its-order",
    "4.11",
    "error",
    "A refid that may have created a payment is never sent with another product, account, amount or extras.",
    "Store the whole order with its refid before you send it, and send it from there; a new order has a new refid.",
)
def refid_keeps_its_order(traffic: Traffic) -> Iterator[Occasion]:
    """After a 400 nothing exists, and the order may be corrected."""
    for (_, refid), asked in traffic.by_refid.items():
        created: Payment | None = None
        for one in asked:
            if created is not None and one.order != created.order:
                text = f"refid {shown(refid)} of request {created.n} came again with {_difference(created, one)}"
                yield Finding((created.n, one.n), text)
            elif created is not None:
                yield None
            if created is None and one.may_exist:
                created = one


def _difference(before: Payment, after: Payment) -> str:
    names = ("account", "product", "amount", "extras")
    changed = [name for name, old, new in zip(names, before.order, after.order, strict=True) if old != new]
    return f"another {' and '.join(changed)} in request {after.n}"


@obligation(
    "new-refid-after-failure",
    "4.11",
    "error",
    "A refid whose payment has failed is consumed: the next attempt has a new one.",
    "On HTTP 200 with Failed, store the failure, and draw a new refid for the next attempt.",
)
def new_refid_after_failure(traffic: Traffic) -> Iterator[Occasion]:
    """A re-query because of a callback that came after the failure is none (SPEC 5.5)."""
    callbacks: dict[str, list[datetime]] = {}
    for notified in traffic.callbacks:
        callbacks.setdefault(notified.refid, []).append(notified.at)
    for (_, refid), asked in traffic.by_refid.items():
        failed = next((one for one in asked if one.outcome is Outcome.FAILED), None)
        if failed is None:
            continue
        excused_from = min((at for at in callbacks.get(refid, ()) if at >= failed.at), default=None)
        again = [one for one in asked if one.follows(failed)]
        unexcused = [one for one in again if excused_from is None or one.at < excused_from]
        if unexcused:
            text = f"refid {shown(refid)} was sent again in request {unexcused[0].n}, after {failed.n} said Failed"
            yield Finding((failed.n, *(one.n for one in unexcused)), text)
        else:
            yield None


@obligation(
    "refusal-not-repeated",
    "4.11",
    "warning",
    "A payment that was refused with 400 is corrected before it is sent again.",
    "Read remarks, correct the order, and send it with the same refid; only Insufficient_Balance may pass by itself.",
)
def refusal_not_repeated(traffic: Traffic) -> Iterator[Occasion]:
    """The same order, refused again for the same reason. What a deposit may mend is none."""
    for (_, refid), asked in traffic.by_refid.items():
        for before, one in pairwise(asked):
            if not _is_refusal(before):
                continue
            is_same = one.order == before.order and _is_refusal(one) and one.remarks == before.remarks
            if is_same and one.follows(before):
                text = f"request {one.n} repeats {before.n}, which was refused with {shown(before.remarks)}"
                yield Finding((before.n, one.n), f"refid {shown(refid)}: {text}")
            else:
                yield None
        if len(asked) == 1 and _is_refusal(asked[0]):
            yield None


BAD_REQUEST = 400
PASSING = frozenset({"Insufficient_Balance"})


def _is_refusal(one: Payment) -> bool:
    return one.http_status == BAD_REQUEST and one.remarks not in PASSING
