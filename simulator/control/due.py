"""`/_sim/sandboxes/{id}/due`: the items that are due later, in order, and the events of an advance."""

from datetime import datetime
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import page_of, query_of
from simulator.control.http import InvalidInput, page, reply, sandbox_of
from simulator.domain.agenda import (
    AgendaItem,
    AgendaResult,
    CallbackDue,
    CaseDue,
    DeliveryDue,
    ScheduleDue,
    StepDue,
    TimelineStep,
)
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.delivery_attempts import counted
from simulator.domain.model.schedule import (
    Scheduled,
    ScheduledChange,
    ScheduledDeposit,
    ScheduledKey,
    ScheduledNetwork,
    ScheduledRemoval,
    ScheduledRule,
    ScheduledSettings,
    ScheduledTreeChange,
    ScheduledWebhook,
)
from simulator.domain.model.transactions import Status, Transaction, may_follow
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.redaction import redact_urls
from simulator.wire.money import number
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

LISTED_MAX = 2_000
"""The limit of listed items: finding later ones would block other requests for too long."""

PLACES_MAX = 5_000
"""The limit of agenda places to scan, including the places of cancelled items."""


async def list_all(request: Request) -> Response:
    """List the due items, earliest first; `left_out` counts the items beyond the end of the list."""
    live = sandbox_of(request)
    asked = page_of(query_of(request, "due-query"))
    if asked.cursor > LISTED_MAX:
        text = f"cursor is after the first {LISTED_MAX}, the most that this lists; later items appear as time passes"
        raise InvalidInput(text, "cursor")
    state = live.core.state
    pending = len(state.agenda)
    first = islice(state.agenda.in_order(PLACES_MAX), LISTED_MAX)
    answer = await page("due", asked, first, lambda one: _row(state, *one))
    left_out = 0 if answer["has_more"] else max(0, pending - asked.cursor - len(answer["due"]))
    return reply(answer | {"pending": pending, "left_out": left_out})


def _row(state: State, at: datetime, item: AgendaItem) -> dict[str, Any]:
    nothing = {"refid": "", "trxid": "", "reseller": "", "job": ""}
    return {"at": render.moment(at)} | nothing | _told(state, item)


def _told(state: State, item: AgendaItem) -> dict[str, str]:
    match item:
        case StepDue(number, place):
            transaction = state.transactions.by_number[number]
            return _of(transaction) | {"kind": "status", "about": _step(transaction, transaction.steps[place].status)}
        case CallbackDue(callback):
            which = f"{counted(callback.attempts) + 1} of {state.scenario.limits.callback_retry.retries + 1}"
            about = f"callback {which} for {callback.transaction.refid}"
            return _of(callback.transaction) | {"kind": "callback", "about": about, "job": callback.id}
        case DeliveryDue(delivery):
            return {"kind": "webhook", "about": _webhook(delivery), "reseller": delivery.reseller, "job": delivery.id}
        case CaseDue(case, is_refund):
            kind = "status" if is_refund else "case"
            return _of(case.transaction) | {"kind": kind, "about": _case(case, is_refund)}
        case ScheduleDue(planned):
            return {"kind": "schedule", "about": _plan(planned), "reseller": getattr(planned, "reseller", None) or ""}


def _of(one: Transaction) -> dict[str, str]:
    return {"refid": one.refid, "trxid": one.trxid, "reseller": one.reseller}


def _step(one: Transaction, status: Status) -> str:
    now = one.result.status
    if not may_follow(now, status):
        return f"{one.refid} stays {STATUS_NAMES[now]}, which {STATUS_NAMES[status]} cannot follow"
    return f"{one.refid} becomes {STATUS_NAMES[status]}"


def _case(case: Case, is_refund: bool) -> str:
    refid = case.transaction.refid
    return f"{refid} becomes {STATUS_NAMES[Status.REFUNDED]}" if is_refund else f"{case.kind} of {refid} is refused"


def _webhook(delivery: Delivery) -> str:
    which = f"{counted(delivery.attempts) + 1} of {delivery.retry_limit + 1}"
    return f"webhook {which}: {delivery.event.type}" + (f" to {delivery.reseller}" if delivery.reseller else "")


