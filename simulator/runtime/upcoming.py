"""What is still to come that an expectation may wait for: steps of payments, callbacks, webhooks, deposits."""

import heapq
from datetime import datetime
from typing import NamedTuple

from simulator.domain.due import AgendaItem, CallbackDue, CaseDue, DeliveryDue, ScheduleDue, StepDue
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.expectations import Expectation, ExpectationKind
from simulator.domain.model.rules import Fields
from simulator.domain.model.schedule import ScheduledChange, ScheduledDeposit, ScheduledTreeChange
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import BALANCE_ADDED, Delivery
from simulator.domain.state import State
from simulator.runtime import facts
from simulator.shortened import one_line
from simulator.wire.payments import STATUS_NAMES

LINES_MAX = 3
NAME_CHARS_MAX = 60

# What of a record never changes, so that a condition on it decides now whether the record can matter.
_FIXED = frozenset({"reseller", "product", "account", "amount", "refid", "extras", "type"})


class Coming(NamedTuple):
    """Something that comes at a time; `order` keeps those of one time in order."""

    at: datetime
    order: int
    item: AgendaItem


def upcoming(state: State, expected: Expectation) -> tuple[str, ...]:
    """The first things to come, a line each, and how many more there are. Nothing is to come of calls and rules: that
    is up to the clients."""
    if expected.kind in (ExpectationKind.CALLS, ExpectationKind.RULE):
        return ()
    sent = [line for send in state.in_flight.values() if (line := _in_flight(send.job, expected))]
    coming = [Coming(at, order, item) for at, order, item in state.agenda.waiting() if _matters(state, item, expected)]
    lines = sent[:LINES_MAX]
    lines += [_line(state, one) for one in heapq.nsmallest(LINES_MAX - len(lines), coming)]
    more = len(sent) + len(coming) - len(lines)
    return (*lines, *([f"and {more} more"] if more else []))


def _matters(state: State, item: AgendaItem, expected: Expectation) -> bool:
    """Whether an item can change what the expectation counts."""
    match item:
        case StepDue(number):
            if expected.kind is ExpectationKind.WEBHOOKS:
                return False
            return _is_of(state.transactions.by_number[number], expected)
        case CaseDue(case=case):
            return expected.kind is not ExpectationKind.WEBHOOKS and _is_of(case.transaction, expected)
        case CallbackDue(callback=callback):
            return _callback_matters(callback, expected)
        case DeliveryDue(delivery=delivery):
            return _delivery_matters(delivery, expected)
        case ScheduleDue(planned=ScheduledDeposit(reseller=reseller)):
            return _deposit_matters(reseller, expected)
        case ScheduleDue(planned=ScheduledChange() | ScheduledTreeChange()):
            return expected.kind is ExpectationKind.WEBHOOKS
    return False


def _deposit_matters(reseller: str, expected: Expectation) -> bool:
    """A deposit changes the balance of one reseller, who gets the webhook about it."""
    match expected.kind:
        case ExpectationKind.BALANCE:
            return reseller == expected.label
        case ExpectationKind.WEBHOOKS:
            return _fits({"reseller": reseller, "type": BALANCE_ADDED}, expected)
    return expected.kind is ExpectationKind.OUTCOME


def _is_of(transaction: Transaction, expected: Expectation) -> bool:
    if expected.kind is ExpectationKind.BALANCE:
        return transaction.reseller == expected.label
    return _fits(facts.of_payment(transaction, transaction.results), expected)


def _callback_matters(callback: Callback, expected: Expectation) -> bool:
    kinds = (ExpectationKind.CALLBACKS, ExpectationKind.OUTCOME)
    return expected.kind in kinds and _fits(facts.of_callback(callback, callback.state), expected)


def _delivery_matters(delivery: Delivery, expected: Expectation) -> bool:
    kinds = (ExpectationKind.WEBHOOKS, ExpectationKind.OUTCOME)
    return expected.kind in kinds and _fits(facts.of_webhook(delivery, delivery.state), expected)


def _fits(about: Fields, expected: Expectation) -> bool:
    return all(test(about) for name, test in expected.parts.items() if name in _FIXED)


def _in_flight(job: object, expected: Expectation) -> str:
    match job:
        case Callback() if _callback_matters(job, expected):
            return f"{_named(job)} is being sent"
        case Delivery() if _delivery_matters(job, expected):
            return f"{_named(job)} is being sent"
    return ""


def _named(job: Callback | Delivery) -> str:
    if isinstance(job, Callback):
        return f"callback {job.id} of {_short(job.transaction.refid)}"
    return f"webhook {job.event.type} {job.id}"


def _line(state: State, one: Coming) -> str:
    wait = f"{max((one.at - state.now).total_seconds(), 0):g} s"
    match one.item:
        case StepDue(number):
            transaction = state.transactions.by_number[number]
            status = STATUS_NAMES[transaction.result.status]
            return f"payment {_short(transaction.refid)} is {status}, next step in {wait}"
        case CaseDue(case=case):
            return f"payment {_short(case.transaction.refid)} waits for the answer to its {case.kind.value}, in {wait}"
        case CallbackDue(callback=callback):
            return f"{_named(callback)} is sent in {wait}"
        case DeliveryDue(delivery=delivery):
            return f"{_named(delivery)} is sent in {wait}"
        case ScheduleDue(planned=ScheduledDeposit() as planned):
            return f"a deposit for {planned.reseller} comes in {wait}"
    return f"a scheduled change comes in {wait}"


def _short(text: str) -> str:
    return one_line(text, NAME_CHARS_MAX)
