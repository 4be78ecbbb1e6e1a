"""A client connection: uvicorn constructs an `HttpProtocol` for each socket. It reads requests, answers them in order,
and sets the deadlines.

1. `data_received` gives bytes to the `RequestReader`, which queues requests.
2. At the end of the event loop's turn, the `ResponseBatcher` calls `answer_next` for the oldest request.
3. `_answer_at_once` lets the application's `answer_now` answer a complete request without a task.
4. Other requests get a `Responder` in a task (`_begin_task`), which calls `on_answer_sent` at the end.
5. The `AnswerWriter` writes. A refusal (`_refuse`) is written after the earlier answers.

A connection ends with `close`, which first sends everything that was written; with `linger`, which also gives a client
that still sends the time to read; or with `hang_up`, at once. `_close_after_answers` first answers the queue, when the
client has ended its sending side or the server stops. From the `ReadingState` DRAINING on, bytes are dropped.
"""

import asyncio
from functools import partial
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server import request_reader as reading
from simulator.server.answer_queue import ClientDeadline, ResponseBatcher
from simulator.server.foreign_clients import ForeignClients
from simulator.server.message import BODYLESS, STATUS_LINE, HttpRefusal, HttpRequest, RequestMemoryBudget
from simulator.server.responder import BEGUN, AnswerNow, Application, FirstResult, Responder, resume
from simulator.server.transports import AnswerWriter, GatedTransport, OutputGate

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
        # Shared by all connections of the server
        self._loop = asyncio.get_running_loop()
        self._app = app
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._budget = budget
        self._limits = budget.limits
        self._batcher = batcher
        self._gate = gate
        self._foreign = foreign or ForeignClients()
        self._keep_alive_s = config.timeout_keep_alive
        self._server_state = server_state  # uvicorn stops its connections and tasks
        self.default_lines = partial(batcher.default_lines, server_state)
        # Of this connection
        self.reader = reading.RequestReader(budget.limits)
        self.writer = AnswerWriter(budget, self.hang_up)
        self.must_close = asyncio.Event()  # the client has left, or the server stops
        self.may_have_left = asyncio.Event()  # the same, or the client has closed its sending side
        self._responder: Responder | None = None  # answers one request in a task
        self._refusal = b""  # encoded, since the exception would keep the packet in its traceback
        self._charged = 0  # bytes that are charged to the budget
        self._is_queue_full = False  # reading is paused until the requests that were read are answered
        self._is_half_closed = False  # the client has closed its sending side, and waits for answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        direct = cast(asyncio.Transport, transport)
        gated = direct if self._gate is None else cast(asyncio.Transport, GatedTransport(direct, self._gate))
        self._transport = self.writer.transport = gated
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        # Both are missing when the client has already left.
        self.client: tuple[Any, ...] = transport.get_extra_info("peername") or ("", 0)
        self.server: tuple[Any, ...] = transport.get_extra_info("sockname") or ("", 0)
        self.scheme = "http" if transport.get_extra_info("ssl_object") is None else "https"
        self._deadline = ClientDeadline(self._loop, self._on_deadline, self._limits)
        if len(self._server_state.connections) > self._limits.connections:
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse a packet, or with b"" the reader's `unparsed` bytes. A later step of the turn answers the requests."""
        reader, responder = self.reader, self._responder
        if reader.state >= reading.DRAINING:
            return
        request = reader.request  # the packet continues its body
        if request is not None and data and request.body:
            request.is_plain = False  # a responder reads a body that comes in several packets, by ASGI
        try:
            is_one_slice = 0 < len(data) <= reading.SLICE_BYTES and not reader.unparsed
            has_late_head = reader.feed(data) if is_one_slice else reader.feed_sliced(data)
        except HttpRefusal as refusal:
            self._refuse(self._foreign.explained(data, reader.url, refusal, is_tls=self.scheme == "https"))
            return
        finally:
            if responder is not None and responder.request is request:  # also if the bytes after its body are refused
                responder.has_input.set()
        if responder is None:
            self._batcher.add(self)
        elif reader.queue and reader.request is None:
            self._transport.pause_reading()  # until `on_answer_sent`
        if reader.unparsed or len(reader.queue) >= reading.QUEUED_MAX:
            self._is_queue_full = True
            self._transport.pause_reading()  # until `answer_next` has answered them
        # A small packet of complete requests, which are answered in this turn, is not charged.
        is_brief = responder is None and reader.state is reading.IDLE and len(data) <= self._limits.small_body_bytes
        needs_charge = self._charged or not is_brief
        if needs_charge and not self._charge():
            return
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is reading.BODY:
            self._deadline.await_body(reader.request)
            if reader.request is not None and len(reader.request.body) > HIGH_WATER_BYTES:
                self._transport.pause_reading()  # until the application receives it

    def _charge(self) -> bool:
        """Charge the bytes that the connection holds to the budget. Return whether they fit. If not, refuse the request
        that is being read, which ends reading; from then on, the newest of the queue, until the others fit."""
        fits = True
        while True:
            total = self.reader.held_bytes + (self._responder.request.weight if self._responder is not None else 0)
            refusal = self._budget.charge(self._charged, total)
            if refusal is None:
                self._charged = total
                return fits
            if self.reader.state < reading.DRAINING:
                self._refuse(refusal)
                return False
            if not self.reader.queue:
                return False
            self.reader.queue.pop()
            self._refusal = self._refusal or refusal.encode(self.default_lines())
            fits = False

    def resume_reading(self) -> None:
        """Resume reading, unless the queue is full. The deadline for the client's next bytes starts again."""
        if self.reader.state is reading.BODY:
            self._deadline.await_body(None)
        if not (self._is_queue_full or self._transport.is_closing() or self._transport.is_reading()):
            self._transport.resume_reading()
            if self.reader.state is reading.LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        """Send the answers to complete requests. End endless waits, since the client may have left. asyncio keeps the
        connection open when this returns True."""
        is_answer_due = self.reader.state is not reading.LINGERING and self._close_after_answers(is_stopping=False)
        self.reader.request = None  # its body is cut off
        for request in self.reader.queue:
            request.report_departure()
        if self._responder is not None:
            self._responder.request.report_departure()
            self._responder.has_input.set()
        if not is_answer_due or self.scheme != "http":  # close_notify ends both directions
            return False
        self._is_half_closed = True
        self._deadline.set(self._limits.half_closed_s)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything after the client has left. Plain requests of the queue are still executed, one in each
        turn, until one needs a task: it runs without its client, and those after it are dropped."""
        self.reader.state = reading.CLOSED
        self._server_state.connections.discard(self)
        self.writer.resume()
        self.must_close.set()
        self.may_have_left.set()
        self.answer_next(self._loop.time())
        self._deadline.end()
        self.reader.end()

    def _on_deadline(self) -> None:
        """Refuse a request that did not arrive in time, and end an idle, lingering or half-closed connection."""
        reader, limits = self.reader, self._limits
        state, request = reader.state, reader.request
        if state is reading.LINGERING:
            self._transport.abort()
        elif state is reading.IDLE:
            if self._responder is None and not reader.queue:
                self.close()
        elif state is reading.DRAINING:
            is_sending = self._responder is not None and self._responder.stage is BEGUN
            if self._is_half_closed and is_sending:  # sending shows whether the client has left
                self._deadline.set(limits.half_closed_s)
            elif self._is_half_closed:
                self.hang_up()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.restart_body()  # we paused reading
        else:
            late_head = HttpRefusal("head_timeout", limits.head_timeout_s)
            self._refuse(self._deadline.late_body() if state is reading.BODY else late_head)

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Stop reading. Send the refusal after the earlier answers, unless its request was already answered."""
        responder, is_in_body = self._responder, self.reader.state is reading.BODY
        request = self.reader.refuse(refusal)
        if request is None:
            is_answered = is_in_body  # the reader drops the body of a request that was answered before its end
        elif responder is not None and responder.request is request:
            is_answered = responder.stage is BEGUN
            responder.end_exchange()
            self._responder = None
        else:
            is_answered = False
            self.reader.queue.pop()
        if is_answered:
            self.linger()
        else:
            self._refusal = refusal.encode(self.default_lines())
            self._charge()
            self._batcher.add(self)

    # Answering

    def answer_next(self, now: float) -> None:
        """Answer the oldest request of the queue. Unless others follow in the next turn, continue or end reading.

        `now`, a time of the loop's clock, is when an idle connection's keep-alive time starts.
        """
        reader = self.reader
        if reader.queue and self._responder is None and not self.writer.is_stalled:
            request = reader.queue.popleft()
            if request.is_whole and request.is_plain:
                self._answer_at_once(request)
            elif request.is_whole or reader.state is not reading.CLOSED:
                self._begin_task(request, None)
            if reader.queue and self._responder is None and not self.writer.is_stalled:
                self._batcher.add(self)
                return
        if self._charged or self._responder is not None:
            self._charge()
        if reader.state is reading.CLOSED:  # the client has left
            if self._responder is not None:
                self._responder.on_client_left()
            self._drop_queue()
        elif self._is_queue_full and not reader.queue and reader.state < reading.DRAINING:
            self._is_queue_full = False  # a request in progress may wait for unparsed bytes
            if reader.unparsed:
                self.data_received(b"")
            self.resume_reading()
        if self._responder is None and not reader.queue:
            if reader.state is reading.IDLE:
                self._deadline.set_at(now + self._keep_alive_s)
            elif self._refusal and reader.state is reading.DRAINING:
                self.writer.write(self._refusal)
                self.linger()

    def _answer_at_once(self, request: HttpRequest) -> None:
        """Answer a plain request by `answer_now`, or in a task what it cannot answer at once and whole."""
        pending, writer = self._answer_now(request, self.client[0]), self.writer
        result: FirstResult = None
        try:
            if pending is not None:
                result = resume(pending, pending.send(None))  # `send` runs it until it waits for a future, or returns
        except StopIteration as done:
            status, lines, body, ending = result = done.value
            if ending is None and status not in BODYLESS and request.method != "HEAD" and not writer.is_stalled:
                writer.unsent += b"".join((STATUS_LINE[status], self.default_lines(), lines, b"\r\n", body))
                return
        except Exception as error:  # logged and answered 500, as for any application
            result = error
        self._begin_task(request, result)

    def _begin_task(self, request: HttpRequest, result: FirstResult) -> None:
        responder = self._responder = Responder(self, request)
        task = self._loop.create_task(responder.run(self._app, result))
        self._server_state.tasks.add(task)
        task.add_done_callback(partial(self._on_task_done, responder))

    def _on_task_done(self, responder: Responder, task: asyncio.Task[None]) -> None:
        self._server_state.tasks.discard(task)
        if self._responder is responder:  # no complete answer was sent; release the charge of the request
            self._responder = None
            self._charge()

    def on_answer_sent(self, request: HttpRequest) -> None:
        """Continue after the complete answer of a responder: answer the next request, or end the connection."""
        self._responder = None
        if self.reader.request is request:
            self.reader.request = None
        self._charge()
        if request.keep_alive:
            self.resume_reading()
            self._batcher.add(self)
        elif self.reader.state is reading.BODY:
            self.linger()
        else:
            self.close()

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writer.pause()

    def resume_writing(self) -> None:
        """Resume answers, and answer what was read meanwhile."""
        self.writer.resume()
        if self.reader.queue:
            self._batcher.add(self)

    # Closing

    def close(self) -> None:
        """Drop the queue, and close once everything was written."""
        self._drop_queue()
        self.writer.close(is_watched=self.reader.state is not reading.CLOSED)

    def _drop_queue(self) -> None:
        self.reader.queue.clear()
        self.reader.unparsed = memoryview(b"")
        self._charge()

    def linger(self) -> None:
        """Close as `close` does, but only after the client has closed its side, or `linger_s` later. A connection that
        is closed with unread bytes is reset, and the client could lose the last answer."""
        self._drop_queue()
        self.writer.flush()
        if not self._transport.is_closing():
            self.reader.state = reading.LINGERING
            self._transport.resume_reading()
            if self.scheme == "http":  # within TLS one side cannot be closed alone
                self._transport.write_eof()
            self._deadline.set(self._limits.linger_s)

    def hang_up(self) -> None:
        """Close at once, without writing the rest. The application sees that its client has left."""
        if self._responder is not None:
            self._responder.on_client_left()
        self.close()
        self._transport.abort()
        self.writer.release()

    def shutdown(self) -> None:
        """Finish the requests that were read and accept no others; uvicorn calls it when the server stops."""
        self.must_close.set()
        if self.reader.state is reading.LINGERING:
            self._transport.abort()
        elif not self._close_after_answers(is_stopping=True):
            self.close()

    def _close_after_answers(self, *, is_stopping: bool) -> bool:
        """Close after the answers to the queue, or after the refusal that follows them. Return whether an answer is
        still to be sent. A server that stops answers only the oldest of the queue, and still reads its body."""
        self.reader.unparsed = memoryview(b"")
        self.answer_next(self._loop.time())
        self.writer.flush()
        self.may_have_left.set()
        while is_stopping and len(self.reader.queue) > 1:
            self.reader.queue.pop()  # there may be many, and a stopping server has no time for them
        unanswered = [*([] if self._responder is None else [self._responder.request]), *self.reader.queue]
        if unanswered:
            if not (is_stopping and self.reader.state is reading.BODY):
                self.reader.state = reading.DRAINING
            if not self._refusal:
                unanswered[-1].keep_alive = unanswered[-1].is_plain = False  # a task answers, and closes
        return bool(unanswered)
