"""`/_sim/sandboxes/{id}/due`: what is due later, in the order in which it would happen."""

from datetime import datetime
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.fired import scheduled
from simulator.control.http import InvalidInput, page, reply, sandbox_of
from simulator.control.parameters import page_of, query_of
from simulator.domain.due import AgendaItem, CallbackDue, CaseDue, DeliveryDue, ScheduleDue, StepDue
from simulator.domain.model.cases import Case
from simulator.domain.model.effects import counted
from simulator.domain.model.schedule import Scheduled
from simulator.domain.model.transactions import Status, Transaction, may_follow
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.wire.payments import STATUS_NAMES

LISTED_MAX = 2_000
"""How many are listed: to find the ones behind takes longer than others should wait."""

PLACES_MAX = 5_000
"""How many places of the agenda are looked at, which cancelled items have, too."""


async def list_all(request: Request) -> Response:
    """What is due, the first of it first; `left_out` counts what comes behind the end of the list."""
    live = sandbox_of(request)
    asked = page_of(query_of(request, "due-query"))
    if asked.cursor > LISTED_MAX:
        text = (
            f"cursor is behind the first {LISTED_MAX}, which is all that this lists; the others come up as time passes"
        )
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
    """What the schedule changes, in the words in which an advance says what changed."""
    fields = scheduled(planned, None)
    return " ".join([str(fields.pop("kind")).replace("_", " "), *filter(None, map(_word, fields.values()))])


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(value) if isinstance(value, list) else str(value or "")
