"""The timeline of a transaction: dated statuses with their wallet entries and callbacks.

The first step of a timeline is the answer to the creating request. Each later step has a delay after the creation, a
time of day, or a re-query that triggers it. A step that would be due before the dated step above it follows that step
immediately. A step that the current status does not allow is skipped.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from simulator.domain.agenda import StepDue, TimelineStep
from simulator.domain.handlers import callback_jobs
from simulator.domain.model import draw
from simulator.domain.model.catalog import Receipt
from simulator.domain.model.domain_events import LedgerPosting, StatusChange
from simulator.domain.model.draw import drawn
from simulator.domain.model.instants import next_time_of_day
from simulator.domain.model.money import SERVICE_ZONE, ZERO
from simulator.domain.model.outcomes import SETTLED_COURSES, DomainOutcome
from simulator.domain.model.rules import Fields
from simulator.domain.model.transactions import (
    FAILED,
    SETTLED,
    SUCCESSFUL,
    PaymentResult,
    Status,
    Step,
    Transaction,
    may_follow,
    result_kind,
    result_texts,
)
from simulator.domain.model.wallet import REFUND
from simulator.domain.state import State

# The duration of payments with `realistic_times`, by the product's `processing_time`; without it, as the steps say.
REALISTIC_TIMES: Mapping[str, timedelta] = {"24_hours": timedelta(hours=24), "3_days": timedelta(days=3)}

# The timeline of a payment that no rule matches.
ORDINARY_STEPS = (
    Step(Status.ACCEPTED),
    Step(Status.PROCESSING, after=timedelta(seconds=2)),
    Step(Status.SUCCESSFUL, after=timedelta(seconds=5)),
)


def realistic(steps: tuple[Step, ...], processing_time: str) -> tuple[Step, ...]:
    """Return the steps with the last step, if dated and final, delayed by the usual processing time of the product."""
    takes, last = REALISTIC_TIMES.get(processing_time), steps[-1]
    if takes is None or last.after is None or last.status not in SETTLED:
        return steps
    return (*steps[:-1], msgspec.structs.replace(last, after=max(takes, last.after)))


def drawn_steps(steps: tuple[Step, ...], seed: int, *identity: object) -> tuple[Step, ...]:
    """Return the steps with times drawn for this payment, where a step has a distribution. No step precedes the dated
    step above it."""
    for step in steps:
        if step.spread is not None:
            break
    else:
        return steps
    found, latest = list[Step](), timedelta(0)
    for place, step in enumerate(steps):
        if step.after is not None:
            after = drawn(step.spread or step.after, draw.fraction(seed, "step", *identity, place))
            latest = max(latest, after)
            step = msgspec.structs.replace(step, after=latest, spread=None)
        found.append(step)
    return tuple(found)


def begin(state: State, transaction: Transaction, now: datetime) -> None:
    """Give a new transaction its first status, which has no callback, and schedule the dated steps."""
    _enter_status(state, transaction, transaction.steps[0], now, "creation")
    _schedule_next(state, transaction, 1)


def _schedule_next(state: State, transaction: Transaction, place: int) -> None:
    """Schedule the first dated step from index `place`; a settled transaction has no further steps. An unsettled
    transaction without dated or re-query steps left is stuck."""
    steps = transaction.steps
    for number in range(place, len(steps)):
        step = steps[number]
        if step.after is not None:
            due = transaction.created + step.after
        elif step.at is not None:
            due = _planned(transaction, number)
        else:
            continue
        transaction.ticket = state.agenda.add(due, StepDue(transaction.number, number))
        return
    transaction.ticket = None
    if not transaction.is_settled and _last_requery(steps) <= transaction.requeries:
        state.noted[DomainOutcome.STUCK] += 1


def _planned(transaction: Transaction, place: int) -> datetime:
    """Return when the step at index `place`, which has a time of day, is due. The result depends on the planned times
    of earlier steps, not on their actual times, so that a late clock does not lose a day."""
    planned = transaction.created
    for step in transaction.steps[1 : place + 1]:
        if step.at is not None:
            planned = next_time_of_day(step.at, planned)
        elif step.after is not None:
            planned = max(planned, transaction.created + step.after)
    return planned


def _last_requery(steps: tuple[Step, ...]) -> int:
    """Return the number of the latest re-query that a step waits for; 0 for none."""
    return max([step.requery or 0 for step in steps], default=0)


def step_due(state: State, due: StepDue, now: datetime) -> TimelineStep | None:
    """Process a dated step; return None when the current status does not allow it."""
    transaction = state.transactions.by_number[due.number]
    step = transaction.steps[due.place]
    follows = may_follow(transaction.results[-1].kind.status, step.status)
    if follows:
        _enter_status(state, transaction, step, now, "step")
    _schedule_next(state, transaction, due.place + 1)
    return TimelineStep(transaction, step) if follows else None


def requery(state: State, transaction: Transaction, now: datetime) -> None:
    """Count a re-query and process the step that waited for it."""
    if transaction.results[-1].kind.status in SETTLED:
        return
    transaction.requeries += 1
    if transaction.requeries == 1:
        state.noted[DomainOutcome.REQUERIED] += 1
    for step in transaction.steps:
        if step.requery == transaction.requeries and may_follow(transaction.result.status, step.status):
            _enter_status(state, transaction, step, now, "requery")
            if transaction.is_settled:
                return
    if transaction.ticket is None and _last_requery(transaction.steps) == transaction.requeries:
        state.noted[DomainOutcome.STUCK] += 1


def _enter_status(state: State, transaction: Transaction, step: Step, now: datetime, cause: str) -> None:
    results, status = transaction.results, step.status
    assert may_follow(results[-1].kind.status if results else None, status), f"{results[-1:]} cannot become {status}"
    cost = transaction.cost
    wallet = state.resellers[transaction.kind.reseller].wallet
    if status is FAILED:
        entry = wallet.post(REFUND, cost, now, f"refund of {transaction.refid}", transaction.trxid)
        transaction.refund = entry.id
        state.publish(LedgerPosting(transaction.reseller, entry))
        if not state.assumes("failed-wallet", "keep_cost"):
            cost = ZERO
    code = state.codes[status] if step.code is None else step.code
    balance = results[-1].balance if results and status is not FAILED else wallet.balance
    texts = result_texts(transaction.remarks)
    if step.texts or step.expiry or status is SUCCESSFUL:
        texts = msgspec.structs.replace(texts, **_details(state, transaction, step, now))
    transaction.results = (*results, PaymentResult(now, result_kind(status, code, str(cost), cause), balance, texts))
    state.publish(StatusChange(transaction.number, len(results)))
    if status in SETTLED:
        _settle(state, transaction)
    if cause != "creation":
        propagate_change(state, transaction, now)


def propagate_change(state: State, transaction: Transaction, now: datetime) -> None:
    """Apply the consequences of any status change after the creation."""
    state.resellers[transaction.kind.reseller].history.change_status(transaction)
    callback_jobs.schedule(state, transaction, now)


def _settle(state: State, transaction: Transaction) -> None:
    outcome = SETTLED_COURSES.get(tuple([result.kind.status for result in transaction.results]))
    if outcome is not None:
        state.noted[outcome] += 1
    if transaction.bill is not None and transaction.results[-1].status is SUCCESSFUL:
        state.bills_paid[transaction.bill] = state.bills_paid.get(transaction.bill, ZERO) + transaction.amount
    if transaction.ticket is not None:
        state.agenda.cancel(transaction.ticket)
    transaction.steps = ()
    transaction.ticket = None


def _details(state: State, transaction: Transaction, step: Step, now: datetime) -> dict[str, Any]:
    """Return the expiry and the texts of a result: the product's on success, overridden by those of the step."""
    product = state.catalog.products.get(transaction.product) if step.status is SUCCESSFUL else None
    receipt = product.fulfilled if product is not None else Receipt()
    expiry = step.expiry
    if expiry is None and receipt.valid_for is not None:
        expiry = (now + receipt.valid_for).astimezone(SERVICE_ZONE).date()
    templates = {**receipt.texts, **(step.texts or {})}
    facts = template_facts(state, transaction) if templates else {}
    return {"expiry": expiry, **{name: template(facts) for name, template in templates.items()}}


def template_facts(state: State, transaction: Transaction) -> Fields:
    """Return the facts of a transaction that a scenario's templates may contain."""
    return {
        "seed": state.seed,
        "trxid": transaction.trxid,
        "refid": transaction.refid,
        "reseller": transaction.reseller,
        "product": transaction.product,
        "account": transaction.account,
        "amount": transaction.amount,
    }
