"""Makes spans of OpenTelemetry: one of each request, and one of each attempt of a callback or webhook.

It reads events as the lines of `serve` do, after the turn in which something happened, so that no request waits for it.
The span of an attempt that continues a trace has the id that its `traceparent` says.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from simulator.api.routes import PathTable, routes
from simulator.cli.telemetry import Tracing
from simulator.control.event_rows import EventRows, kind_of
from simulator.control.masking import Mask, mask_of
from simulator.domain.model.happenings import Attempted
from simulator.runtime.event_items import Place, Taken
from simulator.runtime.event_reader import EventReader
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.runtime.unexpected import report
from simulator.wire.trace_context import TraceContext, sent_trace, trace_of

if TYPE_CHECKING:
    from simulator.persistence.gate import Gate

TRACED: Final = frozenset({"request", "callback", "webhook"})
MICROSECOND_NS: Final = 1000
FAILED_FROM: Final = 500
REFUSED_FROM: Final = 400
OF_ATTEMPTS: Final = ("refid", "trxid", "callback", "delivery", "type")
LAST_MAX: Final = 1_000
"""How many spans a server that stops still makes."""

Emit = Callable[[], None]


class PlannedIds:
    """Ids of spans as another generator makes them, but for the next one where it is `planned`."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self.planned = 0

    def generate_span_id(self) -> int:
        """The planned one, once, or any."""
        planned, self.planned = self.planned, 0
        return planned or int(self._generator.generate_span_id())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


