"""The answering side of a connection: requests that were read are answered in order, at the end of a turn or in a task.

The application's `answer_now` answers a plain and complete request; any other is answered in a task.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Generator
from functools import partial
from types import coroutine
from typing import Any, Final

from uvicorn.server import ServerState

from simulator.server.intake import Intake
from simulator.server.limits import HttpRefusal
from simulator.server.message import BODYLESS, STATUS_LINE, HttpRequest
from simulator.server.reading import BODY, CLOSED, DRAINING, IDLE, SENT, RequestReader
from simulator.server.responder import AnswerNow, Application, PendingAnswer, ReadyAnswer, Responder
from simulator.server.turn import SHARE, Deadline, Turn
from simulator.server.writing import HIGH_WATER_BYTES, WritingSide

_LINGER_S: Final = 2.0  # how long a client may go on sending after its last answer


@coroutine
def resume(pending: PendingAnswer, waits_for: Any) -> Generator[Any, Any, ReadyAnswer]:
    """Continue a coroutine after its first step, which ended by waiting for the future `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation; the coroutine handles it
                waits_for = pending.throw(error)
            else:
                waits_for = pending.send(sent)
    except StopIteration as done:
        answer: ReadyAnswer = done.value
        return answer


class AnsweringSide(WritingSide):
    """What a connection answers, and how it closes."""

    client: tuple[Any, ...]
    server: tuple[Any, ...]
    scheme = "http"
    _deadline: Deadline

    def __init__(
        self, app: Application, intake: Intake, turn: Turn, server_state: ServerState, keep_alive_s: float
    ) -> None:
        super().__init__(intake)
        self.ended = asyncio.Event()  # set when the client has left or the server stops
        self.may_have_left = asyncio.Event()  # set then, and when the client has closed its side: it may have left
        self.reader = RequestReader(intake.limits)
        self._app = app
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._turn = turn
        self.default_lines = partial(turn.default_lines, server_state)
        self._keep_alive_s = keep_alive_s
        self._server_state = server_state
        self._running: Responder | None = None  # answers one request in a task
        self._refusal = b""  # sent after the answers before it; the exception would keep the packet in its traceback
        self._held = 0  # bytes that are charged
        self._is_full = False  # reading is paused until the requests that were read are answered

    @abstractmethod
    def read_on(self) -> None:
        """Resume reading if it was paused; the client's deadline for a pause starts again."""

    @abstractmethod
    def _read_on_after_full(self) -> None:
        """Read what was left when the queue was full."""

    def answer(self, now: float) -> None:
        """Answer the requests that were read, oldest first, until one has to wait, and at most a `SHARE`: the others
        follow in the next turn. The keep-alive time starts at `now`, a time of the loop's clock."""
        reader, left = self.reader, SHARE
        while reader.requests and self._running is None and self.writable.is_set():
            if not left:
                self._turn.add(self)
                return
            left -= 1
            request = reader.requests.popleft()
            if request.is_whole and request.is_plain:
                self._answer_at_once(request)
            elif request.is_whole or reader.state is not CLOSED:
                self._start(request, None)
        if self._held or self._running is not None:
            self._settle()
        if reader.state is CLOSED:
            self._forget()
        elif self._is_full and not reader.requests and reader.state < DRAINING:
            self._read_on_after_full()  # which the request in progress may wait for
        if self._running is None and not reader.requests:
            if reader.state is IDLE:
                self._deadline.set_at(now + self._keep_alive_s)
            elif self._refusal and reader.state is DRAINING:
                self.write(self._refusal)
                self.linger()

    def _forget(self) -> None:
        """Let a request in progress know that its client has left, and drop those behind it."""
        if self._running is not None:
            self._running.lose()
        self._drop()

    def _drop(self) -> None:
        """Drop the requests that were read and not answered."""
        self.reader.requests.clear()
        self.reader.rest = memoryview(b"")
        self._settle()

    def _charge(self) -> None:
        """Charge what the connection holds now. Raises HttpRefusal if it is more than fits."""
        held = self.reader.held + (self._running.request.weight if self._running is not None else 0)
        self._intake.charge(self._held, held)
        self._held = held

    def _settle(self) -> None:
        """Charge what is held after a change. The newest of the requests that wait are refused if they do not fit."""
        while True:
            try:
                self._charge()
            except HttpRefusal as refusal:
                if self.reader.requests:
                    self.reader.requests.pop()
                    if self.reader.state < DRAINING:
                        self.reader.refuse(refusal)
                    self._refusal = self._refusal or refusal.encode(self.default_lines())
                    continue
            return

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
                    if len(self._unsent) > HIGH_WATER_BYTES:
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
        task.add_done_callback(partial(self._end_task, responder))

    def _end_task(self, responder: Responder, task: asyncio.Task[None]) -> None:
        self._server_state.tasks.discard(task)
        if self._running is responder:  # it has not finished its answer, and until now it had its request
            self._running = None
            self._settle()

    def resume_writing(self) -> None:
        """Resume answers, and answer what was read meanwhile."""
        super().resume_writing()
        if self.reader.requests:
            self._turn.add(self)

    def finished(self, request: HttpRequest) -> None:
        """Continue after a complete answer: with the next request, the refusal, or by waiting for the client."""
        self._running = None
        if self.reader.request is request:
            self.reader.request = None
        self._settle()
        if request.keep_alive:
            self.read_on()
            self._turn.add(self)
        elif self.reader.state is BODY:
            self.linger()
        else:
            self.close()

    # Closing

    def close(self) -> None:
        """Close once everything was written; other requests are dropped."""
        self._drop()
        self.flush()
        if not self._transport.is_closing():  # asyncio's TLS has no buffer any more when it is closed twice
            self._transport.close()
        if self.reader.state is not CLOSED:
            self._watch()

    def linger(self) -> None:
        """Close our side once everything was written, and the connection once the client has closed its own."""
        self._drop()
        self.flush()
        if not self._transport.is_closing():
            self.reader.move(SENT)
            self._transport.resume_reading()
            if self.scheme == "http":  # within TLS one side cannot be closed alone
                self._transport.write_eof()
            self._deadline.set(_LINGER_S)

    def hang_up(self) -> None:
        """Close now; the application sees that its client has left."""
        if self._running is not None:
            self._running.lose()
        self._evictions.forget(self)
        self.close()
        self._transport.abort()
