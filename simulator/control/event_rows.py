"""Renders events for the control API, without secrets."""

from datetime import datetime
from itertools import chain
from typing import Any

from simulator.control import notifications, render, requests
from simulator.control.callbacks import attempt
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.domain_events import AttemptOutcome, EmailNotification, LedgerPosting, StatusChange
from simulator.domain.model.webhooks import Delivery
from simulator.redaction import Mask, Secrets, redact_urls
from simulator.runtime.events import Action, EvictedEvent, NumberedEvent
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.runtime.traces import sent_trace
from simulator.wire import webhooks
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

MASKS_MAX = 64
"""How many masks of sandboxes a stream keeps."""
Event = tuple[str, datetime, dict[str, Any]]  # kind, time of the sandbox, and the other members
KINDS = ("request", "status", "entry", "callback", "webhook", "notification", "action")


class EventRows:
    """Renders events as objects for JSON; `with_bodies` adds the sent messages to callbacks and webhooks."""

    def __init__(self, sandboxes: Sandboxes, *, with_bodies: bool = False) -> None:
        self._sandboxes = sandboxes
        self._with_bodies = with_bodies
        self._masks: dict[tuple[LiveSandbox | None, ...], tuple[tuple[Secrets, ...], Mask]] = {}

    def mask(self, *owners: LiveSandbox | None) -> Mask:
        """Return the mask for events of these sandboxes; it is rebuilt when their secrets change."""
        secrets = tuple(chain.from_iterable(each.secrets for each in owners if each)) or self._sandboxes.secrets
        found = self._masks.get(owners)
        if found is None or found[0] != secrets:
            if len(self._masks) >= MASKS_MAX:
                self._masks.clear()
            found = self._masks[owners] = (secrets, self._sandboxes.mask_of(owners[0], owners[1:]))
        return found[1]

    def row(self, live: LiveSandbox, taken: NumberedEvent) -> dict[str, Any]:
        """Return an event as JSON. Raises `EvictedEvent`."""
        item = taken.item
        envelope: dict[str, Any] = {"sandbox": taken.sandbox, "number": taken.number}
        wall = render.moment(taken.wall)
        match item:
            case int():
                return envelope | {"kind": "request", "wall": wall} | self._request(live, item)
            case StatusChange():
                kind, at, fields = _status(live, item)
            case LedgerPosting():
                kind, at, fields = "entry", item.entry.at, _entry(live, item)
            case EmailNotification():
                of_mail = notifications.row(item)
                kind, at = "notification", item.at
                fields = {name: of_mail[name] for name in ("reseller", "refid", "trxid")}
                fields["notification"] = of_mail
            case Action():
                kind, at, fields = "action", item.at, _action(item)
            case AttemptOutcome():
                kind, at, fields = self._attempted(live, item)
        return envelope | {"kind": kind, "at": render.moment(at), "wall": wall} | fields

    def _request(self, live: LiveSandbox, n: int) -> dict[str, Any]:
        exchange = _exchange(live, n)
        mask = self.mask(live, self._sandboxes.find(exchange.owner)) if exchange.owner else self.mask(live)
        return requests.row(exchange, mask) | {"refid": exchange.refid}

    def _attempted(self, live: LiveSandbox, item: AttemptOutcome) -> Event:
        job = _job(live, item)
        tried = attempt(job.attempts[item.number - 1])
        fields = _callback(live, job) if isinstance(job, Callback) else _webhook(job)
        fields |= {"url": redact_urls(job.url), "attempt": item.number, "state": job.attempts[item.number - 1].state}
        fields |= {"ending": tried["ending"], "answered": tried["status"], "error": tried["error"]}
        fields["next_due"] = render.moment(item.next_due)
        fields["duration_us"] = live.courier.times.duration_us(item.job, item.number)
        sent = live.courier.sent.find(item.job, item.number)
        trace_id, _ = sent_trace(sent.headers) if sent is not None else ("", "")
        if trace_id:
            fields["trace_id"] = trace_id
        if self._with_bodies:
            fields["sent"] = self._sent(live, item)
        return "callback" if isinstance(job, Callback) else "webhook", item.at, fields

    def _sent(self, live: LiveSandbox, item: AttemptOutcome) -> dict[str, Any] | None:
        """Return the request of an attempt, or None if it was evicted."""
        request = live.courier.sent.find(item.job, item.number)
        if request is None:
            return None
        mask = self.mask(live)
        headers = [[name, mask.text(value)] for name, value in request.headers]
        body = (request.body or b"").decode("utf-8", "replace")
        return {"method": request.method, "url": request.url, "headers": headers, "body": body}


def _exchange(live: LiveSandbox, n: int) -> Exchange:
    exchange = live.journal.find(n)
    if exchange is None:
        raise EvictedEvent
    return exchange


def _job(live: LiveSandbox, item: AttemptOutcome) -> Callback | Delivery:
    state = live.core.state
    job = state.callbacks.find(item.job) or state.deliveries.find(item.job)
    if job is None:
        raise EvictedEvent
    return job


def _action(item: Action) -> dict[str, Any]:
    fields: dict[str, Any] = {"action": item.name, "about": item.about}
    return fields | ({"mode": item.mode, "rate": item.rate} if item.mode else {})


def _status(live: LiveSandbox, item: StatusChange) -> Event:
    one = live.core.state.transactions.by_number[item.number]
    result = one.results[item.place]
    fields = {
        "refid": one.refid,
        "trxid": one.trxid,
        "reseller": one.reseller,
        "product": one.product,
        "status": STATUS_NAMES[result.status],
        "status_code": result.code,
        "cause": result.cause,
        "rule": one.rule,
    }
    return "status", result.at, fields


def _entry(live: LiveSandbox, item: LedgerPosting) -> dict[str, Any]:
    paid = live.core.state.transactions.get(item.entry.trxid)
    return {
        "refid": paid.refid if paid else "",
        "trxid": item.entry.trxid,
        "reseller": item.reseller,
        "entry": render.entry(item.entry),
    }


def _callback(live: LiveSandbox, job: Callback) -> dict[str, Any]:
    return {
        "refid": job.transaction.refid,
        "trxid": job.transaction.trxid,
        "reseller": job.transaction.reseller,
        "callback": job.id,
        "status": CALLBACK_STATUS_NAMES[job.result.status],
        "method": job.method,
        "attempts_max": live.scenario.limits.callback_retry.retries + 1,
    }


def _webhook(job: Delivery) -> dict[str, Any]:
    return {
        "delivery": job.id,
        "event": job.event.id,
        "type": job.event.type,
        "reseller": job.reseller,
        "method": webhooks.METHOD,
        "attempts_max": job.retry_limit + 1,
    }
