"""`/_sim/events` and `/_sim/sandboxes/{id}/events`: live events as server-sent events, without secrets."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from simulator.control import journal_endpoints, render
from simulator.control.access import access_of, is_still_allowed
from simulator.control.filters import query_of
from simulator.control.http import Forbidden, InvalidInput, sandboxes_of
from simulator.control.notification_endpoints import notification_row
from simulator.control.render import members
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.domain_events import AttemptOutcome, EmailNotification, LedgerPosting, StatusChange
from simulator.redaction import Mask, redact_urls
from simulator.runtime.event_reader import EventContent, EventReader, Gap
from simulator.runtime.events import Action, EventLog, EventPosition, EvictedEvent, NumberedEvent
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.runtime.traces import sent_trace
from simulator.wire import webhook_bodies
from simulator.wire.formats import encode, iso_utc_exact
from simulator.wire.payment_answers import CALLBACK_STATUS_NAMES, STATUS_NAMES

KINDS: Mapping[str, type] = {
    "request": int,
    "status": StatusChange,
    "entry": LedgerPosting,
    "callback": AttemptOutcome,
    "webhook": AttemptOutcome,
    "notification": EmailNotification,
    "action": Action,
}
"""The type of the items that are events of each kind."""


def event_content(
    sandboxes: Sandboxes, live: LiveSandbox, event: NumberedEvent, *, with_bodies: bool = False
) -> EventContent:
    """Return an event with its members; `with_bodies` adds the sent messages to callbacks and webhooks. Its texts may
    contain known secrets. Raises `EvictedEvent`."""
    item = event.item
    match item:
        case int():
            exchange = live.journal.find(item)
            if exchange is None:
                raise EvictedEvent
            fields = journal_endpoints.request_row(exchange, sandboxes.mask_of(live, exchange.owner))
            del fields["at"]  # each event has it
            return EventContent(event, "request", exchange.at, fields)
        case StatusChange():
            transaction = live.core.state.transactions.by_number[item.number]
            result = transaction.results[item.place]
            fields = {
                "refid": transaction.refid,
                "trxid": transaction.trxid,
                "reseller": transaction.reseller,
                "product": transaction.product,
                "status": STATUS_NAMES[result.kind.status],
                "status_code": result.kind.code,
                "cause": result.kind.cause,
                "rule": transaction.rule,
            }
            return EventContent(event, "status", result.at, fields)
        case LedgerPosting():
            entry = item.entry
            payment = live.core.state.transactions.get(entry.trxid)
            fields = {
                "refid": payment.refid if payment else "",
                "trxid": entry.trxid,
                "reseller": item.reseller,
                "entry": render.entry(entry),
            }
            return EventContent(event, "entry", entry.at, fields)
        case EmailNotification():
            fields = members(item, "reseller", "refid", "trxid") | {"notification": notification_row(item)}
            return EventContent(event, "notification", item.at, fields)
        case Action():
            fields = {"action": item.name, "about": item.about}
            fields |= members(item, "mode", "rate") if item.mode else {}
            return EventContent(event, "action", item.at, fields)
        case AttemptOutcome():
            kind, fields = _attempt_event(live, item)
            if with_bodies:
                sent, mask = live.courier.sent.find(item.job, item.number), sandboxes.mask_of(live)
                fields["sent"] = sent and {
                    **members(sent.request, "method", "url"),
                    "headers": [[name, mask.text(value)] for name, value in sent.request.headers],
                    "body": (sent.request.body or b"").decode("utf-8", "replace"),
                }
            return EventContent(event, kind, item.at, fields)


def _attempt_event(live: LiveSandbox, item: AttemptOutcome) -> tuple[str, dict[str, Any]]:
    """Return the kind of an attempt's event, and its fields."""
    state = live.core.state
    job = state.callbacks.find(item.job) or state.deliveries.find(item.job)
    if job is None:
        raise EvictedEvent
    if isinstance(job, Callback):
        kind, retries, method = "callback", live.scenario.limits.callback_retry.retries, job.method
        fields: dict[str, Any] = members(job.transaction, "refid", "trxid", "reseller")
        fields |= {"callback": job.id, "status": CALLBACK_STATUS_NAMES[job.result.status]}
    else:
        kind, retries, method = "webhook", job.retry_limit, webhook_bodies.METHOD
        fields = {"delivery": job.id, "event": job.event.id, "type": job.event.type, "reseller": job.reseller}
    attempt = job.attempts[item.number - 1]
    result = attempt.result
    assert result is not None, "an attempt is published when it has ended"
    sent = live.courier.sent.find(item.job, item.number)
    fields |= {
        "method": method,
        "attempts_max": retries + 1,
        "url": _shown_url(job.url),
        "attempt": item.number,
        "state": attempt.state,
        "ending": result.kind.value,
        "answered": result.status,
        "error": result.error,
        "next_due": render.moment(item.next_due),
        "duration_us": sent and sent.duration_us,
    }
    if sent and live.courier.traces.by_key and (trace_id := sent_trace(sent.request.headers)[0]):
        fields["trace_id"] = trace_id
    return kind, fields


