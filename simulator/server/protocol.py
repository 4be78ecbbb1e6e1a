"""One client connection, as uvicorn constructs it: it reads requests, answers them in order, and sets the deadlines.

At the end of the event loop's turn the connection answers the requests that were read, oldest first, until one has to
wait. The application's `answer_now` answers a plain and complete request; any other is answered in a task.
"""

import asyncio
from typing import Any, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.answering import AnsweringSide
from simulator.server.foreign import ForeignClients
from simulator.server.held import Gate, HeldTransport
from simulator.server.intake import SMALL_BODY_BYTES, Intake
from simulator.server.limits import HttpRefusal

from simulator.server.reading import (  # isort: skip
    BODY, DRAINING, EOF, IDLE, LATE_HEAD, LINGERING, LOST, QUEUED_MAX, STOP, ReadingEvent,
)  # fmt: skip
from simulator.server.responder import BEGUN, Application
from simulator.server.turn import SHARE, Deadline, Turn
from simulator.server.writing import HIGH_WATER_BYTES


class HttpProtocol(AnsweringSide):
    """One client connection. `app`, `intake` and `turn` are shared by the server's connections. uvicorn passes the
    keyword arguments; `config` and `server_state` are used."""

    _deadline: Deadline
    _body_due = 0.0  # when the body that is being read has to be here, by the loop's clock

    def __init__(
        self,
        app: Application,
        intake: Intake,
        turn: Turn,
        gate: Gate | None = None,
        foreign: ForeignClients | None = None,
        *,
        config: Config,
        server_state: ServerState,
        **_: Any,
    ) -> None:
        super().__init__(app, intake, turn, server_state, config.timeout_keep_alive)
        self._gate = gate
        self._foreign = foreign or ForeignClients()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        self._transport = cast(asyncio.Transport, transport)
        if self._gate is not None:
            self._transport = cast(asyncio.Transport, HeldTransport(self._transport, self._gate))
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        self.client = transport.get_extra_info("peername") or ("", 0)  # missing when the client has already left
        self.server = transport.get_extra_info("sockname") or ("", 0)
        if transport.get_extra_info("ssl_object") is not None:
            self.scheme = "https"
        self._deadline = Deadline(self._loop, self._on_deadline, self._limits.head_timeout_s)
        if len(self._server_state.connections) > self._limits.connections and not self._evictions.evict():
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    # Reading

    def data_received(self, data: bytes) -> None:
        """Read bytes. Refuse them, or let the requests be answered at the end of the turn."""
        if self.reader.state < DRAINING:
            self._read(data)

    def _read(self, data: bytes) -> None:
        """Parse a packet, or what is left of the last one."""
        reader, running = self.reader, self._running
        request = reader.request
        try:
            has_late_head = reader.feed(data) if data else reader.feed_rest()
        except HttpRefusal as refusal:
            self._refuse(self._foreign.explained(data, reader.url, refusal))
            return
        finally:
            if running is not None and running.request is request:  # also if refused bytes follow the end of its body
                running.has_input.set()
        if running is None:
            self._turn.add(self)
        elif reader.requests and reader.request is None:
            self._transport.pause_reading()
        if reader.rest or len(reader.requests) >= QUEUED_MAX:
            self._is_full = True
            self._transport.pause_reading()
        if (self._held or len(data) > SMALL_BODY_BYTES or reader.state is not IDLE or running is not None) and (
            not self._fits_or_refuse()
        ):
            return
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._await_body()

    def _fits_or_refuse(self) -> bool:
        """Charge what was read. If it does not fit, refuse the request that is being read, or the newest that wait."""
        try:
            self._charge()
        except HttpRefusal as refusal:
            if self.reader.state < DRAINING:
                self._refuse(refusal)
            else:
                self._settle()
            return False
        return True

    def _await_body(self) -> None:
        """Wait for the next packet of a body."""
        request = self.reader.request
        if request is not None:
            if not request.is_late:
                request.is_late = True
                self._body_due = self._loop.time() + self._limits.body_total_s
            if len(request.body) > HIGH_WATER_BYTES:
                self._transport.pause_reading()
        self._set_body_deadline()

    def _set_body_deadline(self) -> None:
        self._deadline.set_at(min(self._loop.time() + self._limits.body_timeout_s, self._body_due))

    def read_on(self) -> None:
        """Resume reading if it was paused; the client's deadline for a pause starts again."""
        if self.reader.state is BODY:
            self._set_body_deadline()
        if not (self._is_full or self._transport.is_closing() or self._transport.is_reading()):
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def _read_on_after_full(self) -> None:
        self._is_full = False
        if self.reader.rest:
            self._read(b"")
        self.read_on()

    def eof_received(self) -> bool:
        """Send the answers that need nothing more of the client, but end endless waits: it may have left altogether."""
        has_more = self.reader.state is not LINGERING and self._answer_no_more(EOF)
        self.reader.request = None  # its body is cut off
        if self._running is not None:
            self._running.has_input.set()
        if has_more and self.scheme != "http":
            return False  # who says farewell within TLS reads no answers either
        if has_more:
            self._evictions.add_half_closed(self)
            self._deadline.set(self._limits.half_closed_s)
        return has_more

    def connection_lost(self, exc: Exception | None) -> None:
        """Execute the requests that arrived completely before the client left, and release everything."""
        self.reader.move(LOST)
        self._server_state.connections.discard(self)
        self._evictions.forget(self)
        self._end_watch()
        for event in (self.ended, self.may_have_left, self.writable):
            event.set()
        self.answer(self._loop.time())
        self._deadline.end()
        self.reader.end()

    def _on_deadline(self) -> None:
        """Refuse a request that did not arrive in time, and close an idle connection."""
        reader, limits = self.reader, self._limits
        state, request = reader.state, reader.request
        if state is LINGERING:
            self._transport.abort()
        elif state is IDLE:
            if self._running is None and not reader.requests:
                self.close()
        elif state is DRAINING:
            self._on_half_closed_for_long()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._body_due = self._loop.time() + limits.body_total_s  # we paused reading
            self._set_body_deadline()
        elif state is BODY:
            self._refuse(limits.late_body(self._loop.time() >= self._body_due))
        else:
            self._refuse(HttpRefusal("head_timeout", limits.head_timeout_s))

    def _on_half_closed_for_long(self) -> None:
        """Give up a client that has closed its side, unless it is being sent an answer: that shows whether it left."""
        if self._evictions.is_half_closed(self):
            if self._running is not None and self._running.stage is BEGUN:
                self._deadline.set(self._limits.half_closed_s)
            else:
                self.hang_up()

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Stop reading. Answer the earlier requests, then send the refusal unless its request was already answered."""
        running, in_body = self._running, self.reader.state is BODY
        request = self.reader.refuse(refusal)
        is_answered = in_body and request is None
        if running is not None and running.request is request:
            is_answered = running.stage is BEGUN
            running.leave()
            self._running = None
        elif request is not None:
            self.reader.requests.pop()
        if is_answered:
            self.linger()
        else:
            self._refusal = refusal.encode(self.default_lines())
            self._settle()
            self._turn.add(self)

    # Closing

    def shutdown(self) -> None:
        """Finish the requests that were read and accept no others; uvicorn calls it when the server stops."""
        self.ended.set()
        if self.reader.state is LINGERING:
            self._transport.abort()
        elif not self._answer_no_more(STOP):
            self.close()

    def _answer_no_more(self, event: ReadingEvent) -> bool:
        """Close after the last answer: the refusal, or that to the newest request. Returns whether one is to come."""
        self.reader.rest = memoryview(b"")
        self.answer(self._loop.time())
        self.flush()
        self.may_have_left.set()
        while event is STOP and len(self.reader.requests) > SHARE:
            self.reader.requests.pop()  # pipelined by the hundred: a stopping server has no time for them
        running = [] if self._running is None else [self._running.request]
        unanswered = [*running, *self.reader.requests]
        if unanswered:
            self.reader.move(event)
            if not self._refusal:
                unanswered[-1].keep_alive = unanswered[-1].is_plain = False  # its answer closes, in a task
        return bool(unanswered)
