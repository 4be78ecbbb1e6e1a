"""Answers at the end of a turn of the event loop what an application can answer without waiting for anything.

Most requests of a simulator need nothing but their own bytes, and come in one packet. To make a task, an exchange and
two messages of each costs more than the network itself. So an application may have, beside its ASGI call, a method
`prompt` that makes a coroutine of a request that is whole. Its first step is taken without a task. If that was all, the
answer is written; if it has to wait, it goes on in a task like any other request.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, cast
from weakref import WeakKeyDictionary

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from simulator.server.connection import EXTENSION, deliver
from simulator.server.ending import EndingProtocol

Headers = list[tuple[bytes, bytes]]


# What an application answers: status, header lines with their ends, body, and what becomes of the connection: nothing
# unusual (""), `abort` before the first byte, `cut` in the middle of the body, `drip N` for N bytes a second, `gone`
# when nobody is left.
Answer = tuple[int, bytes, bytes, str]
Making = Coroutine[Any, Any, Answer]
# method, path, query, headers, client's address, body; None for what it does not take this way
Prompt = Callable[[str, str, bytes, Headers, str, bytes], Making | None]


class Turn:
    """The requests that came in one turn of the event loop: answered together at its end, and then written together.

    What a small write costs most is to wake the process that waits for it. The first write of a turn does that, and
    those after it find it awake. And the answering, one request after the other without the system in between, finds
    its own code still in the processor's caches.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[PromptProtocol] = []

    def add(self, connection: "PromptProtocol") -> None:
        """Let a connection answer and send at the end of this turn."""
        if not self._waiting:
            self._loop.call_soon(self._end)
        self._waiting.append(connection)

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, []
        for connection in waiting:
            try:
                connection.answer_whole()
            except Exception:  # one connection's trouble is not the others'
                _LOG.exception("A request could not be answered")
                connection.transport.abort()
        for connection in waiting:
            connection.send_unsent()


_LOG = logging.getLogger(__name__)
_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, Turn] = WeakKeyDictionary()


class PromptProtocol(EndingProtocol):
    """A protocol that holds a request until it is whole and then answers it at once, if the application can.

    Whatever else writes or closes sends first what is unsent.
    """

    __slots__ = ("_extensions", "_method", "_prompt", "_turn", "_unsent", "held", "held_body", "whole")

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._prompt: Prompt | None = getattr(self.app, "prompt", None)
        self._extensions = cast("dict[str, dict[object, object]]", {EXTENSION: self})
        self._turn = _TURNS.get(self.loop) or _TURNS.setdefault(self.loop, Turn(self.loop))
        self._unsent = b""
        self._method = ""
        self.whole = False  # the held request has come, and is answered at the end of the turn
        self.held = False
        self.held_body = b""

    def send_unsent(self) -> None:
        """Write the answers that wait for the end of the turn, that of a request that came in it among them."""
        self.answer_whole()
        unsent, self._unsent = self._unsent, b""
        if unsent and not self.transport.is_closing():
            self.transport.write(unsent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Carry out what came whole before the client left, and let go."""
        self.answer_whole()
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """Answer a client that closes its side behind its request."""
        self.send_unsent()
        super().eof_received()

    def shutdown(self) -> None:
        """See `EndingProtocol.shutdown`."""
        self.send_unsent()
        super().shutdown()

    def hang_up(self) -> None:
        """See `EndingProtocol.hang_up`."""
        self.send_unsent()
        super().hang_up()

    def linger(self) -> None:
        """See `EndingProtocol.linger`."""
        self.send_unsent()
        super().linger()

    def hold(self) -> bool:
        """Hold the request whose head has come, unless another is before it or the application is not prompt."""
        running = self.running
        if (
            self._prompt is None
            or self.pipeline
            or not (running is None or running.response_complete)
            or self.parser.should_upgrade()
        ):
            return False
        self.held = True
        self.held_body = b""
        return True

    def release(self) -> None:
        """Give the held request to the application in a task of its own, as far as it came."""
        self.held = False
        self.begin_exchange()
        if self.held_body:
            self.cycle.body += self.held_body
            self.cycle.message_event.set()

    def begin_exchange(self) -> None:
        """Hand the request to the application, in a task of its own, as soon as those before it are answered."""
        if self._unsent:
            self.send_unsent()
        url, headers, expects_100 = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects_100
        self.scope["headers"] = headers
        self.scope["extensions"] = self._extensions
        super().on_headers_complete()
        self.headers = []
        if not self.pipeline:
            self.running = self.cycle

    def held_is_whole(self) -> None:
        """The held request has come to its end."""
        self.held = False
        self.whole = True
        self._method = self.parser.get_method().decode("ascii")
        self._turn.add(self)

    def answer_whole(self) -> None:
        """Answer a request that has come whole, if there is one that waits for it."""
        if self.whole:
            self.whole = False
            if self._answer():
                self.deadline.set(self.timeout_keep_alive)

    def _answer(self) -> bool:
        """Answer at once; False when it goes on in a task instead."""
        path, _, query = self.url.partition(b"?")
        client = self.client[0] if self.client else ""
        method = self._method
        assert self._prompt is not None
        making = self._prompt(method, path.decode("ascii"), query, self.headers, client, self.held_body)
        if making is None or method == "HEAD":
            if making is not None:
                making.close()
            self._go_on(self.app)
            return False
        try:
            waits_for = making.send(None)
        except StopIteration as made:
            answer: Answer = made.value
            status, headers, content, ending = answer
            if not ending and not self.flow.write_paused:
                defaults = _lines(self.server_state.default_headers)
                self._unsent += b"%b%b%b\r\n%b" % (STATUS_LINE[status], defaults, headers, content)
                self.server_state.total_requests += 1
                return True
            self._go_on(_finishing(_made(answer)))
        except Exception as error:  # the server logs it and answers 500, as for any application
            self._go_on(_raising(error))
        else:
            self._go_on(_finishing(_Rest(making, waits_for)))
        return False

    def _go_on(self, app: Any) -> None:
        """Let `app` answer the request in a task."""
        usual, self.app = self.app, app
        try:
            self.begin_exchange()
        finally:
            self.app = usual
        # The parser may have gone on to the next request, so it is not asked again.
        self.cycle.scope["method"] = self._method
        self.cycle.keep_alive = True
        self.cycle.body += self.held_body
        self.cycle.more_body = False
        self.cycle.message_event.set()


class _Written:
    """The default headers that were written last; the server makes new ones every second."""

    headers: list[tuple[bytes, bytes]] | None = None
    lines = b""


def _lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    if headers is not _Written.headers:
        _Written.headers = headers
        _Written.lines = b"".join(b"%b: %b\r\n" % pair for pair in headers)
    return _Written.lines


class _Rest:
    """What is left of a coroutine after its first step, for a task to await. `waits_for` is the future it waits for."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Making, waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Answer]:
        """Wait as the coroutine would have, and hand it whatever comes."""
        coroutine, waits_for = self._coroutine, self._waits_for
        try:
            while True:
                try:
                    sent = yield waits_for
                except BaseException as error:  # a cancellation, which is the coroutine's to handle
                    waits_for = coroutine.throw(error)
                else:
                    waits_for = coroutine.send(sent)
        except StopIteration as made:
            answer: Answer = made.value
            return answer


async def _made(answer: Answer) -> Answer:
    return answer


Application = Callable[[Any, Any, Any], Awaitable[None]]


def _finishing(making: Awaitable[Answer]) -> Application:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        status, headers, content, ending = await making
        await deliver(scope, send, status, headers, content, ending)

    return app


def _raising(error: Exception) -> Application:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise error

    return app
