"""Answers one request in a task: ASGI's two callables, and the endings of a connection that ASGI cannot make.

An application finds its responder in the request's scope (`responder_of`), calls one of its endings, and returns. A
fault affects its own request only: earlier pipelined requests were answered, later ones are dropped. Once the client
has left, the methods do nothing.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

from simulator.server.message import BODYLESS, STATUS_LINE, Headers, HttpRequest, header_lines, without_framing
from simulator.server.states import AWAITED, BEGUN, COMPLETE, LEFT, AnswerStage
from simulator.server.turn import Ending, PromptAnswer
from simulator.wire.headers import header_pairs

EXTENSION: Final = "reseller_sim.responder"
"""The key in `scope["extensions"]`."""

_STEPS_PER_SECOND: Final = 10
_SLOWEST: Final = 1.0  # bytes per second; a slower drip is a wait without end
_UNSAFE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LOG: Final = logging.getLogger(__name__)


class Responder:
    """One request that an application answers in a task of its own."""

    __slots__ = ("_connection", "_is_bodyless", "_is_chunked", "_is_read", "_left", "news", "request", "stage")

    def __init__(self, connection: Any, request: HttpRequest) -> None:
        self._connection = connection  # an HttpProtocol, whose module imports this one
        self.request = request
        self.stage: AnswerStage = AWAITED
        self._is_read = False  # the application has received the whole body
        self.news = asyncio.Event()  # `receive` has something to return
        if request.body or request.is_whole:
            self.news.set()
        self._is_bodyless = False
        self._is_chunked = False
        self._left: int | None = None  # bytes of the Content-Length that are not sent yet; None without one

    @property
    def is_open(self) -> bool:
        """Whether something can still be sent."""
        return self.stage < COMPLETE

    @property
    def _may_receive(self) -> bool:
        return self.is_open and (self.request.is_whole or self._connection.reader.request is self.request)

    async def run(self, app: Any, made: PromptAnswer | Awaitable[PromptAnswer] | Exception | None) -> None:
        """Send what `prompt` returned, or let `app` answer; answer 500 if that fails."""
        try:
            if made is None:
                await app(self.scope(), self.receive, self.send)
            elif isinstance(made, Exception):
                raise made
            else:
                status, lines, body, ending = made if isinstance(made, tuple) else await made
                await self.answer(status, header_pairs(lines), body, ending)
        except asyncio.CancelledError:  # the server is stopping
            self.abort()
            raise
        except BaseException as error:
            _LOG.error("The application failed to answer", exc_info=error)
            self._fail()
        else:
            if self.is_open and self._connection.unheard.is_set():  # the application knows that its client has left
                self.abort()
            elif self.is_open:
                _LOG.error("The application returned without a complete answer")
                self._fail()

    def leave(self) -> None:
        """Mark that the client no longer waits: the application reads a disconnect, and what it sends is dropped."""
        if self.is_open:
            self.stage = LEFT
            self.news.set()

    def _fail(self) -> None:
        if self.stage is AWAITED:
            self.request.keep_alive = False
            text = b"Internal Server Error"
            headers = _sized([(b"content-type", b"text/plain; charset=utf-8")], text)
            self._body(text, False, self._begin(500, headers))
        else:
            self.abort()

    # ASGI

    def scope(self) -> dict[str, Any]:
        """ASGI's `scope`."""
        request, connection = self.request, self._connection
        path, _, query = request.target.partition(b"?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.version,
            "method": request.method,
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": request.headers,
            "extensions": {EXTENSION: self},
            "scheme": "http",
            "client": connection.client[:2],
            "server": connection.server[:2],
        }

    async def receive(self) -> dict[str, Any]:
        """ASGI's `receive`."""
        request, connection = self.request, self._connection
        if self._may_receive:
            if request.awaits_continue:
                request.awaits_continue = False
                connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.read_on()
            await self.news.wait()
            self.news.clear()
        if self.stage is AWAITED and not self._may_receive:  # it needs a body that is cut off
            self.abort()
        if self._is_read or not self._may_receive:
            return {"type": "http.disconnect"}
        self._is_read = request.is_whole
        return {"type": "http.request", "body": request.take(), "more_body": not request.is_whole}

    async def send(self, message: Mapping[str, Any]) -> None:
        """ASGI's `send`. Raises RuntimeError for a message out of order, or one that violates the framing."""
        await self._connection.drain()
        kind = message["type"]
        if self.stage is LEFT:
            return
        if kind == "http.response.start" and self.stage is AWAITED:
            self._connection.write(self._begin(message["status"], list(message.get("headers", ()))))
        elif kind == "http.response.body" and self.stage is BEGUN:
            self._body(message.get("body", b""), message.get("more_body", False))
        else:
            raise RuntimeError(f"{kind} cannot be sent when the answer is {self.stage.name.lower()}")

    # Endings

    async def answer(self, status: int, headers: Headers, body: bytes, ending: Ending | None) -> None:
        """Send an answer as its ending says. Raises RuntimeError when an answer has begun."""
        if ending is None:
            if await self._may_begin():
                self._body(body, False, self._begin(status, headers))
        elif ending.bytes_per_second:
            await self.drip(status, headers, body, ending.bytes_per_second)
        elif ending.name == "cut":
            await self.cut(status, headers, body, len(body) // 2)
        else:
            self.abort()

    def abort(self) -> None:
        """Close at once, before the answer or in the middle of it."""
        if self.is_open:
            self.leave()
            self._connection.close()

    async def cut(self, status: int, headers: Headers, body: bytes, after_bytes: int) -> None:
        """Send the Content-Length of the whole body, but only its first `after_bytes` bytes (never all), and close.

        Without a body it closes without an answer. Raises RuntimeError when an answer has begun.
        """
        if not await self._may_begin():
            return
        head = self._begin(status, _sized(headers, body))
        if self._left:
            self._body(body[: max(0, min(after_bytes, len(body) - 1))], True, head)
            self.leave()
            self._connection.linger()
        else:
            self.abort()

    async def drip(self, status: int, headers: Headers, body: bytes, bytes_per_second: float) -> None:
        """Send a complete response, the head at once and the body at this pace, and keep the connection.

        It ends early, and closes, when the client leaves or the server stops. A client that has only closed its sending
        side gets it whole, unless it is so slow that writing would not show soon whether the client has left.
        Raises RuntimeError when an answer has begun.
        """
        if not await self._may_begin():
            return
        self._connection.write(self._begin(status, _sized(headers, body)))
        step = max(1, int(bytes_per_second / _STEPS_PER_SECOND))
        end = self._connection.unheard if bytes_per_second < _SLOWEST else self._connection.ended
        for start in range(0, self._left or 0, step):
            piece = body[start : start + step]
            await self.send({"type": "http.response.body", "body": piece, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(len(piece) / bytes_per_second):
                    await end.wait()
                    self.abort()
            if not self.is_open:
                return
        await self.send({"type": "http.response.body"})

    async def _may_begin(self) -> bool:
        await self._connection.drain()
        if self.stage is BEGUN:
            raise RuntimeError("The answer to this request has begun; only abort() is possible now.")
        return self.stage is AWAITED

    # Writing

    def _begin(self, status: int, headers: Headers) -> bytes:
        """Begin the answer and return its head. Without Content-Length the body is chunked, or ends by closing."""
        request = self.request
        self._is_bodyless = status in BODYLESS or request.method == "HEAD"
        kept = without_framing(headers) if status in BODYLESS else list(headers)
        lengths = [value for name, value in kept if name.lower() == b"content-length"]
        if any(_UNSAFE.search(name) or _UNSAFE.search(value) for name, value in kept):
            raise RuntimeError("A header of the response has a control character.")
        if any(name.lower() == b"connection" and b"close" in value.lower() for name, value in kept):
            request.keep_alive = False
        elif not request.keep_alive:
            kept.append((b"connection", b"close"))
        if not self._is_bodyless:
            if lengths:
                self._left = int(lengths[0])
            else:
                kept = without_framing(kept)
                if request.version == "1.1":
                    self._is_chunked = True
                    kept.append((b"transfer-encoding", b"chunked"))
        request.awaits_continue = False
        self.stage = BEGUN
        defaults: bytes = self._connection.default_lines()
        return STATUS_LINE[status] + defaults + header_lines(kept) + b"\r\n"

    def _body(self, body: bytes, more: bool, head: bytes = b"") -> None:
        """Write a piece of the body, after `head` if given. The last piece completes the answer."""
        if self._is_bodyless:
            body = b""
        elif self._is_chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        elif self._left is not None:  # else the end of the connection ends it (HTTP/1.0)
            self._left -= len(body)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError(f"The response's body is not as long as its Content-Length: {-self._left:+} bytes.")
        if head or body:
            self._connection.write(head + body)
        if not more:
            self.stage = COMPLETE
            self.news.set()
            self._connection.finished(self.request)


def responder_of(scope: Mapping[str, Any]) -> Responder | None:
    """Return the responder of a request, or None under another server."""
    extensions = scope.get("extensions")
    return extensions.get(EXTENSION) if extensions else None


def _sized(headers: Headers, body: bytes) -> Headers:
    """Return the headers with the Content-Length of `body` in place of any other framing."""
    return [*without_framing(headers), (b"content-length", b"%d" % len(body))]
