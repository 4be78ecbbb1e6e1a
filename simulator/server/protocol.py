"""One client connection, as uvicorn constructs it: it reads requests, answers them in order, and sets the deadlines.

At the end of the event loop's turn the connection answers the requests that were read, oldest first, until one has to
wait. The application's `prompt` answers a plain and complete request; any other is answered in a task.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.deadline import Deadline
from simulator.server.limits import HttpLimits, HttpRefusal
from simulator.server.message import BODYLESS, STATUS_LINE, HttpRequest
from simulator.server.reading import RequestReader
from simulator.server.responder import Responder
from simulator.server.states import BEGUN, BODY, CLOSED, DEAF, EOF, IDLE, LATE_HEAD, LINGERING, LOST, SENT, STOP
from simulator.server.turn import Prompt, PromptAnswer, Turn, resume

_LINGER_S: Final = 2.0  # how long a client may go on sending after its last answer
_HIGH_WATER_BYTES: Final = 65536  # of a body, or of answers, that are held before the other side has to take some


class HttpProtocol(asyncio.Protocol):
    """One client connection. `app`, `limits` and `turn` are shared by the server's connections. uvicorn passes the
    keyword arguments; `config` and `server_state` are used."""

    client: tuple[Any, ...]
    server: tuple[Any, ...]
    _transport: asyncio.Transport

    def __init__(
        self, app: Any, limits: HttpLimits, turn: Turn, *, config: Config, server_state: ServerState, **_: Any
    ) -> None:
        self.ended = asyncio.Event()  # set when the client has left or the server stops
        self.unheard = asyncio.Event()  # set then, and when the client has closed its side: it may have left
        self._drained: asyncio.Event | None = None  # set while the client does not read our answers
        self._app = app
        self._prompt: Prompt = getattr(app, "prompt", lambda *_: None)
        self._limits = limits
        self._turn = turn
        self._keep_alive_s = config.timeout_keep_alive
        self._server_state = server_state
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(self._loop, self._on_deadline)
        self.reader = RequestReader(limits)
        self._running: Responder | None = None  # answers one request in a task
        self._refusal: HttpRefusal | None = None  # sent after the answers before it
        self._unsent = b""  # written at the end of the turn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        self._transport = cast(asyncio.Transport, transport)
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        self.client = transport.get_extra_info("peername") or ("", 0)  # missing when the client has already left
        self.server = transport.get_extra_info("sockname") or ("", 0)
        self._deadline.set(self._limits.head_timeout_s)

    # Reading

    def data_received(self, data: bytes) -> None:
        """Read bytes. Refuse them, or let the requests be answered at the end of the turn."""
        reader, running = self.reader, self._running
        if reader.state >= DEAF:
            return
        request = reader.request
        try:
            has_late_head = reader.feed(data)
        except HttpRefusal as refusal:
            self._refuse(refusal)
            return
        finally:
            if running is not None and running.request is request:  # also if refused bytes follow the end of its body
                running.news.set()
        if running is None:
            self._turn.add(self)
        elif reader.requests and reader.request is None:
            self._transport.pause_reading()
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._deadline.set(self._limits.body_timeout_s)
            if reader.request is not None and len(reader.request.body) > _HIGH_WATER_BYTES:
                self._transport.pause_reading()

    def read_on(self) -> None:
        """Resume reading if it was paused; the client's deadline starts again."""
        if self.reader.state is BODY:
            self._deadline.set(self._limits.body_timeout_s)
        if not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        """Send the answers that need nothing more of the client, but end endless waits: it may have left altogether."""
        running = None if self.reader.state is LINGERING else self._answer_no_more()
        self.reader.request = None  # its body is cut off
        if running is not None:
            self.reader.move(EOF)
            running.news.set()
        return running is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """Execute the requests that arrived completely before the client left, and release everything."""
        self.reader.move(LOST)
        self._server_state.connections.discard(self)
        self._refusal = None
        self.answer(self._loop.time())
        self.reader.requests.clear()
        if self._running is not None:
            self._running.leave()
        self.ended.set()
        self.unheard.set()
        self.resume_writing()
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
            self._deadline.set(limits.body_timeout_s)  # we paused reading
        elif state is BODY:
            self._refuse(HttpRefusal("body_timeout", limits.body_timeout_s))
        elif state < DEAF:
            self._refuse(HttpRefusal("head_timeout", limits.head_timeout_s))

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Stop reading. Answer the earlier requests, then send the refusal unless its request was already answered."""
        running, in_body = self._running, self.reader.state is BODY
        request = self.reader.refuse()
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
                self._answer_at_once(request)
            elif request.is_whole or reader.state is not CLOSED:
                self._start(request, None)
        if self._running is None:
            if reader.state is IDLE:
                self._deadline.set_at(now + self._keep_alive_s)
            elif self._refusal is not None:
                self.write(self._refusal.encode(self.default_lines()))
                self.linger()

    def _answer_at_once(self, request: HttpRequest) -> None:
        method = request.method
        path, _, query = request.target.partition(b"?")
        body: Any = request.body  # bytes: a plain request has one piece
        making = self._prompt(
            method, path.decode("ascii"), query, request.headers, request.by_name, self.client[0], body
        )
        if making is None:
            self._start(request, None)
            return
        try:
            waits_for = making.send(None)
        except StopIteration as made:
            status, lines, content, ending = made.value
            is_usual = ending is None and status not in BODYLESS and method != "HEAD"
            if is_usual and self._drained is None:
                defaults = self._turn.default_lines(self._server_state.default_headers)
                self._unsent = b"".join((self._unsent, STATUS_LINE[status], defaults, lines, b"\r\n", content))
                if len(self._unsent) > _HIGH_WATER_BYTES:
                    self.flush()
            else:
                self._start(request, made.value)
        except Exception as error:  # logged and answered 500, as for any application
            self._start(request, error)
        else:
            self._start(request, resume(making, waits_for))

    def _start(self, request: HttpRequest, made: PromptAnswer | Awaitable[PromptAnswer] | Exception | None) -> None:
        """Answer a request in a task: by the application, or by what its `prompt` returned."""
        responder = self._running = Responder(self, request)
        task = self._loop.create_task(responder.run(self._app, made))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def finished(self, request: HttpRequest) -> None:
        """Continue after a complete answer: with the next request, the refusal, or by waiting for the client."""
        is_arriving = self.reader.request is request
        self._running = None
        if is_arriving:
            self.reader.request = None
        if request.keep_alive:
            self.read_on()
            self._turn.add(self)
        elif is_arriving:
            self.linger()
        else:
            self.close()

    def default_lines(self) -> bytes:
        """The header lines of every answer."""
        return self._turn.default_lines(self._server_state.default_headers)

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
        self._drained = asyncio.Event()

    def resume_writing(self) -> None:
        """Resume answers."""
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    async def drain(self) -> None:
        """Wait until the client reads again, if writing is paused."""
        if self._drained is not None:
            await self._drained.wait()

    # Closing

    def close(self) -> None:
        """Close once everything was written; other requests are dropped."""
        self.reader.requests.clear()
        self.flush()
        self._transport.close()

    def linger(self) -> None:
        """Close our side once everything was written, and the connection once the client has closed its own."""
        self.reader.requests.clear()
        self._refusal = None
        self.flush()
        if self._transport.is_closing():
            return
        self.reader.move(SENT)
        self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
            self._deadline.set(_LINGER_S)
        else:
            self._transport.close()

    def shutdown(self) -> None:
        """Finish the requests that were read and accept no others; uvicorn calls it when the server stops."""
        self.ended.set()
        if self.reader.state is LINGERING:
            self._transport.abort()
        elif self._answer_no_more() is None:
            self.close()
        else:
            self.reader.move(STOP)

    def _answer_no_more(self) -> Responder | None:
        """Close after the last answer: the refusal, or that to the newest request. Returns the answer in progress."""
        self.answer(self._loop.time())
        self.flush()
        self.unheard.set()
        running = self._running
        if running is not None and self._refusal is None:
            [running.request, *self.reader.requests][-1].keep_alive = False
        return running

    def hang_up(self) -> None:
        """Close now; the application sees that its client has left."""
        self.reader.requests.clear()
        self.flush()
        if self._running is not None:
            self._running.leave()
        self._transport.abort()
