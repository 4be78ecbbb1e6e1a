"""The connection of a client: uvicorn constructs an `HttpProtocol` for each socket.

A connection has two halves, which share the queue of unanswered requests. This module has the half that reads: it gives
packets to the `RequestReader`, which appends requests to the queue, sets deadlines for the client, and pauses reading
while too much waits. The other half, the `AnswerQueue`, answers the oldest request at the end of the event loop's turn,
when the `ResponseBatcher` calls it, and then calls `on_turn_end`.

The state of the reader says what is awaited:

    IDLE, HEAD, LATE_HEAD  a request; the rest of a head that began in this packet; the rest of an earlier or first head
    BODY                   the rest of a body, which is dropped if its request was answered (`arriving` is None)
    ENDED                  nothing: bytes are dropped, and the queue is still answered

`eof_received` and `shutdown` answer requests, and then close. A connection ends in one of these ways:

    close            sends everything that was written, and drops the requests that wait
    linger           as `close`, and gives a client that still sends the time to read
    hang_up          as `close`, but sends nothing more, and the application sees that its client has left
    connection_lost  by the client, or after the other ways: executes requests that wait, until one needs a task
"""

import asyncio
from functools import partial
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.answer_queue import AnswerQueue, ResponseBatcher
from simulator.server.foreign_clients import ForeignClients
from simulator.server.message import HttpRefusal, HttpRequest, RequestMemoryBudget
from simulator.server.pace import AnswerWriter, ClientDeadline
from simulator.server.request_reader import BODY, ENDED, HEAD, IDLE, LATE_HEAD, QUEUED_MAX, RequestReader
from simulator.server.responder import Application
from simulator.server.transports import GatedTransport, OutputGate

HIGH_WATER_BYTES: Final = 65536  # the size of the unread part of a body at which the connection pauses reading


