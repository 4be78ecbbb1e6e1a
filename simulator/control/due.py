"""`/_sim/sandboxes/{id}/due`: the items that are due later, in order, and the events of an advance."""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import page_of, query_of
from simulator.control.http import InvalidInput, page, reply, sandbox_of
from simulator.domain import commands
from simulator.domain.agenda import AgendaItem, AgendaResult, CaseDue, StepDue, TimelineStep
from simulator.domain.commands import Command
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.delivery_attempts import counted
from simulator.domain.model.schedule import Scheduled
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
        case Callback() as callback:
            which = f"{counted(callback.attempts) + 1} of {state.scenario.limits.callback_retry.retries + 1}"
            about = f"callback {which} for {callback.transaction.refid}"
            return _of(callback.transaction) | {"kind": "callback", "about": about, "job": callback.id}
        case Delivery() as delivery:
            return {"kind": "webhook", "about": _webhook(delivery), "reseller": delivery.reseller, "job": delivery.id}
        case CaseDue(case, is_refund):
            kind = "status" if is_refund else "case"
            return _of(case.transaction) | {"kind": kind, "about": _case(case, is_refund)}
        case Scheduled(commands=(first, *_)):
            return {"kind": "schedule", "about": _plan(item), "reseller": getattr(first, "reseller", None) or ""}
    raise AssertionError("a scheduled change has a command")


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
        case Callback() | Delivery() as job:
            tried = one.send.attempt if one.send is not None else None
            ended = tried.result if tried is not None else None
            fields |= _job(job, tried.number if tried else None)
            fields |= {"state": tried.state if tried else job.state.value, "url": redact_urls(job.url)}
            fields |= {"ending": ended.kind.value if ended else None, "answered": ended.status if ended else None}
        case CaseDue(case, is_refund):
            fields |= _case_ended(case, is_refund)
        case Scheduled() as planned:
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
    first, *others = planned.commands
    fields = _SCHEDULED[type(first)](first)
    if isinstance(first, commands.ChangeSettings):
        fields["changed"] += [_OTHER_SETTINGS[type(one)] for one in others]
    return fields | ({"balance": number(entry.balance)} if entry is not None else {})


_OTHER_SETTINGS = {commands.SetCallback: "callback", commands.SetThreshold: "low_balance_threshold"}

_SCHEDULED: Mapping[type[Command], Callable[[Any], dict[str, Any]]] = {
    commands.Credit: lambda one: {"kind": "deposit", "reseller": one.reseller, "amount": number(one.amount)},
    commands.ChangeProduct: lambda one: (
        {"kind": "product", "product": one.code} | ({"reseller": one.reseller} if one.reseller else {})
    ),
    commands.ChangeTree: lambda one: {"kind": one.kind.value, one.kind.value: one.id},
    commands.PutApiKey: lambda one: (
        {"kind": "api_key", "reseller": one.reseller, "api_key": one.key}
        | ({"state": one.state.value} if one.state is not None else {})
    ),
    commands.ChangeSettings: lambda one: {"kind": "settings", "reseller": one.reseller, "changed": [*one.changes]},
    commands.SetNetwork: lambda one: {"kind": "network", "product": one.product, "status": one.status.value},
    commands.AddRule: lambda one: {
        "kind": "rule_added",
        "section": one.section,
        "rule": str(one.document.get("name") or one.document.get("id") or "") or None,
    },
    commands.RemoveRule: lambda one: {"kind": "rule_removed", "rule": one.rule},
    commands.PutWebhook: lambda one: (
        {"kind": "balance_webhook", "reseller": one.reseller}
        | ({"url": redact_urls(one.url)} if one.url else {})
        | ({} if one.enabled is None else {"enabled": one.enabled})
    ),
}