def _plan(planned: Scheduled) -> str:
    """Describe a change of the schedule in the same words as the report of an advance."""
    fields = scheduled(planned, None)
    return " ".join([str(fields.pop("kind")).replace("_", " "), *filter(None, map(_word, fields.values()))])


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(value) if isinstance(value, list) else str(value or "")


def fired(one: AgendaResult) -> dict[str, Any]:
    """Return an event as the answer to an advance lists it."""
    fields: dict[str, Any] = {"at": render.moment(one.at)}
    match one.item:
        case TimelineStep(transaction, step):
            fields |= {"kind": "status", "trxid": transaction.trxid, "refid": transaction.refid}
            result = next(result for result in transaction.results if result.status is step.status)
            fields |= {"status": STATUS_NAMES[step.status], "status_code": result.code}
        case CallbackDue(job) | DeliveryDue(job):
            tried = one.send.attempt if one.send is not None else None
            ended = tried.result if tried is not None else None
            fields |= _job(job, tried.number if tried else None)
            fields |= {"state": tried.state if tried else job.state.value, "url": redact_urls(job.url)}
            fields |= {"ending": ended.kind.value if ended else None, "answered": ended.status if ended else None}
        case CaseDue(case, is_refund):
            fields |= _case_ended(case, is_refund)
        case ScheduleDue(planned):
            fields |= scheduled(planned, one.entry)
            fields |= {"skipped": one.skipped} if one.skipped else {}
    return fields


def _job(job: Callback | Delivery, attempt: int | None) -> dict[str, Any]:
    if isinstance(job, Callback):
        paid = job.transaction
        fields = {"kind": "callback", "callback": job.id, "attempt": attempt, "trxid": paid.trxid, "refid": paid.refid}
        return fields | {"status": CALLBACK_STATUS_NAMES[job.result.status]}
    fields = {"kind": "webhook", "delivery": job.id, "attempt": attempt, "event": job.event.id}
    return fields | {"type": job.event.type, "reseller": job.reseller}


def _case_ended(case: Case, is_refund: bool) -> dict[str, Any]:
    """Return the end of a case as JSON: a refund is a status of the transaction; a refusal changes only the case."""
    one = case.transaction
    fields: dict[str, Any] = {"kind": "status" if is_refund else "case", "trxid": one.trxid, "refid": one.refid}
    fields |= {"case": case.id, "state": case.state.value}
    if is_refund:
        fields |= {"status": STATUS_NAMES[one.result.status], "status_code": one.result.code}
    return fields


def scheduled(planned: Scheduled, entry: Entry | None) -> dict[str, Any]:
    """Return a change of the scenario's schedule: its kind, its object, and the values that a test compares."""
    match planned:
        case ScheduledDeposit():
            fields = {"kind": "deposit", "reseller": planned.reseller, "amount": number(planned.amount)}
            return fields | ({"balance": number(entry.balance)} if entry is not None else {})
        case ScheduledChange():
            fields = {"kind": "product", "product": planned.code}
            return fields | ({"reseller": planned.reseller} if planned.reseller else {})
        case ScheduledTreeChange():
            return {"kind": planned.kind.value, planned.kind.value: planned.id}
        case ScheduledKey():
            fields = {"kind": "api_key", "reseller": planned.reseller, "api_key": planned.key}
            return fields | ({"state": planned.state.value} if planned.state is not None else {})
        case ScheduledSettings():
            return {"kind": "settings", "reseller": planned.reseller, "changed": _changed(planned)}
        case ScheduledNetwork():
            return {"kind": "network", "product": planned.product, "status": planned.status.value}
        case ScheduledRule():
            return {"kind": "rule_added", "section": planned.section, "rule": planned.label or None}
        case ScheduledRemoval():
            return {"kind": "rule_removed", "rule": planned.rule}
        case ScheduledWebhook():
            fields = {"kind": "balance_webhook", "reseller": planned.reseller}
            return fields | ({"url": redact_urls(planned.url)} if planned.url else {}) | _enabled(planned)


def _changed(planned: ScheduledSettings) -> list[str]:
    others = {"callback": planned.callback, "low_balance_threshold": planned.low_balance_threshold}
    return [*planned.changes, *(name for name, value in others.items() if value is not None)]


def _enabled(planned: ScheduledWebhook) -> dict[str, Any]:
    return {} if planned.enabled is None else {"enabled": planned.enabled}