class HttpProtocol(asyncio.Protocol):
    """A connection of a client. uvicorn passes the keyword arguments."""

    def __init__(
        self,
        app: Application,
        budget: RequestMemoryBudget,
        batcher: ResponseBatcher,
        gate: OutputGate | None = None,
        foreign: ForeignClients | None = None,
        *,
        config: Config,
        server_state: ServerState,
        **_: Any,
    ) -> None:
        self._limits = budget.limits
        self._gate = gate
        self._foreign = foreign or ForeignClients()
        self._keep_alive_s = config.timeout_keep_alive
        self._connections: set[Any] = server_state.connections  # uvicorn stops these,
        self.tasks = server_state.tasks  # and waits for these
        self.default_lines = partial(batcher.default_lines, server_state)
        self.must_close = asyncio.Event()  # the client has left, or the server stops
        self.may_have_left = asyncio.Event()  # the same, or the client has closed its sending side
        self.reader = RequestReader(budget)
        self.writer = AnswerWriter(budget, self.hang_up)
        self._batcher = batcher
        self._answers = AnswerQueue(self, self.reader.queue, app, batcher)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        direct = cast(asyncio.Transport, transport)
        gated = direct if self._gate is None else cast(asyncio.Transport, GatedTransport(direct, self._gate))
        self._transport = self.writer.transport = gated
        self._connections.add(self)
        # Both are missing when the client has already left.
        self.client: tuple[Any, ...] = transport.get_extra_info("peername") or ("", 0)
        self.server: tuple[Any, ...] = transport.get_extra_info("sockname") or ("", 0)
        self.scheme = "http" if transport.get_extra_info("ssl_object") is None else "https"
        self._deadline = ClientDeadline(self._on_deadline, self._limits)
        if len(self._connections) > self._limits.connections:
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse a packet, or with b"" the reader's `unparsed` bytes. The batcher answers the first request."""
        reader, answers = self.reader, self._answers
        if reader.state is ENDED:
            return
        continued = reader.arriving if reader.state is BODY else None  # the request whose body this packet continues
        try:
            reader.feed(data)
        except HttpRefusal as refusal:
            self._refuse(self._foreign.explained(data, reader.url, refusal, is_tls=self.scheme == "https"))
        is_answered_next = answers.responder is None and len(reader.queue) == 1 and reader.state is IDLE
        if answers.responder is None:
            self._batcher.add(answers)
        else:
            answers.wake(continued)
        if is_answered_next and len(data) <= self._limits.small_body_bytes:
            return  # it holds little for a short time, and the client owes nothing: no charge, deadline or pause
        self._charge()
        if reader.state is not ENDED:
            self._set_deadline(continued)
            self._pause_if_full()

    def _set_deadline(self, continued: HttpRequest | None) -> None:
        reader = self.reader
        if reader.state is HEAD:
            reader.state = LATE_HEAD
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._deadline.await_body(is_new=reader.arriving is not continued)

    def _pause_if_full(self) -> None:
        arriving, unanswered = self.reader.arriving, len(self.reader.queue)
        is_after_task = unanswered > 1 and arriving is None and self._answers.responder is not None  # which may be long
        has_much_body = arriving is not None and len(arriving.body) > HIGH_WATER_BYTES
        if has_much_body or unanswered >= QUEUED_MAX or is_after_task:
            self._transport.pause_reading()  # until a responder asks for the body, or no request waits

    def _charge(self) -> None:
        """Charge the bytes that the connection holds to the budget. If they do not fit, refuse what is being read,
        which ends reading, and then the newest of the queue, until the others fit."""
        while (refusal := self.reader.charge()) is not None:
            if self.reader.state is not ENDED:
                self._refuse(refusal)
            else:
                self._answers.refuse(refusal, self.reader.queue[-1])

    def _refuse(self, refusal: HttpRefusal) -> None:
        """End reading, and answer what is being read with a refusal, unless it is a body whose request was answered."""
        request = self.reader.arriving
        is_answered_body = self.reader.state is BODY and request is None
        self.reader.refuse(refusal)
        if is_answered_body:
            self.linger()
        else:
            self._answers.refuse(refusal, request)

    def on_turn_end(self) -> None:
        """Continue when as much of the queue is answered as possible: release memory, resume reading if no request
        waits, and start the keep-alive time if the connection is idle."""
        reader, is_in_task = self.reader, self._answers.responder is not None
        if reader.charged or is_in_task:  # reading is never paused without charged bytes
            self._charge()
            waiting = len(reader.queue) - is_in_task
            if not waiting and reader.arriving is None:
                self.resume_reading()
        if reader.state is IDLE and not reader.queue:
            self._deadline.set(self._keep_alive_s)

    def resume_reading(self) -> None:
        """Parse what is unparsed, or resume reading. The deadline for the client's next bytes starts again."""
        if self.reader.state is BODY:
            self._deadline.await_body(is_new=False)
        if self.reader.unparsed:
            self.data_received(b"")
            if self.reader.queue:
                return
        if not (self._transport.is_closing() or self._transport.is_reading()):
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def _on_deadline(self) -> None:
        """Refuse a request that did not arrive in time, and close an idle connection."""
        state, request = self.reader.state, self.reader.arriving
        if state is ENDED:
            return
        if state is IDLE:
            if not self.reader.queue:
                self.close()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.await_body(is_new=True)  # again, also for a head: it was the server that did not read
        elif state is BODY:
            self._refuse(self._deadline.late_body())
        else:
            self._refuse(HttpRefusal("head_timeout", self._limits.head_timeout_s))

    # Writing

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writer.pause()

    def resume_writing(self) -> None:
        """Resume answers, and answer what was read meanwhile."""
        self.writer.resume()
        self._batcher.add(self._answers)

    # The end of the connection

    def eof_received(self) -> bool:
        """Answer the queue after the client has closed its sending side. A client that has left looks the same, until
        writing to it fails. asyncio keeps the connection open when this returns True."""
        self.reader.end()
        self.may_have_left.set()
        is_waiting = self._answers.finish()
        for request in self.reader.queue:
            request.report_departure()
            self._answers.wake(request)
        if is_waiting:
            self._deadline.on_due = self._give_up
            self._deadline.set(self._limits.half_closed_s)
        return self.scheme == "http"  # within TLS, close_notify ends both directions

    def _give_up(self) -> None:
        """Hang up on a client that has closed its sending side, and whose answer has not begun in time."""
        if self._answers.is_sending:  # which shows whether the client has left
            self._deadline.set(self._limits.half_closed_s)
        else:
            self.hang_up()

    def shutdown(self) -> None:
        """Answer at most two requests of the queue, and close; uvicorn calls it when the server stops."""
        del self.reader.queue[2:]  # perhaps the arriving request, too, and then reading ends
        if self.reader.arriving is None:
            self.reader.end()
        self.must_close.set()
        self.may_have_left.set()
        self._answers.finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything; asyncio calls it at the end of every connection."""
        self.reader.end()
        self._connections.discard(self)
        self.writer.resume()
        self.must_close.set()
        self.may_have_left.set()
        self._answers.on_connection_lost()
        self._deadline.timer.cancel()

    def end_after_answer(self) -> None:
        """Close after an answer that is the last. A client that still sends its body has time to read it."""
        if self.reader.state is BODY:
            self.linger()
        else:
            self.close()

    def close(self) -> None:
        """Close once everything was written."""
        self._end_reading()
        self.writer.close()

    def linger(self) -> None:
        """Close as `close` does, but only after the client has closed its side, or `linger_s` later. A connection that
        is closed with unread bytes is reset, and the client could lose the last answer."""
        self._end_reading()
        self.writer.flush()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            if self.scheme == "http":  # within TLS one side cannot be closed alone
                self._transport.write_eof()
            self._deadline.on_due = self.writer.close
            self._deadline.set(self._limits.linger_s)

    def hang_up(self) -> None:
        """Close at once, without writing the rest. The application sees that its client has left."""
        self._answers.abandon()
        self.close()
        self._transport.abort()
        self.writer.resume()

    def _end_reading(self) -> None:
        self._answers.drop()
        self.reader.end()
        self.reader.charge()  # less than before, which is never refused
