"""A client connection, as uvicorn constructs it: it reads requests, answers them in order, and sets the deadlines.

`data_received` gives bytes to the `RequestReader`, which queues requests. At the end of the event loop's turn the
`ResponseBatcher` calls `answer` for the oldest request. If it is plain and complete, the application's `answer_now`
answers it (`_answer_at_once`), else a `Responder` in a task (`_begin_task`), after which `end_answer` continues.
The `AnswerWriter` writes. A refusal is written after the earlier answers.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.foreign_clients import ForeignClients

from simulator.server.message import (  # isort: skip
    BODYLESS, LINGER_S, SMALL_BODY_BYTES, STATUS_LINE, HttpRefusal, HttpRequest, RequestMemoryBudget,
)  # fmt: skip
from simulator.server.request_reader import (  # isort: skip
    BODY, CLOSED, DRAINING, IDLE, LATE_HEAD, LINGERING, QUEUED_MAX, SLICE_BYTES, RequestReader,
)  # fmt: skip
from simulator.server.answer_writer import AnswerWriter, ClientDeadline, GatedTransport, OutputGate, ResponseBatcher
from simulator.server.responder import BEGUN, AnswerNow, Application, ReadyAnswer, Responder, resume

HIGH_WATER_BYTES: Final = 65536  # the size of the unread part of a body at which the connection pauses reading


class HttpProtocol(asyncio.Protocol):
    """A client connection. The server's connections share `app`, `budget` and `batcher`. uvicorn passes the keyword
    arguments, of which `config` and `server_state` are used.

    `ended` is set when the client has left or the server stops. `may_have_left` is set in these cases, and when the
    client has closed its sending side.
    """

    client: tuple[Any, ...]
    server: tuple[Any, ...]
    scheme = "http"
    _transport: asyncio.Transport
    _deadline: ClientDeadline
    _running: Responder | None = None  # answers one request in a task
    _refusal = b""  # encoded, since the exception would keep the packet in its traceback; sent after earlier answers
    _charged = 0  # bytes that are charged to the budget
    _is_queue_full = False  # reading is paused until the requests that were read are answered
    _is_half_closed = False

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
        self._loop = asyncio.get_running_loop()
        self._app, self._server_state, self._keep_alive_s = app, server_state, config.timeout_keep_alive
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._budget, self._limits, self._batcher = budget, budget.limits, batcher
        self._gate, self._foreign = gate, foreign or ForeignClients()
        self.default_lines = partial(batcher.default_lines, server_state)
        self.reader, self.writer = RequestReader(budget.limits), AnswerWriter(budget, self.hang_up)
        self.ended, self.may_have_left = asyncio.Event(), asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        self._transport = cast(asyncio.Transport, transport)
        if self._gate is not None:
            self._transport = cast(asyncio.Transport, GatedTransport(self._transport, self._gate))
        self.writer.transport = self._transport
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        self.client = transport.get_extra_info("peername") or ("", 0)  # missing when the client has already left
        self.server = transport.get_extra_info("sockname") or ("", 0)
        if transport.get_extra_info("ssl_object") is not None:
            self.scheme = "https"
        self._deadline = ClientDeadline(self._loop, self._on_deadline, self._limits)
        if len(self._server_state.connections) > self._limits.connections:
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse a packet, or with b"" the unparsed end of one. Its requests are answered at the end of the turn."""
        reader, running = self.reader, self._running
        if reader.state >= DRAINING:
            return
        request = reader.request
        if request is not None and data and request.body:
            request.is_plain = False  # only ASGI reads a body that comes in several packets
        try:
            fits_slice = data and len(data) <= SLICE_BYTES and not reader.unparsed
            has_late_head = reader.feed(data) if fits_slice else reader.feed_sliced(data)
        except HttpRefusal as refusal:
            self._refuse(self._foreign.explained(data, reader.url, refusal, is_within_tls=self.scheme == "https"))
            return
        finally:
            if running is not None and running.request is request:  # also if the bytes after its body are refused
                running.has_input.set()
        if running is None:
            self._batcher.add(self)
        elif reader.requests and reader.request is None:
            self._transport.pause_reading()
        if reader.unparsed or len(reader.requests) >= QUEUED_MAX:
            self._is_queue_full = True
            self._transport.pause_reading()
        must_charge = self._charged or len(data) > SMALL_BODY_BYTES or reader.state is not IDLE or running is not None
        if must_charge and not self._charge():
            return
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._deadline.await_body(reader.request)
            if reader.request is not None and len(reader.request.body) > HIGH_WATER_BYTES:
                self._transport.pause_reading()

    def _charge(self) -> bool:
        """Charge the bytes that the connection holds to the budget. Return whether they fit. If not, refuse the
        request that is being read, or else the newest waiting requests."""
        fits = True
        while True:
            total = self.reader.held_bytes + (self._running.request.weight if self._running is not None else 0)
            try:
                self._budget.charge(self._charged, total)
            except HttpRefusal as refusal:
                if self.reader.state < DRAINING:
                    self._refuse(refusal)
                    return False
                if not self.reader.requests:
                    return False
                self.reader.requests.pop()
                self._refusal = self._refusal or refusal.encode(self.default_lines())
                fits = False
            else:
                self._charged = total
                return fits

    def resume_reading(self) -> None:
        """Resume reading if it was paused; the client's deadline for a pause starts again."""
        if self.reader.state is BODY:
            self._deadline.await_body(None)
        if not (self._is_queue_full or self._transport.is_closing() or self._transport.is_reading()):
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        """Send the answers to complete requests. End endless waits, since the client may have left. asyncio keeps the
        connection open when this returns True."""
        has_more = self.reader.state is not LINGERING and self._close_after_answers(is_stopping=False)
        self.reader.request = None  # its body is cut off
        for request in self.reader.requests:
            request.report_departure()
        if self._running is not None:
            self._running.request.report_departure()
            self._running.has_input.set()
        if not has_more or self.scheme != "http":  # close_notify ends both directions
            return False
        self._is_half_closed = True
        self._deadline.set(self._limits.half_closed_s)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Execute the requests that arrived completely before the client left, and release everything."""
        self.reader.state = CLOSED
        self._server_state.connections.discard(self)
        self.writer.resume()
        self.ended.set()
        self.may_have_left.set()
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
            is_sending = self._running is not None and self._running.stage is BEGUN
            if self._is_half_closed and is_sending:  # sending shows whether the client has left
                self._deadline.set(limits.half_closed_s)
            elif self._is_half_closed:
                self.hang_up()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.restart_body()  # we paused reading
        elif state is BODY:
            self._refuse(self._deadline.late_body())
        else:
            self._refuse(HttpRefusal("head_timeout", limits.head_timeout_s))

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Stop reading. Send the refusal after the earlier answers, unless its request was already answered."""
        running, in_body = self._running, self.reader.state is BODY
        request = self.reader.refuse(refusal)
        is_answered = in_body and request is None
        if running is not None and running.request is request:
            is_answered = running.stage is BEGUN
            running.end()
            self._running = None
        elif request is not None:
            self.reader.requests.pop()
        if is_answered:
            self.linger()
        else:
            self._refusal = refusal.encode(self.default_lines())
            self._charge()
            self._batcher.add(self)

    # Answering

    def answer(self, now: float) -> None:
        """Answer the oldest waiting request; the others follow in the next turns. If none waits, the keep-alive time
        starts at `now`, a time of the loop's clock."""
        reader = self.reader
        if reader.requests and self._running is None and not self.writer.is_stalled:
            request = reader.requests.popleft()
            if request.is_whole and request.is_plain:
                self._answer_at_once(request)
            elif request.is_whole or reader.state is not CLOSED:
                self._begin_task(request, None)
            if reader.requests and self._running is None and not self.writer.is_stalled:
                self._batcher.add(self)
                return
        if self._charged or self._running is not None:
            self._charge()
        if reader.state is CLOSED:
            if self._running is not None:
                self._running.end_without_client()
            self._drop_requests()
        elif self._is_queue_full and not reader.requests and reader.state < DRAINING:
            self._is_queue_full = False  # a request in progress may wait for unparsed bytes
            if reader.unparsed:
                self.data_received(b"")
            self.resume_reading()
        if self._running is None and not reader.requests:
            if reader.state is IDLE:
                self._deadline.set_at(now + self._keep_alive_s)
            elif self._refusal and reader.state is DRAINING:
                self.writer.write(self._refusal)
                self.linger()

    def _answer_at_once(self, request: HttpRequest) -> None:
        ready: ReadyAnswer | Awaitable[ReadyAnswer] | Exception | None = None
        pending, writer = self._answer_now(request, self.client[0]), self.writer
        if pending is not None:
            try:
                ready = resume(pending, pending.send(None))
            except StopIteration as done:
                status, lines, body, ending = ready = done.value
                if ending is None and status not in BODYLESS and request.method != "HEAD" and not writer.is_stalled:
                    writer.unsent += b"".join((STATUS_LINE[status], self.default_lines(), lines, b"\r\n", body))
                    return
            except Exception as error:  # logged and answered 500, as for any application
                ready = error
        self._begin_task(request, ready)

    def _begin_task(self, request: HttpRequest, ready: ReadyAnswer | Awaitable[ReadyAnswer] | Exception | None) -> None:
        """Answer a request in a task: by the application, or by `ready`, the result of its `answer_now`."""
        responder = self._running = Responder(self, request)
        task = self._loop.create_task(responder.run(self._app, ready))
        self._server_state.tasks.add(task)
        task.add_done_callback(partial(self._end_task, responder))

    def _end_task(self, responder: Responder, task: asyncio.Task[None]) -> None:
        self._server_state.tasks.discard(task)
        if self._running is responder:  # it ended without a complete answer; release its request's charge
            self._running = None
            self._charge()

    def end_answer(self, request: HttpRequest) -> None:
        """Continue after a complete answer: answer the next request, wait for the client, or close."""
        self._running = None
        if self.reader.request is request:
            self.reader.request = None
        self._charge()
        if request.keep_alive:
            self.resume_reading()
            self._batcher.add(self)
        elif self.reader.state is BODY:
            self.linger()
        else:
            self.close()

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writer.pause()

    def resume_writing(self) -> None:
        """Resume answers, and answer what was read meanwhile."""
        self.writer.resume()
        if self.reader.requests:
            self._batcher.add(self)

    # Closing

    def close(self) -> None:
        """Close once everything was written; waiting requests are dropped."""
        self._drop_requests()
        self.writer.close(is_watched=self.reader.state is not CLOSED)

    def _drop_requests(self) -> None:
        self.reader.requests.clear()
        self.reader.unparsed = memoryview(b"")
        self._charge()

    def linger(self) -> None:
        """Close our side once everything was written, and the connection once the client has closed its own."""
        self._drop_requests()
        self.writer.flush()
        if not self._transport.is_closing():
            self.reader.state = LINGERING
            self._transport.resume_reading()
            if self.scheme == "http":  # within TLS one side cannot be closed alone
                self._transport.write_eof()
            self._deadline.set(LINGER_S)

    def hang_up(self) -> None:
        """Close now; the application sees that its client has left."""
        if self._running is not None:
            self._running.end_without_client()
        self.close()
        self._transport.abort()
        self.writer.release()

    def shutdown(self) -> None:
        """Finish the requests that were read and accept no others; uvicorn calls it when the server stops."""
        self.ended.set()
        if self.reader.state is LINGERING:
            self._transport.abort()
        elif not self._close_after_answers(is_stopping=True):
            self.close()

    def _close_after_answers(self, *, is_stopping: bool) -> bool:
        """Close after the last answer: the refusal, or the answer to the newest request. Return whether any answer is
        still to be sent. A stopping server still reads the body that has begun."""
        self.reader.unparsed = memoryview(b"")
        self.answer(self._loop.time())
        self.writer.flush()
        self.may_have_left.set()
        while is_stopping and len(self.reader.requests) > 1:
            self.reader.requests.pop()  # there may be hundreds, and a stopping server has no time for them
        unanswered = [*([] if self._running is None else [self._running.request]), *self.reader.requests]
        if unanswered:
            if not (is_stopping and self.reader.state is BODY):
                self.reader.state = DRAINING
            if not self._refusal:
                unanswered[-1].keep_alive = unanswered[-1].is_plain = False  # a task answers, and closes
        return bool(unanswered)
