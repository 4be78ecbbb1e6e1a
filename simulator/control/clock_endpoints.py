"""`/_sim/sandboxes/{id}/clock` and `…/due`: reads, sets and advances time, and lists the items that are due later."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.filters import query_of, refuse_other_parameters
from simulator.control.http import InvalidInput, body_of, cursor_of, page, parse_times, refuse_lost_sandbox, reply
from simulator.control.render import members, moment
from simulator.domain import commands
from simulator.domain.agenda import AgendaItem, AgendaResult, CaseDue, StepDue, TimelineStep
from simulator.domain.commands import Command
from simulator.domain.errors import Conflict
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import counted
from simulator.domain.model.instants import LATEST
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.transactions import Status, Transaction, may_follow
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.redaction import redact_urls
from simulator.runtime.events import Action
from simulator.runtime.lanes import STOPPED
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.formats import number
from simulator.wire.payment_answers import CALLBACK_STATUS_NAMES, STATUS_NAMES

STOP_TIMEOUT_S = 5.0
"""How long to wait for an advance to stop; a receiver may take longer to answer."""


def _clock_shown(live: LiveSandbox) -> dict[str, Any]:
    running, now = live.driver.advancing, moment(live.clock.now())
    return {
        "mode": live.clock.mode,
        "now": now,
        "rate": live.clock.rate,
        "pending": len(live.core.state.agenda),
        "next_due": moment(live.core.state.agenda.next_due),
        "advancing": running
        and {
            "from": moment(running.began),
            "to": moment(running.target),
            "now": now,
            "fired": running.events,
            "stopping": running.is_stopping,
            "started_wall": moment(running.wall),
        },
    }


def _clock_event(live: LiveSandbox, name: str) -> Action:
    """Return an event with the new state of the clock, so that readers need not request it."""
    clock = live.clock
    return Action(name, clock.now(), clock.mode if name == "clock_set" else "", clock.mode, clock.rate)


async def show(request: Request, live: LiveSandbox) -> Response:
    """Return mode, time, rate, and due items."""
    return reply(_clock_shown(live))


async def put(request: Request, live: LiveSandbox) -> Response:
    """Change mode, rate or time; time never decreases."""
    wanted = await body_of(request, "clock-request")
    rate = float(wanted["rate"]) if "rate" in wanted else None
    mode = "xN" if "mode" not in wanted and rate is not None else wanted.get("mode")
    now = _target_time(live, wanted, "now") if "now" in wanted else None
    await live.driver.set_clock(mode, rate, now)
    live.events.note(_clock_event(live, "clock_set"))
    return reply(_clock_shown(live))


async def advance(request: Request, live: LiveSandbox) -> Response:
    """Advance time, deliveries included, and report what happened."""
    wanted = await body_of(request, "advance-request")
    target = None
    now = live.clock.now()
    present = f"the sandbox's time is {now.astimezone(SERVICE_ZONE).isoformat()}"
    if "seconds" in wanted:
        target = now + timedelta(seconds=float(wanted["seconds"]))
        if target > LATEST:
            raise InvalidInput(f"seconds must end by {LATEST:%Y-%m-%d}: {present}", "seconds")
    elif "to" in wanted:
        target = _target_time(live, wanted, "to")
        if target < now:
            raise InvalidInput(f"to is in the past: {present}", "to")
    done = await live.driver.advance(target)
    live.events.note(_clock_event(live, "clock_advanced"))
    report: dict[str, Any] = {
        "now": moment(live.clock.now()),
        "fired": [fired_row(item) for item in done.fired],
        "left_out": done.left_out,
        "idle": done.is_idle,
        "stopped": done.stopped == STOPPED,
    }
    if held := Counter(each.name for each in live.holds):
        report["held"] = dict(held)
    return reply(report | ({"reason": done.stopped} if done.stopped else {}))


def _target_time(live: LiveSandbox, wanted: dict[str, Any], name: str) -> datetime:
    """Return the target time of an advance: the present if the text may mean it. Raises `InvalidInput`."""
    (at, latest), now = parse_times(wanted[name], name), live.clock.now()
    return now if at < now <= latest else at


async def stop(request: Request, live: LiveSandbox) -> Response:
    """Stop the running advance after its current step. Raises `Conflict` when none runs."""
    refuse_other_parameters(request)
    running = live.driver.advancing
    if running is None:
        raise Conflict("not_advancing", "this sandbox is not being advanced, so there is nothing to stop")
    if not running.is_stopping:
        live.events.note(_clock_event(live, "advance_stopped"))
    await running.stop(STOP_TIMEOUT_S)
    refuse_lost_sandbox(request)
    return reply(_clock_shown(live))


LISTED_MAX = 2_000
"""The limit of agenda places that are looked at, also those of cancelled items: finding later items would block other
requests for too long."""


async def list_due(request: Request, live: LiveSandbox) -> Response:
    """List the due items, earliest first; `left_out` counts the items beyond the end of the list."""
    query = query_of(request, "due-query")
    if cursor_of(query) > LISTED_MAX:
        text = f"cursor is after the first {LISTED_MAX}, the length of this list; later items appear as time passes"
        raise InvalidInput(text, "cursor")
    state = live.core.state
    pending = len(state.agenda)
    first = state.agenda.in_order(LISTED_MAX)
    nothing = {"refid": "", "trxid": "", "reseller": "", "job": ""}
    answer = await page("due", query, first, lambda due: {"at": moment(due[0])} | nothing | _due_row(state, due[1]))
    left_out = 0 if answer["has_more"] else max(0, pending - cursor_of(query) - len(answer["due"]))
    return reply(answer | {"pending": pending, "left_out": left_out})


_PAID = ("refid", "trxid", "reseller")


def _due_row(state: State, item: AgendaItem) -> dict[str, Any]:
    match item:
        case StepDue(number, place):
            transaction = state.transactions.by_number[number]
            return members(transaction, *_PAID) | {
                "kind": "status",
                "about": _step_text(transaction, transaction.steps[place].status),
            }
        case Callback() as callback:
            which = f"{counted(callback.attempts) + 1} of {state.scenario.limits.callback_retry.retries + 1}"
            about = f"callback {which} for {callback.transaction.refid}"
            return members(callback.transaction, *_PAID) | {"kind": "callback", "about": about, "job": callback.id}
        case Delivery() as delivery:
            about = f"webhook {counted(delivery.attempts) + 1} of {delivery.retry_limit + 1}: {delivery.event.type}"
            about += f" to {delivery.reseller}" if delivery.reseller else ""
            return {"kind": "webhook", "about": about, "reseller": delivery.reseller, "job": delivery.id}
        case CaseDue(case, is_refund):
            refid = case.transaction.refid
            refunded = f"{refid} becomes {STATUS_NAMES[Status.REFUNDED]}"
            about = refunded if is_refund else f"{case.kind} of {refid} is refused"
            return members(case.transaction, *_PAID) | {"kind": "status" if is_refund else "case", "about": about}
        case ScheduledChange(commands=(first, *_)):
            return {"kind": "schedule", "about": _plan_text(item), "reseller": getattr(first, "reseller", None) or ""}
    raise AssertionError("a scheduled change has a command")


def _step_text(transaction: Transaction, status: Status) -> str:
    now = transaction.result.status
    if not may_follow(now, status):
        return f"{transaction.refid} stays {STATUS_NAMES[now]}, which {STATUS_NAMES[status]} cannot follow"
    return f"{transaction.refid} becomes {STATUS_NAMES[status]}"


def _plan_text(planned: ScheduledChange) -> str:
    """Describe a change of the schedule in the same words as the report of an advance."""
    fields = schedule_fields(planned, None)
    return " ".join([str(fields.pop("kind")).replace("_", " "), *filter(None, map(_value_text, fields.values()))])


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(value) if isinstance(value, list) else str(value or "")


def fired_row(one: AgendaResult) -> dict[str, Any]:
    """Return an event as the answer to an advance lists it."""
    fields: dict[str, Any] = {"at": moment(one.at)}
    match one.item:
        case TimelineStep(transaction, step):
            result = next(result for result in transaction.results if result.status is step.status)
            fields |= {"kind": "status"} | members(transaction, "trxid", "refid")
            fields |= {"status": STATUS_NAMES[step.status], "status_code": result.kind.code}
        case Callback() | Delivery() as job:
            tried = one.send.attempt if one.send is not None else None
            ended = tried.result if tried is not None else None
            fields |= _job_fields(job, tried.number if tried else None)
            fields |= {"state": tried.state if tried else job.state.value, "url": redact_urls(job.url)}
            fields |= {"ending": ended.kind.value if ended else None, "answered": ended.status if ended else None}
        case CaseDue(case, is_refund):  # a refund is a status of the transaction; a refusal changes only the case
            paid = case.transaction
            fields |= {"kind": "status" if is_refund else "case"} | members(paid, "trxid", "refid")
            fields |= {"case": case.id, "state": case.state.value}
            if is_refund:
                fields |= {"status": STATUS_NAMES[paid.result.status], "status_code": paid.result.kind.code}
        case ScheduledChange() as planned:
            fields |= schedule_fields(planned, one.entry)
            fields |= {"skipped": one.skipped} if one.skipped else {}
    return fields


def _job_fields(job: Callback | Delivery, attempt: int | None) -> dict[str, Any]:
    if isinstance(job, Callback):
        fields = {"kind": "callback", "callback": job.id, "attempt": attempt}
        status = {"status": CALLBACK_STATUS_NAMES[job.result.status]}
        return fields | members(job.transaction, "trxid", "refid") | status
    fields = {"kind": "webhook", "delivery": job.id, "attempt": attempt, "event": job.event.id}
    return fields | {"type": job.event.type, "reseller": job.reseller}


def schedule_fields(planned: ScheduledChange, entry: Entry | None) -> dict[str, Any]:
    """Return a change of the scenario's schedule: its kind, its object, and the values that a test compares. Values
    that it does not change are left out."""
    first, *others = planned.commands
    fields = _SCHEDULED[type(first)](first)
    if isinstance(first, commands.ChangeSettings):
        fields["changed"] += [_OTHER_SETTINGS[type(one)] for one in others]
    fields |= {"balance": number(entry.balance)} if entry is not None else {}
    return {name: value for name, value in fields.items() if value is not None or name == "rule"}


_OTHER_SETTINGS = {commands.SetCallback: "callback", commands.SetThreshold: "low_balance_threshold"}

_SCHEDULED: Mapping[type[Command], Callable[[Any], dict[str, Any]]] = {
    commands.Credit: lambda command: {"kind": "deposit"} | members(command, "reseller", "amount"),
    commands.ChangeProduct: lambda one: {"kind": "product", "product": one.code, "reseller": one.reseller or None},
    commands.ChangeTree: lambda command: {"kind": command.kind.value, command.kind.value: command.id},
    commands.PutApiKey: lambda command: (
        {"kind": "api_key", "reseller": command.reseller, "api_key": command.key} | members(command, "state")
    ),
    commands.ChangeSettings: lambda one: {"kind": "settings", "reseller": one.reseller, "changed": [*one.changes]},
    commands.SetNetwork: lambda command: {"kind": "network"} | members(command, "product", "status"),
    commands.AddRule: lambda command: {
        "kind": "rule_added",
        "section": command.section,
        "rule": str(command.document.get("name") or command.document.get("id") or "") or None,
    },
    commands.RemoveRule: lambda command: {"kind": "rule_removed", "rule": command.rule},
    commands.PutWebhook: lambda command: (
        {"kind": "balance_webhook", "reseller": command.reseller}
        | {"url": redact_urls(command.url) or None, "enabled": command.enabled}
    ),
}