class Spans:
    """Makes the spans of all sandboxes, and those that are kept behind a `gate` when that opens. Needs a running event
    loop."""

    def __init__(self, sandboxes: Sandboxes, tracing: Tracing, gate: "Gate | None" = None) -> None:
        self._sandboxes = sandboxes
        self._tracer, self._flush = tracing
        self._gate = gate
        self._documented = PathTable(routes()).documented
        self._rows = EventRows(sandboxes)
        self._ids = PlannedIds(getattr(self._tracer, "id_generator", None))
        if hasattr(self._tracer, "id_generator"):  # that of the SDK; others choose the ids themselves
            self._tracer.id_generator = self._ids
        hub = sandboxes.events
        logs = [live.events for live in sandboxes]
        self._reader = EventReader[Emit](hub, None, Place(hub.latest, 0), logs, self._prepared, lambda *_: _nothing)
        self._reader.is_own = True
        self._task = asyncio.get_running_loop().create_task(self._make())

    def end(self) -> None:
        """Make what is left, and wait a little for it to be sent: the server is about to stop."""
        if not self._task.done() and (self._gate is None or self._gate.failure is None):
            for emit in self._reader.take(LAST_MAX):
                emit()
        self._task.cancel()
        self._flush()

    async def _make(self) -> None:
        with self._reader as reader:
            while not reader.is_over:
                await reader.wait(timeout_s=60.0)
                try:
                    emits = reader.take()
                except Exception as error:  # our mistake: the next events get another chance
                    report(error, "a span")
                    reader.skip()
                    continue
                if self._gate is not None:
                    await self._gate.passed()
                for emit in emits:
                    emit()
                await asyncio.sleep(0)

    def _prepared(self, taken: Taken) -> Emit | None:
        """What makes the span of an event; None when it has none. Raises `Gone`."""
        live = taken.life or self._sandboxes.get(taken.sandbox)
        if kind_of(live, taken.item) not in TRACED:
            return None
        row = self._rows.row(live, taken)
        if isinstance(taken.item, Attempted):
            return self._of_attempt(live, taken, row, taken.item)
        return self._of_request(live, taken, row)

    def _of_request(self, live: LiveSandbox, taken: Taken, row: dict[str, Any]) -> Emit:
        exchange = live.journal.find(row["n"])
        assert exchange is not None, "its row was rendered"
        method, path = self._documented(exchange.method, exchange.path)
        known = path if path != "*" else ""
        mask = mask_of(live, self._sandboxes)
        attributes = _filled(
            mask,
            {
                "http.request.method": method if method != "*" else "_OTHER",
                "http.route": known,
                "url.path": row["path"],
                "client.address": row["client"],
                "error.type": row["error"],
                "reseller_sim.sandbox": taken.sandbox,
                "reseller_sim.request": row["n"],
            }
            | {f"reseller_sim.{name}": row[name] for name in ("refid", "trxid", "rule", "fault", "diagnosis")}
            | {"http.response.status_code": row["status"]},
        )
        failed = row["status"] == 0 or row["status"] >= FAILED_FROM
        began = exchange.wall or taken.wall
        took = timedelta(microseconds=exchange.duration_us)
        context = _parent(trace_of(exchange.headers), mask)
        name = f"{attributes['http.request.method']} {known}".rstrip()
        return lambda: self._emit(name, SpanKind.SERVER, context, attributes, began, began + took, failed)

    def _of_attempt(self, live: LiveSandbox, taken: Taken, row: dict[str, Any], item: Attempted) -> Emit:
        state = live.core.state
        job: Any = state.callbacks.find(item.job) or state.deliveries.find(item.job)
        sent = live.courier.sent.find(item.job, item.number)
        trace_id, span_id = sent_trace(sent.headers) if sent is not None else ("", "")
        belongs = live.courier.trace_of(job)
        mask = mask_of(live, self._sandboxes)
        context = _parent(belongs if belongs is not None and belongs.trace_id == trace_id else None, mask)
        attributes = _filled(
            mask,
            {
                "http.request.method": row["method"],
                "url.full": row["url"],
                "http.response.status_code": row["answered"] or 0,
                "http.request.resend_count": item.number - 1,
                "error.type": "" if row["ending"] == "answered" else row["ending"],
                "reseller_sim.sandbox": taken.sandbox,
            }
            | {f"reseller_sim.{name}": row.get(name, "") for name in OF_ATTEMPTS},
        )
        failed = row["answered"] is None or row["answered"] >= REFUSED_FROM
        began = taken.wall - timedelta(microseconds=row["duration_us"] or 0)
        planned = int(span_id, 16) if context is not None and span_id else 0
        name = f"{row['method']} {row['kind']}"
        return lambda: self._emit(name, SpanKind.CLIENT, context, attributes, began, taken.wall, failed, planned)

    def _emit(
        self,
        name: str,
        kind: SpanKind,
        context: Any,
        attributes: dict[str, Any],
        began: datetime,
        ended: datetime,
        failed: bool,
        planned: int = 0,
    ) -> None:
        self._ids.planned = planned
        start_ns = _nanoseconds(began)
        around = context if context is not None else trace.set_span_in_context(trace.INVALID_SPAN)
        span = self._tracer.start_span(name, around, kind, attributes, start_time=start_ns)
        self._ids.planned = 0
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(max(start_ns, _nanoseconds(ended)))


def _nothing() -> None:
    """Of events that are missing there are no spans."""


def _filled(mask: Mask, attributes: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty, and without secrets, which a client may have written anywhere."""
    return {
        name: mask.text(value) if isinstance(value, str) else value
        for name, value in attributes.items()
        if value not in ("", 0)
    }


def _parent(belongs: TraceContext | None, mask: Mask) -> Any:
    """The span of the client, as the parent of others; with its state, unless that has a secret."""
    if belongs is None:
        return None
    members = [belongs.state] if belongs.state and mask.text(belongs.state) == belongs.state else []
    flags, state = TraceFlags(belongs.flags), TraceState.from_header(members)
    parent = SpanContext(int(belongs.trace_id, 16), int(belongs.parent_id, 16), True, flags, state)
    return trace.set_span_in_context(NonRecordingSpan(parent))


def _nanoseconds(at: datetime) -> int:
    """Since 1970, to the microsecond."""
    whole = int(at.timestamp())
    return (whole * 1_000_000 + at.microsecond) * MICROSECOND_NS
