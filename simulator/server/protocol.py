"""One client connection, as uvicorn constructs it: it reads requests, answers them in order, and sets the deadlines.

At the end of the event loop's turn the connection answers the requests that were read, oldest first, until one has to
wait. The application's `answer_now` answers a plain and complete request; any other is answered in a task.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.intake import Intake
from simulator.server.limits import HttpRefusal
from simulator.server.message import BODYLESS, STATUS_LINE, HttpRequest

from simulator.server.reading import (  # isort: skip
    BODY, CLOSED, DRAINING, EOF, IDLE, LATE_HEAD, LINGERING, LOST, SENT, STOP, ReadingEvent, RequestReader,
)  # fmt: skip
from simulator.server.responder import BEGUN, AnswerNow, Application, ReadyAnswer, Responder, resume
from simulator.server.turn import Deadline, Turn

_LINGER_S: Final = 2.0  # how long a client may go on sending after its last answer
_HIGH_WATER_BYTES: Final = 65536  # of a body, or of answers, that are held before the other side has to take some


class HttpProtocol(asyncio.Protocol):
    """One client connection. `app`, `intake` and `turn` are shared by the server's connections. uvicorn passes the
    keyword arguments; `config` and `server_state` are used."""

    client: tuple[Any, ...]
    server: tuple[Any, ...]
    _transport: asyncio.Transport
    _deadline: Deadline
    _body_due = 0.0  # when the body that is being read has to be here, by the loop's clock

    def __init__(
        self, app: Application, intake: Intake, turn: Turn, *, config: Config, server_state: ServerState, **_: Any
    ) -> None:
        self.ended = asyncio.Event()  # set when the client has left or the server stops
        self.may_have_left = asyncio.Event()  # set then, and when the client has closed its side: it may have left
        self.writable = asyncio.Event()  # cleared while the client does not read our answers
        self.writable.set()
        self._app = app
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._intake, self._limits = intake, intake.limits
        self._turn = turn
        self.default_lines = partial(turn.default_lines, server_state)
        self._keep_alive_s = config.timeout_keep_alive
        self._server_state = server_state
        self._loop = asyncio.get_running_loop()
        self.reader = RequestReader(intake.limits)
        self._running: Responder | None = None  # answers one request in a task
        self._refusal: HttpRefusal | None = None  # sent after the answers before it
        self._unsent = b""  # written at the end of the turn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        self._transport = cast(asyncio.Transport, transport)
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        self.client = transport.get_extra_info("peername") or ("", 0)  # missing when the client has already left
        self.server = transport.get_extra_info("sockname") or ("", 0)
        self._deadline = Deadline(self._loop, self._on_deadline, self._limits.head_timeout_s)
        if len(self._server_state.connections) > self._limits.connections:
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    # Reading

    def data_received(self, data: bytes) -> None:
        """Read bytes. Refuse them, or let the requests be answered at the end of the turn."""
        reader, running = self.reader, self._running
        if reader.state >= DRAINING:
            return
        request = reader.request
        try:
            has_late_head = reader.feed(data)
        except HttpRefusal as refusal:
            self._refuse(refusal)
            return
        finally:
            if running is not None and running.request is request:  # also if refused bytes follow the end of its body
                running.has_input.set()
        if running is None:
            self._turn.add(self)
        elif reader.requests and reader.request is None:
            self._transport.pause_reading()
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._await_body(len(data))

    def _await_body(self, arrived: int) -> None:
        """Charge a packet that ended within a body, and wait for the next. A body that nobody reads is not charged."""
        request = self.reader.request
        if request is not None:
            if not request.held:
                self._body_due = self._loop.time() + self._limits.body_total_s
            try:
                self._intake.take(request, arrived)
            except HttpRefusal as refusal:
                self._refuse(refusal)
                return
            if len(request.body) > _HIGH_WATER_BYTES:
                self._transport.pause_reading()
        self._set_body_deadline()

    def _set_body_deadline(self) -> None:
        self._deadline.set_at(min(self._loop.time() + self._limits.body_timeout_s, self._body_due))

    def read_on(self) -> None:
        """Resume reading if it was paused; the client's deadline for a pause starts again."""
        if self.reader.state is BODY:
            self._set_body_deadline()
        if not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        """Send the answers that need nothing more of the client, but end endless waits: it may have left altogether."""
        running = None if self.reader.state is LINGERING else self._answer_no_more(EOF)
        self.reader.request = None  # its body is cut off
        if running is not None:
            running.has_input.set()
        return running is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """Execute the requests that arrived completely before the client left, and release everything."""
        self.reader.move(LOST)
        self._server_state.connections.discard(self)
        self.answer(self._loop.time())
        self._intake.drop(self.reader.requests)
        if self._running is not None:
            self._running.leave()
            self._intake.release(self._running.request)
        for event in (self.ended, self.may_have_left, self.writable):
            event.set()
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
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._body_due = self._loop.time() + limits.body_total_s  # we paused reading
            self._set_body_deadline()
        elif state is BODY:
            self._refuse(limits.late_body(self._loop.time() >= self._body_due))
        elif state < DRAINING:
            self._refuse(HttpRefusal("head_timeout", limits.head_timeout_s))

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Stop reading. Answer the earlier requests, then send the refusal unless its request was already answered."""
        running, in_body = self._running, self.reader.state is BODY
        request = self.reader.refuse(refusal)
        is_answered = in_body and request is None
        if running is not None and running.request is request:
            is_answered = running.stage is BEGUN
            running.leave()
            self._running = None
            self._intake.release(running.request)
        elif request is not None:
            self._intake.release(self.reader.requests.pop())
        if is_answered:
            self.linger()
        else:
            self._refusal = refusal
            self._turn.add(self)

    # Writing

    def answer(self, now: float) -> None:
        """Answer the requests that were read, oldest first, until one has to wait. The keep-alive time starts at `now`,
        a time of the loop's clock."""
        reader = self.reader
        while reader.requests and self._running is None:
            request = reader.requests.popleft()
            if request.is_whole and request.is_plain:
                if request.held:
                    self._intake.release(request)
                self._answer_at_once(request)
            elif request.is_whole or reader.state is not CLOSED:
                self._start(request, None)
        if self._running is None:
            if reader.state is IDLE:
                self._deadline.set_at(now + self._keep_alive_s)
            elif self._refusal is not None and reader.state is DRAINING:
                self.write(self._refusal.encode(self.default_lines()))
                self.linger()

    def _answer_at_once(self, request: HttpRequest) -> None:
        ready: ReadyAnswer | Awaitable[ReadyAnswer] | Exception | None = None
        pending = self._answer_now(request, self.client[0])
        if pending is not None:
            try:
                ready = resume(pending, pending.send(None))
            except StopIteration as done:
                status, lines, body, ending = ready = done.value
                if ending is None and status not in BODYLESS and request.method != "HEAD" and self.writable.is_set():
                    self._unsent += b"".join((STATUS_LINE[status], self.default_lines(), lines, b"\r\n", body))
                    if len(self._unsent) > _HIGH_WATER_BYTES:
                        self.flush()
                    return
            except Exception as error:  # logged and answered 500, as for any application
                ready = error
        self._start(request, ready)

    def _start(self, request: HttpRequest, ready: ReadyAnswer | Awaitable[ReadyAnswer] | Exception | None) -> None:
        """Answer a request in a task: by the application, or by what its `answer_now` returned."""
        responder = self._running = Responder(self, request)
        task = self._loop.create_task(responder.run(self._app, ready))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def finished(self, request: HttpRequest) -> None:
        """Continue after a complete answer: with the next request, the refusal, or by waiting for the client."""
        self._running = None
        self._intake.release(request)
        if self.reader.request is request:
            self.reader.request = None
        if request.keep_alive:
            self.read_on()
            self._turn.add(self)
        elif self.reader.state is BODY:
            self.linger()
        else:
            self.close()

    def write(self, data: bytes) -> None:
        """Write after what is buffered until the end of the turn."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Write what is buffered until the end of the turn."""
        unsent, self._unsent = self._unsent, b""
        if unsent and not self._transport.is_closing():
            self._transport.write(unsent)

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """Resume answers."""
        self.writable.set()

    # Closing

    def close(self) -> None:
        """Close once everything was written; other requests are dropped."""
        self._intake.drop(self.reader.requests)
        self.flush()
        self._transport.close()

    def linger(self) -> None:
        """Close our side once everything was written, and the connection once the client has closed its own."""
        self._intake.drop(self.reader.requests)
        self.flush()
        if not self._transport.is_closing():
            self.reader.move(SENT)
            self._transport.resume_reading()
            self._transport.write_eof()
            self._deadline.set(_LINGER_S)

    def shutdown(self) -> None:
        """Finish the requests that were read and accept no others; uvicorn calls it when the server stops."""
        self.ended.set()
        if self.reader.state is LINGERING:
            self._transport.abort()
        elif self._answer_no_more(STOP) is None:
            self.close()

    def _answer_no_more(self, event: ReadingEvent) -> Responder | None:
        """Close after the last answer: the refusal, or that to the newest request. Returns the answer in progress."""
        self.answer(self._loop.time())
        self.flush()
        self.may_have_left.set()
        running = self._running
        if running is not None:
            self.reader.move(event)
            if self._refusal is None:
                [running.request, *self.reader.requests][-1].keep_alive = False
        return running

    def hang_up(self) -> None:
        """Close now; the application sees that its client has left."""
        if self._running is not None:
            self._running.leave()
        self.close()
        self._transport.abort()
