"""What becomes of an order whose outcome is bad or unknown (SPEC 3.1, 4.11, 4.12, 7.3)."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from simulator.audit.payments import Order, Outcome, Payment
from simulator.audit.reading import form, shown, text
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Traffic

SAME_ORDER_WITHIN = timedelta(hours=1)
INELIGIBLE = 62
CASE_PATHS = ("/v2/transactions/check", "/v2/transactions/void")


@obligation(
    "no-double-payment",
    "4.11",
    "error",
    "A payment whose outcome is unknown is asked about with its own refid, and not paid again with a new one.",
    "After a timeout, a closed connection or a 5xx send the same refid again until the status is final.",
)
def no_double_payment(traffic: Traffic) -> Iterator[Occasion]:
    """An equal order within an hour of one whose outcome the client did not know, and never asked for again: two equal
    orders that are both followed to their end are two orders, and so are two of which nothing was asked yet. To send
    again what was not answered is no question about it: the client may know of nothing else yet."""
    abandoned = _abandoned(traffic)
    for asked in traffic.by_refid.values():
        first = asked[0]
        if any(one.outcome is Outcome.UNKNOWN for one in asked[:-1]):
            yield None  # it was asked about again
        before = abandoned.get((first.actor, first.order), [])
        place = bisect_left([one.n for one in before], first.n)
        if place and not _was_known(traffic, before[place - 1], first.at):
            lost = before[place - 1]
            if first.at - lost.at <= SAME_ORDER_WITHIN:
                words = f"refid {shown(first.refid)} in request {first.n} pays the order of {shown(lost.refid)} again"
                yield Finding((lost.n, first.n), f"{words}, whose outcome was unknown since request {lost.n}")


def _abandoned(traffic: Traffic) -> dict[tuple[str, Order], list[Payment]]:
    """The last request about each payment that ended without an answer, or that was asked about when it was known to be
    open, and then left open, by order, in their order."""
    found: dict[tuple[str, Order], list[Payment]] = defaultdict(list)
    for asked in traffic.by_refid.values():
        last = asked[-1]
        opened = sum(one.outcome.is_open for one in asked)
        if last.outcome is Outcome.UNKNOWN or (last.outcome.is_open and opened > 1):
            found[last.actor, last.order].append(last)
    for lost in found.values():
        lost.sort(key=lambda one: one.n)
    return found


def _was_known(traffic: Traffic, one: Payment, at: datetime) -> bool:
    """What a callback tells later excuses two open orders, but not a second payment in place of a first one."""
    return not traffic.sees_callbacks or traffic.is_told(one.refid, by=None if one.outcome.is_open else at)


@obligation(
    "ineligible-not-retried",
    "7.3",
    "error",
    "A payment that failed with 62, an identity number that is not eligible, is final and never made again.",
    "Tell the user, and ask for another identity number; do not queue the payment again, under whatever refid.",
)
def ineligible_not_retried(traffic: Traffic) -> Iterator[Occasion]:
    """The same product, account, biller and identity number under another refid."""
    refused: dict[tuple[str, ...], Payment] = {}
    for one in traffic.payments:
        who = (one.actor, one.product, one.account, one.biller, one.identity)
        before = refused.get(who)
        if before is not None and before.refid != one.refid and one.follows(before):
            yield Finding((before.n, one.n), f"request {one.n} pays what request {before.n} told is not eligible (62)")
        elif one.status_code == INELIGIBLE:
            refused.setdefault(who, one)
            yield None


@obligation(
    "cases-after-success",
    "4.12",
    "warning",
    "Only a payment that has succeeded is disputed or voided.",
    "Wait until the status is Succesful before you send a dispute or a void.",
)
def cases_after_success(traffic: Traffic) -> Iterator[Occasion]:
    """By what the client knew of the refid when it asked."""
    for path in CASE_PATHS:
        for call in traffic.to("POST", path):
            refid = text(form(call.body), "refid")
            asked = traffic.by_refid.get((traffic.actor(call), refid), [])
            known = [one for one in asked if one.n < call.n]
            if not known:
                continue
            told = [outcome for outcome, at in traffic.told.get(refid, {}).items() if at <= call.at]
            outcomes = {known[-1].outcome, *told}
            if outcomes & {Outcome.PAID, Outcome.REFUNDED}:
                yield None
            elif traffic.sees_callbacks or not known[-1].outcome.is_open:
                status = known[-1].outcome.value
                yield Finding((known[-1].n, call.n), f"request {call.n} is about {shown(refid)}, which was {status}")


@obligation(
    "final-status-learned",
    "6.1",
    "error",
    "A final status whose callback the receiver did not accept is learned by a re-query.",
    "Re-query every payment that has no final status yet, whether or not you receive callbacks.",
    log="notifications",
)
def final_status_learned(traffic: Traffic) -> Iterator[Occasion]:
    """A payment counts once no more attempts of its final callback are to be expected."""
    for one in traffic.deliveries:
        outcome = traffic.outcome_told(one.last)
        if one.last.kind != "callback" or not outcome.is_final:
            continue
        refid = one.last.refid
        if traffic.is_told(refid) or any(asked.outcome.is_final for asked in traffic.asked.get(refid, ())):
            yield None
        elif one.is_over(traffic.until):
            words = f"{shown(refid)} is {outcome.value}, which neither a callback nor an answer told the client"
            yield Finding(one.numbers, words)