_shown_url = lru_cache(maxsize=512)(redact_urls)  # many jobs have the same URL


LAST_EVENT_ID = "last-event-id"
MEDIA_TYPE = "text/event-stream"
HEADERS = {"cache-control": "no-store"}
ALWAYS = frozenset({"reset", "rewound", "deleted"})
"""Actions that every stream includes regardless of its filters: they discard the earlier events."""

_ID = re.compile(r"([0-9a-f]{8})\.([0-9]{1,15})\.([0-9]{1,15})")
_HELLO = b"retry: 1000\n: events of reseller-sim\n\n"


class EventQuery(NamedTuple):
    """The events that a reader wants: of these `kinds`, all when empty, and about `refid`, if any; with the messages
    that callbacks and webhooks sent."""

    kinds: frozenset[str] = frozenset()
    refid: str | None = None
    with_bodies: bool = False


class EventSource:
    """Renders the events of a single log, or of all logs."""

    def __init__(self, sandboxes: Sandboxes, wanted: EventQuery, only: EventLog | None = None) -> None:
        self._sandboxes = sandboxes
        self._hub = sandboxes.events
        self._only = only
        self._wanted = wanted
        self._kinds = wanted.kinds or frozenset(KINDS)
        self._types = frozenset(KINDS[kind] for kind in self._kinds)

    def reader(self, after: str | None = None, last: int = 0) -> EventReader:
        """Return a reader that begins after the event with the id `after`; 0 means all stored events. Without `after`
        it begins with the `last` events and continues with new events. Raises `InvalidInput`."""
        logs = [self._only] if self._only else [live.events for live in self._sandboxes]
        if after is not None:
            place, is_known = self._place(after, logs)
        else:
            latest = EventPosition(max(self._hub.latest - last, 0), 0)
            place, is_known = self._only.before(last) if self._only else latest, True
        reader = EventReader(self._hub, self._only, place, logs, self._content, self._pieces)
        reader.shared_by = self._only, self._wanted
        if not is_known:
            reader.first += self._pieces([Gap(None, place)])
        return reader

    def id_of(self, place: EventPosition | NumberedEvent) -> str:
        """Return the id of an event or a position. In a stream of all sandboxes it has 0 instead of the `number`."""
        return f"{self._hub.boot}.{place.serial}.{place.number if self._only else 0}"

    def _place(self, after: str, logs: list[EventLog]) -> tuple[EventPosition, bool]:
        """Return the position after which to begin, and False if an unknown number of events before it is missing."""
        hub, only = self._hub, self._only
        if after == "0":
            return EventPosition(0, 0), True
        found = _ID.fullmatch(after)
        if found is None:
            text = "after, or Last-Event-ID, must be the id of an event of this stream, or 0 for all stored events"
            raise InvalidInput(text, "after")
        place = EventPosition(int(found[2]), int(found[3]))
        is_ours = found[1] == hub.boot and place.serial <= hub.latest
        if is_ours and only is None:
            return place, True
        if is_ours and only and place.serial >= only.began:
            oldest = only.oldest()
            if place.serial >= oldest.serial or not oldest.number:  # `place.number` may be of another log
                later = sum(1 for _ in only.after(place.serial, only.count))
                return EventPosition(place.serial, only.count - later), True
            if 0 < place.number <= oldest.number:
                return place, True
        return min((log.oldest() for log in logs), default=EventPosition(hub.latest, 0)), False

    def _content(self, event: NumberedEvent) -> EventContent | None:
        """Return an event with its members; None if the query excludes it."""
        wanted, item = self._wanted, event.item
        is_always = isinstance(item, Action) and item.name in ALWAYS
        if not is_always and type(item) not in self._types:
            return None
        live = self._sandboxes.get(event.sandbox)
        content = event_content(self._sandboxes, live, event, with_bodies=wanted.with_bodies)
        is_wanted = content.kind in self._kinds and wanted.refid in (None, content.fields.get("refid", ""))
        return content if is_always or is_wanted else None

    def _pieces(self, contents: list[EventContent | Gap]) -> list[bytes]:
        """Return events as pieces of a stream, without secrets."""
        masks, pieces = self._needed_masks(contents), []
        for content in contents:
            if isinstance(content, Gap):
                id_ = self.id_of(content.place)
                data = encode({"id": id_, "kind": "gap", "missing": content.missing})
                pieces.append(b"id: %b\nevent: gap\ndata: %b\n\n" % (id_.encode(), data))
                continue
            id_, kind, event = self.id_of(content.event), content.kind, content.event
            at, wall = iso_utc_exact(content.at), iso_utc_exact(event.wall)
            head = (
                f'id: {id_}\nevent: {kind}\ndata: {{"id":"{id_}","sandbox":"{event.sandbox}","number":{event.number},'
                f'"kind":"{kind}","at":"{at}","wall":"{wall}",'
            )
            piece = head.encode() + encode(content.fields)[1:] + b"\n\n"
            pieces.append(masks[event.sandbox].answer(piece) if event.sandbox in masks else piece)
        return pieces

    def _needed_masks(self, contents: Iterable[EventContent | Gap]) -> dict[str, Mask]:
        """Return the masks of the sandboxes whose events contain secrets. Events have the same texts again and again,
        so each text is searched once."""
        texts: dict[str, set[object]] = {}
        for content in contents:
            if isinstance(content, EventContent):
                name = content.event.sandbox
                _add_leaves(texts.get(name) or texts.setdefault(name, {name}), content.fields.values())
        needed: dict[str, Mask] = {}
        for name, leaves in texts.items():
            joined = "\n".join(leaf for leaf in leaves if isinstance(leaf, str)).encode("utf-8", "surrogatepass")
            mask = self._sandboxes.mask_of(self._sandboxes.find(name))
            if mask.has_secret(joined):
                needed[name] = mask
        return needed


