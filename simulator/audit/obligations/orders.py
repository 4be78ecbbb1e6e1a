"""A refid stands for a single order, also after a failure or an unknown outcome (SPEC 3.1, 4.11, 4.12, 7.3)."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import Traffic
from simulator.audit.readers import Order, PaymentOutcome, PaymentRequest, callback_outcome, form, grouped, quote, text


def refid_keeps_its_order(traffic: Traffic) -> Iterator[Occasion]:
    """A refused order (400) does not exist, so the client may correct it."""
    for (_, refid), asked in traffic.by_refid.items():
        created: PaymentRequest | None = None
        for request in asked:
            if created is not None and request.order != created.order:
                text = f"refid {quote(refid)} of request {created.n} came again with {_difference(created, request)}"
                yield Finding((created.n, request.n), text)
            elif created is not None:
                yield None
            if created is None and request.outcome is not PaymentOutcome.REFUSED:
                created = request


def _difference(before: PaymentRequest, after: PaymentRequest) -> str:
    names = ("account", "product", "amount", "extras")
    changed = [name for name, old, new in zip(names, before.order, after.order, strict=True) if old != new]
    return f"another {' and '.join(changed)} in request {after.n}"


def new_refid_after_failure(traffic: Traffic) -> Iterator[Occasion]:
    """Report a refid that the client sends again after Failed. A re-query after a later callback is allowed (SPEC
    5.5)."""
    callbacks = grouped(traffic.callbacks, lambda callback: callback.refid)
    for (_, refid), asked in traffic.by_refid.items():
        failed = next((request for request in asked if request.outcome is PaymentOutcome.FAILED), None)
        if failed is None:
            continue
        excused_from = min(
            (callback.at for callback in callbacks.get(refid, ()) if callback.at >= failed.at), default=None
        )
        again = [request for request in asked if request.follows(failed)]
        unexcused = [request for request in again if excused_from is None or request.at < excused_from]
        if unexcused:
            text = f"refid {quote(refid)} was sent again in request {unexcused[0].n}, after {failed.n} said Failed"
            yield Finding((failed.n, *(request.n for request in unexcused)), text)
        else:
            yield None


def refusal_not_repeated(traffic: Traffic) -> Iterator[Occasion]:
    """Report the same order, refused again for the same reason. `Insufficient_Balance` is excused, since a deposit may
    fix it."""
    for (_, refid), asked in traffic.by_refid.items():
        for before, request in pairwise(asked):
            if not _is_refusal(before):
                continue
            is_same = request.order == before.order and _is_refusal(request) and request.remarks == before.remarks
            if is_same and request.follows(before):
                text = f"request {request.n} repeats {before.n}, which was refused with {quote(before.remarks)}"
                yield Finding((before.n, request.n), f"refid {quote(refid)}: {text}")
            else:
                yield None
        if len(asked) == 1 and _is_refusal(asked[0]):
            yield None


BAD_REQUEST = 400
PASSING = frozenset({"Insufficient_Balance"})


def _is_refusal(request: PaymentRequest) -> bool:
    return request.http_status == BAD_REQUEST and request.remarks not in PASSING


SAME_ORDER_WITHIN = timedelta(hours=1)
INELIGIBLE = 62
CASE_PATHS = ("/v2/transactions/check", "/v2/transactions/void")


def no_double_payment(traffic: Traffic) -> Iterator[Occasion]:
    """Report an order that equals an earlier order of the last hour whose outcome the client did not know and stopped
    asking for.

    Two equal orders are two purchases if the client follows both to their end, or has asked about neither yet.
    Repeating an unanswered request is not a re-query, since the client may not know that the payment exists.
    """
    abandoned = _abandoned(traffic)
    for asked in traffic.by_refid.values():
        first = asked[0]
        if any(request.outcome is PaymentOutcome.UNKNOWN for request in asked[:-1]):
            yield None  # the client asked again
        before = abandoned.get((first.actor, first.order), [])
        place = bisect_left([request.n for request in before], first.n)
        if place and not _was_known(traffic, before[place - 1], first.at):
            lost = before[place - 1]
            if first.at - lost.at <= SAME_ORDER_WITHIN:
                words = f"refid {quote(first.refid)} in request {first.n} pays the order of {quote(lost.refid)} again"
                yield Finding((lost.n, first.n), f"{words}, whose outcome was unknown since request {lost.n}")


def _abandoned(traffic: Traffic) -> dict[tuple[str, Order], list[PaymentRequest]]:
    """Return the last requests about abandoned payments, by order and number. A payment is abandoned if its last
    request has no answer, or if the client re-queried the open payment and then stopped."""
    found: dict[tuple[str, Order], list[PaymentRequest]] = defaultdict(list)
    for asked in traffic.by_refid.values():
        last = asked[-1]
        opened = sum(request.outcome.is_open for request in asked)
        if last.outcome is PaymentOutcome.UNKNOWN or (last.outcome.is_open and opened > 1):
            found[last.actor, last.order].append(last)
    for lost in found.values():
        lost.sort(key=lambda request: request.n)
    return found


def _was_known(traffic: Traffic, request: PaymentRequest, at: datetime) -> bool:
    """Return whether the client knew the outcome in time. A later callback excuses two open orders, but no second
    payment after a lost answer."""
    return not traffic.sees_callbacks or traffic.knows_outcome(
        request.refid, by=None if request.outcome.is_open else at
    )


def ineligible_not_retried(traffic: Traffic) -> Iterator[Occasion]:
    """Report a payment with the same product, account, biller and identity number under another refid."""
    refused: dict[tuple[str, ...], PaymentRequest] = {}
    for payment in traffic.payments:
        who = (payment.actor, payment.product, payment.account, payment.biller, payment.identity)
        before = refused.get(who)
        if before is not None and before.refid != payment.refid and payment.follows(before):
            yield Finding(
                (before.n, payment.n), f"request {payment.n} pays what request {before.n} showed as ineligible (62)"
            )
        elif payment.status_code == INELIGIBLE:
            refused.setdefault(who, payment)
            yield None


def cases_after_success(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the status that the client knew when it sent the request."""
    for path in CASE_PATHS:
        for call in traffic.to("POST", path):
            refid = text(form(call.body), "refid")
            asked = traffic.by_refid.get((traffic.actor(call), refid), [])
            known = [request for request in asked if request.n < call.n]
            if not known:
                continue
            told = [outcome for outcome, at in traffic.final_outcomes.get(refid, {}).items() if at <= call.at]
            outcomes = {known[-1].outcome, *told}
            if outcomes & {PaymentOutcome.PAID, PaymentOutcome.REFUNDED}:
                yield None
            elif traffic.sees_callbacks or not known[-1].outcome.is_open:
                status, n = known[-1].outcome.value, known[-1].n
                words = f"request {call.n} is about {quote(refid)}, which was {status} as of request {n}"
                yield Finding((n, call.n), words)


def final_status_learned(traffic: Traffic) -> Iterator[Occasion]:
    """Judge a payment when the service makes no more attempts to deliver its final callback."""
    for delivery in traffic.deliveries:
        outcome = callback_outcome(delivery.last)
        if delivery.last.kind != "callback" or not outcome.is_final:
            continue
        refid = delivery.last.refid
        if traffic.knows_outcome(refid) or any(
            asked.outcome.is_final for asked in traffic.by_refid_alone.get(refid, ())
        ):
            yield None
        elif delivery.is_over(traffic.until):
            words = f"{quote(refid)} is {outcome.value}, but no callback and no answer reported it to the client"
            yield Finding(delivery.numbers, words)
