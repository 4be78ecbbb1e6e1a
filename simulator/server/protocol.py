"""One client connection: httptools' reports on one side, answers on the other, and between them the table of `states`.

A request goes into the queue when its head is in order. At the end of the event loop's turn the connection answers from
the front of its queue, as far as it comes without waiting: a plain request that is whole by the application's `prompt`,
any other in a task, behind which the rest waits. The application, the limits and the turn are the server's own; of
uvicorn it needs what `Config(http=...)` gives.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, cast

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server import limits as refusals
from simulator.server.deadline import Deadline
from simulator.server.endings import WHOLE
from simulator.server.head import check_size, check_version_and_host, framing_only, is_plain_target, origin_form
from simulator.server.limits import HttpRefusal, Limits
from simulator.server.message import HttpRequest, default_lines, header_pairs, whole_answer
from simulator.server.responder import Responder
from simulator.server.states import READING, Answer, Event, Reading
from simulator.server.turn import Prompt, PromptAnswer, Rest, Turn

_LINGER_S: Final = 2.0
"""How long a client may go on sending after its last answer."""

_HIGH_WATER_BYTES: Final = 65536
"""How much of a body, or of answers to one packet, is held before the other side has to take some."""

_NOTED: Final = frozenset({b"host", b"connection", b"expect"})
_USUAL: Final = [b"host"]


class HttpProtocol(asyncio.Protocol):
    """One client connection. A budget of body bytes in flight belongs into `on_body`, a time for all of one into
    `_await_rest`: nothing else takes bytes of a body or bounds the waiting for it."""

    __slots__ = (
        "_app", "_client", "_deadline", "_heads", "_limits", "_loop", "_parser", "_prompt", "_queue", "_reading",
        "_refusal", "_request", "_running", "_scope", "_server_state", "_since_progress", "_state",
        "_timeout_keep_alive", "_transport", "_turn", "_unsent", "ended", "headers", "noted", "url", "writable",
    )  # fmt: skip

    def __init__(
        self,
        app: Any,
        limits: Limits,
        turn: Turn,
        timeout_keep_alive: float,
        server_state: ServerState,
        app_state: Mapping[str, Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.writable = asyncio.Event()  # unset while the client does not read what was written
        self.writable.set()
        self.ended = asyncio.Event()  # set when the client has left or the server stops
        self._app = app
        self._prompt: Prompt | None = getattr(app, "prompt", None)
        self._limits = limits
        self._turn = turn
        self._timeout_keep_alive = timeout_keep_alive
        self._server_state = server_state
        self._scope: dict[str, Any] = {"scheme": "http", "state": app_state}
        self._loop = loop
        self._deadline = Deadline(loop, self._on_deadline)
        self._state = Reading.OPENED
        self._queue: deque[HttpRequest] = deque()  # heads that are in order, nobody works on them yet
        self._request: HttpRequest | None = None  # whose body is being read; none while what comes of it is dropped
        self._running: Responder | None = None  # the request that is being answered in a task
        self._refusal: HttpRefusal | None = None  # waits for the answers before it
        self._unsent = b""  # answers that wait for the end of the turn
        self._since_progress = 0  # bytes since the last head, piece of body or message ended
        self._heads = 0  # how many came whole

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new connection; its first head is due from now."""
        self._transport = cast(asyncio.Transport, transport)
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own protocols there
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self._scope["client"] = client[:2] if client else None
        self._scope["server"] = server[:2] if server else None
        self._client = client[0] if client else ""
        self._parser = HttpRequestParser(self)
        self._deadline.set(self._limits.head_timeout_s)

    # What comes in

    def data_received(self, data: bytes) -> None:
        """Parse what came; refuse it, or bound the waiting where a request is not whole yet."""
        if self._state >= Reading.DEAF:
            return
        self._since_progress += len(data)
        try:
            self._feed(data)
        except HttpParserError as error:
            self._on_parser_error(error)
        else:
            if self._state is not Reading.IDLE:
                self._await_rest()

    def _feed(self, data: bytes | memoryview) -> None:
        """Feed the parser. Where it leaves off behind an offer to upgrade, a fresh one takes over, for which the same
        request has no offer: the Java HTTP client offers h2c, body and all, and expects an ordinary answer."""
        while True:
            try:
                self._parser.feed_data(data)
                return
            except HttpParserUpgrade as upgrade:
                data = memoryview(data)[upgrade.args[0] :]
            assert self._request is not None, "nobody answers a request within a packet"
            self._parser = HttpRequestParser(self)
            self._parser.feed_data(framing_only(self._request.headers))

    def on_message_begin(self) -> None:
        """Start a request. Behind the last one there is no entry for it in the table, which ends the parsing."""
        self._state = READING[self._state][Event.BEGIN]
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.noted: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line, or one of a trailer, which goes to a list that nobody reads."""
        name = name.lower()
        if name in _NOTED:
            self.noted.append(name)
        self.headers.append((name, value.rstrip()))  # the parser leaves blanks and tabs behind it, and nothing else

    def on_headers_complete(self) -> None:
        """Check the head and put its request into the queue. Raises HttpRefusal, which ends the parsing."""
        state, headers, url, limits = self._state, self.headers, self.url, self._limits
        if state is not Reading.OFFER:
            if (
                state is not Reading.HEAD
                or len(headers) > limits.headers
                or self._since_progress > limits.head_bytes  # with all else that the packet brought
            ):
                check_size(limits, url, headers)
            is_plain = is_plain_target(url)
            if self.noted == _USUAL and is_plain and self._parser.should_keep_alive():
                request = HttpRequest(method=self._parser.get_method().decode("ascii"), target=url, headers=headers)
            else:
                request = self._unusual_request(is_plain)
            self._heads += 1
            self._request = request
            self._queue.append(request)
            self.headers = []
        self._state = READING[state][Event.HEAD_END]
        self._since_progress = 0

    def _unusual_request(self, is_plain: bool) -> HttpRequest:
        parser = self._parser
        version = parser.get_http_version()
        check_version_and_host(version, self.noted.count(b"host"))
        keep_alive = version == "1.1" and parser.should_keep_alive()
        return HttpRequest(
            method=parser.get_method().decode("ascii"),
            target=self.url if is_plain else origin_form(self.url),
            headers=self.headers,
            version=version,
            keep_alive=keep_alive,
            awaits_continue=any(name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers),
            is_plain=is_plain and keep_alive and not parser.should_upgrade(),
        )

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body, unless its request has been answered without it."""
        self._since_progress = 0
        request = self._request
        if request is not None:
            request.add(body)
            self._tell(request)

    def on_message_complete(self) -> None:
        """End a request; one that offers an upgrade is not at its end here, but its parser is."""
        request = self._request
        if request is not None and not request.is_plain and self._parser.should_upgrade():
            self._move(Event.OFFERED)
            return
        self._since_progress = 0
        if request is None:
            self._move(Event.END)
            self._deadline.set(self._timeout_keep_alive)
            return
        self._state = READING[self._state][Event.END if request.keep_alive else Event.LAST_END]
        self._request = None
        request.is_whole = True
        if self._running is not None:
            self._tell(request)
            if self._queue:
                self._transport.pause_reading()
        elif len(self._queue) == 1:  # those behind it are answered with it
            self._turn.add(self)

    def eof_received(self) -> None:
        """Answer a client that closes its side behind its request."""
        self.answer()
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Carry out what came whole before the client left, and let go."""
        self._move(Event.LOST)
        self._server_state.connections.discard(self)
        self._refusal = None
        self.answer()
        self._queue.clear()
        if self._running is not None:
            self._running.leave()
        self.ended.set()
        self.writable.set()
        self._deadline.end()
        del self._parser  # it leads back here

    def pause_writing(self) -> None:
        """Let answers wait until the client has read some."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """Let answers go on."""
        self.writable.set()

    # The bounds

    def _await_rest(self) -> None:
        """Bound the waiting for the rest of a request that did not come in one packet, in bytes and time."""
        limits, request = self._limits, self._request
        if self._state is Reading.BODY:
            if self._since_progress > limits.head_bytes:
                self._refuse(refusals.framing_too_large(limits))
                return
            self._deadline.set(limits.body_timeout_s)
            if request is not None and len(request.body) > _HIGH_WATER_BYTES:
                self._transport.pause_reading()
            if self._running is None and self._queue:
                self._turn.add(self)
        elif self._state in (Reading.HEAD, Reading.LATE_HEAD):
            if self._state is Reading.HEAD and self._heads:
                self._deadline.set(limits.head_timeout_s)
            self._move(Event.PIECE)
            try:
                check_size(limits, self.url, self.headers)
                if self._since_progress > limits.head_bytes:
                    raise refusals.head_too_large(limits)
            except HttpRefusal as refusal:
                self._refuse(refusal)

    def _on_deadline(self) -> None:
        """Refuse what did not come in time, and close a connection that nobody uses."""
        if self._state is Reading.LINGERING:
            self._transport.abort()
        elif self._state is Reading.OPENED:
            self._refuse(refusals.head_timed_out(self._limits))
        elif self._state is Reading.IDLE:
            if self._running is None and not self._queue:
                self.close()
        elif self._state < Reading.DEAF:
            self._on_stall()

    def _on_stall(self) -> None:
        """Refuse a request that stopped arriving, unless it is we who do not read it."""
        limits, request = self._limits, self._request
        if not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.set(limits.body_timeout_s)
        elif self._state is Reading.BODY:
            self._refuse(refusals.body_timed_out(limits))
        else:
            self._refuse(refusals.head_timed_out(limits))

    def _on_parser_error(self, error: HttpParserError) -> None:
        """Refuse what on_headers_complete found fault with, or what the parser did; an error of ours stays one."""
        if self._state is Reading.DEAF:  # behind the last request
            return
        if isinstance(error.__context__, HttpRefusal):
            self._refuse(error.__context__)
        elif isinstance(error, HttpParserCallbackError):
            raise error
        else:
            self._refuse(refusals.not_http(str(error)))

    def _refuse(self, refusal: HttpRefusal) -> None:
        """Read no more; answer the requests before, then this one by the refusal, unless it has been answered."""
        state, request, running = self._state, self._request, self._running
        self._move(Event.REFUSED)
        self._request = None
        if state in (Reading.BODY, Reading.OFFER):
            if request is None:
                self.linger()
                return
            if running is None or running.request is not request:
                self._queue.pop()
            elif running.stage is Answer.BEGUN:
                running.leave()
                self.linger()
                return
            else:
                running.leave()
                self._running = None
        self._refusal = refusal
        self._turn.add(self)

    # What goes out

    def answer(self) -> None:
        """Answer the queue from its front, until one has to wait."""
        queue = self._queue
        while queue and self._running is None:
            request = queue.popleft()
            if request.is_whole and request.is_plain and self._prompt is not None:
                self._answer_at_once(request, self._prompt)
            elif request.is_whole or self._state is not Reading.CLOSED:
                self._start(request, self._call)
        if self._running is None:
            if self._state is Reading.IDLE:
                self._deadline.set(self._timeout_keep_alive)
            elif self._refusal is not None:
                self.write(self._refusal.encode(self._server_state.default_headers))
                self.linger()

    def _answer_at_once(self, request: HttpRequest, prompt: Prompt) -> None:
        path, _, query = request.target.partition(b"?")
        making = prompt(request.method, path.decode("ascii"), query, request.headers, self._client, bytes(request.body))
        if making is None:
            self._start(request, self._call)
            return
        try:
            waits_for = making.send(None)
        except StopIteration as made:
            answered: PromptAnswer = made.value
            status, lines, body, ending = answered
            if ending is WHOLE and self.writable.is_set():
                to_head = request.method == "HEAD"
                self._unsent += whole_answer(status, self.default_lines(), lines, body, to_head=to_head)
                self._server_state.total_requests += 1
                if len(self._unsent) > _HIGH_WATER_BYTES:
                    self.flush()
            else:
                self._start(request, lambda responder: _send(responder, answered))
        except Exception as error:  # logged and answered 500, as for any application
            self._start(request, lambda responder, error=error: _fail(error))  # type: ignore[misc]
        else:
            rest = Rest(making, waits_for)
            self._start(request, lambda responder: _send_rest(responder, rest))

    def _start(self, request: HttpRequest, work: Callable[[Responder], Coroutine[Any, Any, None]]) -> None:
        """Let a task work on the answer to a request."""
        responder = self._running = Responder(self, request)
        task = self._loop.create_task(responder.run(work))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    async def _call(self, responder: Responder) -> None:
        await self._app(responder.scope(self._scope), responder.receive, responder.send)

    def finished(self, responder: Responder) -> None:
        """Go on behind a complete answer: to the next request, the refusal, or to waiting for the client."""
        self._running = None
        self._server_state.total_requests += 1
        request = responder.request
        if not request.keep_alive:
            if request.is_whole:
                self.close()
            else:
                self.linger()
            return
        if self._request is request:
            self._request = None
        self.read_on()
        self._turn.add(self)

    def default_lines(self) -> bytes:
        """The lines that every answer's head has."""
        return default_lines(self._server_state.default_headers)

    def write(self, data: bytes) -> None:
        """Write, behind what waits for the end of the turn."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Write what waits for the end of the turn."""
        unsent, self._unsent = self._unsent, b""
        if unsent and not self._transport.is_closing():
            self._transport.write(unsent)

    def read_on(self) -> None:
        """Read more, if reading was held back; the client's time counts anew then."""
        if self._state is Reading.BODY:
            self._deadline.set(self._limits.body_timeout_s)
        if not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()
            if self._state is Reading.LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    # Ends

    def close(self) -> None:
        """Close when what was written has arrived; requests in the queue are dropped."""
        self._queue.clear()
        self.flush()
        self._transport.close()

    def linger(self) -> None:
        """Close our side when all is sent, and the other when the client has seen it."""
        self._queue.clear()
        self._refusal = None
        self._request = None
        self.flush()
        if self._transport.is_closing():
            return
        self._move(Event.SENT)
        self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
            self._deadline.set(_LINGER_S)
        else:
            self._transport.close()

    def shutdown(self) -> None:
        """Let the requests on this connection finish, those before their end and no new ones; uvicorn calls it."""
        self.answer()
        self.flush()
        self.ended.set()
        if self._state is Reading.LINGERING:
            self._transport.abort()
        elif self._running is None:
            self.close()
        else:
            self._move(Event.STOP)
            newest = self._queue[-1] if self._queue else self._running.request
            newest.keep_alive = False

    def hang_up(self) -> None:
        """Close now, whatever is going on; the application sees that its client has left."""
        self._queue.clear()
        self.flush()
        if self._running is not None:
            self._running.leave()
        self._transport.abort()

    def _move(self, event: Event) -> None:
        self._state = READING[self._state][event]

    def _tell(self, request: HttpRequest) -> None:
        """Wake the application that waits for more of this request."""
        if self._running is not None and self._running.request is request:
            self._running.news.set()


async def _send(responder: Responder, answered: PromptAnswer) -> None:
    status, lines, body, ending = answered
    await responder.answer(status, header_pairs(lines), body, ending)


async def _send_rest(responder: Responder, rest: Rest) -> None:
    await _send(responder, await rest)


async def _fail(error: Exception) -> None:
    raise error


def protocol_factory(app: Any, limits: Limits) -> Callable[..., HttpProtocol]:
    """Return what makes the protocol of each connection, as `uvicorn.Config(http=...)` wants it."""
    turns: dict[asyncio.AbstractEventLoop, Turn] = {}

    def make(
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> HttpProtocol:
        loop = _loop or asyncio.get_running_loop()
        turn = turns.get(loop) or turns.setdefault(loop, Turn(loop))
        return HttpProtocol(app, limits, turn, config.timeout_keep_alive, server_state, app_state, loop)

    return make