def _add_leaves(leaves: set[object], values: Collection[Any]) -> None:
    """Add the texts and numbers among JSON values, and in them at any depth."""
    try:
        leaves.update(values)
    except TypeError:  # an object or array, which has no hash
        for value in values:
            if isinstance(value, dict):
                _add_leaves(leaves, value.values())
            elif isinstance(value, list):
                _add_leaves(leaves, value)
            else:
                leaves.add(value)


def data_of(piece: bytes) -> bytes:
    """Return the JSON of the event in a piece of a stream."""
    return piece.partition(b"\ndata: ")[2].rstrip()


async def of_sandbox(request: Request, live: LiveSandbox) -> Response:
    """Stream the events of a sandbox."""
    return _stream(request, live.events)


async def of_all(request: Request) -> Response:
    """Stream the events of all sandboxes that the token of the request permits."""
    only = access_of(request).sandbox
    live = None if only is None else sandboxes_of(request).find(only)
    if only is not None and live is None:
        text = f"this token is for the sandbox {only!r} alone, which is not on this server"
        raise Forbidden("no_sandbox_yet", f"{text}: ask for /_sim/sandboxes/{only}/events, or create it")
    return _stream(request, None if live is None else live.events)


def _stream(request: Request, only: EventLog | None) -> Response:
    query = query_of(request, "events-query")
    sandboxes = sandboxes_of(request)
    kinds = frozenset(query["only"].split(",")) if "only" in query else frozenset()
    if unknown := kinds.difference(KINDS):
        raise InvalidInput(f"only has {min(unknown)!r}; use some of {', '.join(KINDS)}, with commas", "only")
    wanted = EventQuery(kinds, query.get("refid"), query.get("with") == "bodies")
    source = EventSource(sandboxes, wanted, only)
    reader = source.reader(request.headers.get(LAST_EVENT_ID) or query.get("after"), query.get("last", 0))
    reader.holder = access_of(request).name
    sandboxes.events.refuse_when_full(reader.holder)
    if request.method == "HEAD":  # a stream would not end
        return Response(media_type=MEDIA_TYPE, headers=HEADERS)
    body = _stream_body(request, source, reader, query["heartbeat"], query.get("timeout", inf))
    return StreamingResponse(body, media_type=MEDIA_TYPE, headers=HEADERS)


async def _stream_body(
    request: Request, source: EventSource, reader: EventReader, heartbeat_s: float, timeout_s: float
) -> AsyncIterator[bytes]:
    """Yield the body of a stream, with comments between events as a heartbeat, until the sandbox is deleted, the time
    is over, the client leaves, its token is revoked, or the server stops."""
    now = asyncio.get_running_loop().time
    ends_at = now() + timeout_s
    with reader:
        yield _HELLO
        while not reader.is_over and is_still_allowed(request):
            if events := reader.take():
                yield b"".join(events)
            if reader.is_behind:
                await asyncio.sleep(0)  # let other tasks run during a long history
            elif (left_s := ends_at - now()) <= 0:
                return
            elif not await reader.wait(min(heartbeat_s, left_s)) and is_still_allowed(request):
                yield b": still here\nid: %b\n\n" % source.id_of(reader.place).encode()
