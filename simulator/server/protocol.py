"""One client connection for uvicorn: what is read on one side, answers on the other, and the time that either may take.

At the end of the event loop's turn the connection answers the requests that were read, the oldest first, until one has
to wait: a plain request that is whole by the application's `prompt`, any other in a task.
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
from simulator.server.states import BEGUN, BODY, CLOSED, DEAF, IDLE, LATE_HEAD, LINGERING, LOST, SENT, STOP
from simulator.server.turn import Prompt, PromptAnswer, Turn, resumed

_LINGER_S: Final = 2.0
"""How long a client may go on sending after its last answer."""

_HIGH_WATER_BYTES: Final = 65536
"""How much of a body, or of answers, is held before the other side has to take some."""


class HttpProtocol(asyncio.Protocol):
    """One client connection. `app`, `limits` and `turn` are the server's; of what uvicorn gives to the constructor that
    stands in `Config(http=...)`, `config` and `server_state` are used."""

    client: tuple[Any, ...]
    server: tuple[Any, ...]
    _transport: asyncio.Transport

    def __init__(
        self, app: Any, limits: HttpLimits, turn: Turn, *, config: Config, server_state: ServerState, **_: Any
    ) -> None:
        self.ended = asyncio.Event()  # set when the client has left or the server stops
        self._drained: asyncio.Event | None = None  # while the client does not read what was written
        self._app = app
        self._prompt: Prompt = getattr(app, "prompt", lambda *_: None)
        self._limits = limits
        self._turn = turn
        self._keep_alive_s = config.timeout_keep_alive
        self._server_state = server_state
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(self._loop, self._on_deadline)
        self._reader = RequestReader(limits)
        self._running: Responder | None = None  # of the request that is being answered in a task
        self._refusal: HttpRefusal | None = None  # waits for the answers before it
        self._unsent = b""  # answers that wait for the end of the turn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new connection; its first head is due from now."""
        self._transport = cast(asyncio.Transport, transport)
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        self.client = transport.get_extra_info("peername") or ("", 0)  # of a client that is gone already
        self.server = transport.get_extra_info("sockname") or ("", 0)
        self._deadline.set(self._limits.head_timeout_s)

    # What comes in

    def data_received(self, data: bytes) -> None:
        """Read what came; refuse it, or let it be answered at the end of the turn."""
        reader, running = self._reader, self._running
        if reader.state >= DEAF:
            return
        request = reader.request
        try:
            has_late_head = reader.feed(data)
        except HttpRefusal as refusal:
            self._refuse(refusal)
            return
        if running is None:
            self._turn.add(self)
        else:
            if running.request is request:
                running.news.set()
            if reader.requests and reader.request is None:
                self._transport.pause_reading()
        if has_late_head:
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._deadline.set(self._limits.body_timeout_s)
            if reader.request is not None and len(reader.request.body) > _HIGH_WATER_BYTES:
                self._transport.pause_reading()

    def read_on(self) -> None:
        """Read more, if reading was held back; the client's time counts anew then."""
        if self._reader.state is BODY:
            self._deadline.set(self._limits.body_timeout_s)
        if not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()
            if self._reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        """Answer a client that closes its side behind its request, without waiting: it may have left altogether."""
        self.answer(self._loop.time())
        self.flush()
        running = self._running
        stays = running is not None and running.request.is_whole and self._reader.state < LINGERING
        if running is not None and stays:
            self._answer_no_more()
            self.ended.set()
            running.news.set()
        return stays

    def connection_lost(self, exc: Exception | None) -> None:
        """Carry out what came whole before the client left, and let go."""
        self._reader.move(LOST)
        self._server_state.connections.discard(self)
        self._refusal = None
        self.answer(self._loop.time())
        self._reader.requests.clear()
        if self._running is not None:
            self._running.leave()
        self.ended.set()
        self.resume_writing()
        self._deadline.end()
        self._reader.end()

    def _on_deadline(self) -> None:
        """Refuse what did not come in time, and close a connection that nobody uses. A time for the whole of a body
        would be judged here, too."""
        reader, limits = self._reader, self._limits
        state, request = reader.state, reader.request
        if state is LINGERING:
            self._transport.abort()
        elif state is IDLE:
            if self._running is None and not reader.requests:
                self.close()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.set(limits.body_timeout_s)  # it is we who do not read
        elif state is BODY:
            self._refuse(HttpRefusal("body_timeout", limits.body_timeout_s))
        elif state < DEAF:
            self._refuse(HttpRefusal("head_timeout", limits.head_timeout_s))

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Read no more; answer the requests before, then this one by the refusal, unless it has been answered."""
        running, in_body = self._running, self._reader.state is BODY
        request = self._reader.refuse()
        is_answered = in_body and request is None
        if running is not None and running.request is request:
            is_answered = running.stage is BEGUN
            running.leave()
            self._running = None
        elif request is not None:
            self._reader.requests.pop()
        if is_answered:
            self.linger()
        else:
            self._refusal = refusal
            self._turn.add(self)

    # What goes out

    def answer(self, now: float) -> None:
        """Answer what was read, from the oldest request on, until one has to wait. From `now` on, a time of the loop's
        clock, the client has its time for the next request."""
        reader = self._reader
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
        body: Any = request.body  # in one piece, as it is plain
        making = self._prompt(method, path.decode("ascii"), query, request.headers, self.client[0], body)
        if making is None:
            self._start(request, None)
            return
        try:
            waits_for = making.send(None)
        except StopIteration as made:
            status, lines, content, ending = made.value
            is_usual = not (ending.name or ending.bytes_per_second or status in BODYLESS or method == "HEAD")
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
            self._start(request, resumed(making, waits_for))

    def _start(self, request: HttpRequest, made: PromptAnswer | Awaitable[PromptAnswer] | Exception | None) -> None:
        """Answer a request in a task: by the application, or by what its `prompt` made of it."""
        responder = self._running = Responder(self, request)
        task = self._loop.create_task(responder.run(self._app, made))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def finished(self, request: HttpRequest) -> None:
        """Go on behind a complete answer: to the next request, the refusal, or to waiting for the client."""
        self._running = None
        if self._reader.request is request:
            self._reader.request = None
        if request.keep_alive:
            self.read_on()
            self._turn.add(self)
        elif request.is_whole:
            self.close()
        else:
            self.linger()

    def default_lines(self) -> bytes:
        """The lines that every answer's head has."""
        return self._turn.default_lines(self._server_state.default_headers)

    def write(self, data: bytes) -> None:
        """Write, behind what waits for the end of the turn."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Write what waits for the end of the turn."""
        unsent, self._unsent = self._unsent, b""
        if unsent and not self._transport.is_closing():
            self._transport.write(unsent)

    def pause_writing(self) -> None:
        """Let answers wait until the client has read some."""
        self._drained = asyncio.Event()

    def resume_writing(self) -> None:
        """Let answers go on."""
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    async def drain(self) -> None:
        """Wait while the client does not read what was written."""
        if self._drained is not None:
            await self._drained.wait()

    # Ends

    def close(self) -> None:
        """Close when what was written has arrived; other requests are dropped."""
        self._reader.requests.clear()
        self.flush()
        self._transport.close()

    def linger(self) -> None:
        """Close our side when all is sent, and the other when the client has seen it."""
        self._reader.requests.clear()
        self._refusal = None
        self.flush()
        if self._transport.is_closing():
            return
        self._reader.move(SENT)
        self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
            self._deadline.set(_LINGER_S)
        else:
            self._transport.close()

    def shutdown(self) -> None:
        """Let the requests on this connection finish, those before their end and no new ones; uvicorn calls it."""
        self.answer(self._loop.time())
        self.flush()
        self.ended.set()
        if self._reader.state is LINGERING:
            self._transport.abort()
        elif self._running is None:
            self.close()
        else:
            self._answer_no_more()

    def _answer_no_more(self) -> None:
        """Close behind the answer to the newest request that was read."""
        self._reader.move(STOP)
        ahead = [] if self._running is None else [self._running.request]
        [*ahead, *self._reader.requests][-1].keep_alive = False

    def hang_up(self) -> None:
        """Close now, whatever is going on; the application sees that its client has left."""
        self._reader.requests.clear()
        self.flush()
        if self._running is not None:
            self._running.leave()
        self._transport.abort()
