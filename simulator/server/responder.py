"""Answers one request in a task, which `HttpProtocol` starts: by ASGI, or by an ending that ASGI cannot express.

`run` calls the application with ASGI's `receive` and `send`. For an ending (`answer`, `abort`, `cut`, `drip`), the
application finds the responder in the request's scope (`responder_of`), calls the ending, and returns. `abort` and
`cut` close the connection, so that later requests are dropped. After the answer an ending does nothing.
"""

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from enum import IntEnum, auto
from types import coroutine
from typing import Any, Final, Protocol
from urllib.parse import unquote

from simulator.server.message import BODYLESS, STATUS_LINE, HttpRequest, header_lines, sized, without_framing
from simulator.server.timing import AnswerWriter
from simulator.server.transports import GatedTransport

EXTENSION: Final = "reseller_sim.responder"  # the key in `scope["extensions"]`
STATUS_LINE_KEY: Final = "reseller_sim.status_line"  # the key in `http.response.start` of an answer that is passed on

_STEPS_PER_SECOND: Final = 10
_SLOWEST: Final = 1.0  # bytes per second; a slower drip is a wait without end
_LENGTH: Final = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)
_CLOSES: Final = re.compile(rb"^connection:.*close", re.IGNORECASE | re.MULTILINE)
_LOG: Final = logging.getLogger(__name__)

Application = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application. One with a method `answer_now`, which is an `AnswerNow`, can answer without a task."""


class CustomEnding(Protocol):
    """How an answer ends that is not sent whole and at once; it calls one of the responder's endings."""

    async def send(self, responder: "Responder", status: int, lines: bytes, body: bytes) -> None: ...


ReadyAnswer = tuple[int, bytes, bytes, CustomEnding | None]
"""Status, header lines with their ends, body, ending."""
PendingAnswer = Coroutine[Any, Any, ReadyAnswer]
AnswerNow = Callable[[HttpRequest, str], PendingAnswer | None]
"""Takes a complete request and its client's address. Returns None to be called by ASGI instead."""
FirstResult = ReadyAnswer | Awaitable[ReadyAnswer] | Exception | None
"""The result of the first step of `answer_now`: the answer, its continuation by `resume`, or its failure."""


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


def first_result(answer_now: AnswerNow, request: HttpRequest, client: str) -> FirstResult:
    """Run `answer_now` until it returns an answer, fails, or waits for a future."""
    try:
        pending = answer_now(request, client)
        return None if pending is None else resume(pending, pending.send(None))
    except StopIteration as done:
        answer: ReadyAnswer = done.value
        return answer
    except Exception as error:  # logged and answered 500, as for any application
        return error


class AnswerStage(IntEnum):
    """The progress of the answer to one request."""

    AWAITED = auto()  # nothing was sent
    BEGUN = auto()  # the head was sent
    OVER = auto()  # complete, or given up; the application reads a disconnect, and what it sends is dropped


AWAITED, BEGUN, OVER = AnswerStage


class AnswerConnection(Protocol):
    """The parts of an `HttpProtocol` that its responders use."""

    scheme: str
    client: tuple[Any, ...]
    server: tuple[Any, ...]
    writer: AnswerWriter
    must_close: asyncio.Event
    may_have_left: asyncio.Event

    def default_lines(self) -> bytes: ...
    def resume_reading(self) -> None: ...
    def on_answered(self) -> None: ...
    def close(self) -> None: ...
    def linger(self) -> None: ...


class Responder:
    """The answer to one request, in a task of its own."""

    def __init__(self, connection: AnswerConnection, request: HttpRequest) -> None:
        self._connection = connection
        self.request = request
        self.stage: AnswerStage = AWAITED
        self.has_input = asyncio.Event()  # `receive` has something to return
        if request.body or request.is_whole:
            self.has_input.set()
        self._has_received_all = False  # the application has the whole body
        self._is_chunked = False
        self._cancellable: asyncio.Task[Any] | None = None  # is cancelled when the client has left
        self._unwritten_bytes: float | None = None  # of the body, infinite if unknown; None for no body at all

    @property
    def _may_receive(self) -> bool:
        return self.stage is not OVER and (self.request.is_whole or not self.request.has_left)

    async def run(self, app: Application, result: FirstResult) -> None:
        """Send the answer of `answer_now`, or without a `result` let `app` answer by ASGI. Answer 500 if that fails."""
        try:
            if result is None:
                await app(self.scope(), self.receive, self.send)
            elif isinstance(result, Exception):
                raise result
            else:
                await self.answer(*(result if isinstance(result, tuple) else await result))
            if self.stage is not OVER and not self._connection.may_have_left.is_set():
                raise RuntimeError("The application returned without a complete answer.")
            self.abort()  # unless the answer is complete, the application knows that its client has left
        except asyncio.CancelledError:  # the server is stopping, or the client has left
            self.abort()
            raise
        except BaseException as error:
            _LOG.error("The application failed to answer", exc_info=error)
            if self.stage is AWAITED:
                self.request.keep_alive = False
                text = b"Internal Server Error"
                self._write_body(text, self._begin(500, sized(b"content-type: text/plain; charset=utf-8\r\n", text)))
            self.abort()

    def end_exchange(self) -> None:
        """Set the stage OVER, and wake the application if it waits for its client."""
        self.stage = OVER
        self.has_input.set()
        self.request.report_departure()

    def on_client_left(self) -> None:
        """End the exchange, and cancel a task that called `cancel_when_left`."""
        self.end_exchange()
        cancellable, self._cancellable = self._cancellable, None  # a second time would interrupt its cleanup
        if cancellable is not None:
            cancellable.cancel()

    def cancel_when_left(self) -> None:
        """Cancel the current task, which answers this request, when its client leaves. Without this call the task
        runs to its end."""
        self._cancellable = asyncio.current_task()
        if self.stage is OVER:
            self.on_client_left()

    def leave_gate(self, *, is_free: bool) -> None:
        """Let the answer pass the closed gate, or no longer. Answers that wait at the gate leave first."""
        transport: object = self._connection.writer.transport
        if isinstance(transport, GatedTransport):
            transport.is_free = is_free

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
            "scheme": connection.scheme,
            "client": connection.client[:2],
            "server": connection.server[:2],
        }

    async def receive(self) -> dict[str, Any]:
        """ASGI's `receive`."""
        request, connection = self.request, self._connection
        if self._may_receive:
            if request.awaits_continue:
                request.awaits_continue = False
                connection.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.resume_reading()
            await self.has_input.wait()
            self.has_input.clear()
        if self.stage is AWAITED and not self._may_receive:  # it needs a body that is cut off
            self.abort()
        if self._has_received_all or not self._may_receive:
            return {"type": "http.disconnect"}
        self._has_received_all = request.is_whole
        return {"type": "http.request", "body": request.take(), "more_body": not request.is_whole}

    async def send(self, message: Mapping[str, Any]) -> None:
        """ASGI's `send`. Raises RuntimeError for a message out of order, or one that violates the framing."""
        await self._connection.writer.writable.wait()
        kind = message["type"]
        if self.stage is OVER:
            return
        if kind == "http.response.start" and self.stage is AWAITED:
            head = message["status"], header_lines(message.get("headers", ())), message.get(STATUS_LINE_KEY, b"")
            self._connection.writer.write(self._begin(*head))
        elif kind == "http.response.body" and self.stage is BEGUN:
            self._write_body(message.get("body", b""), has_more=message.get("more_body", False))
        else:
            raise RuntimeError(f"{kind} cannot be sent when the answer is {self.stage.name.lower()}")

    # Endings

    async def answer(self, status: int, lines: bytes, body: bytes, ending: CustomEnding | None) -> None:
        """Send an answer as its ending says. Raises RuntimeError when an answer has begun."""
        if ending is not None:
            await ending.send(self, status, lines, body)
        elif await self._may_begin():
            self._write_body(body, self._begin(status, lines))

    def abort(self) -> None:
        """Close after what was written, before the answer or in the middle of it."""
        if self.stage is not OVER:
            self.end_exchange()
            self._connection.close()

    async def cut(self, status: int, lines: bytes, body: bytes, after_bytes: int) -> None:
        """Send the Content-Length of the whole body, but only its first `after_bytes` bytes (never all), and close.

        Without a body it closes without an answer. Raises RuntimeError when an answer has begun.
        """
        if not await self._may_begin():
            return
        head = self._begin(status, sized(lines, body))
        if self._unwritten_bytes:
            self._write_body(body[: max(0, min(after_bytes, len(body) - 1))], head, has_more=True)
            self.end_exchange()
            self._connection.linger()
        self.abort()

    async def drip(self, status: int, lines: bytes, body: bytes, bytes_per_second: float) -> None:
        """Send a complete response, the head at once and the body at this pace, and keep the connection.

        It ends early, and closes, when the client leaves or the server stops. A client that has only closed its sending
        side gets it whole, unless it is so slow that writing would not show soon whether the client has left.
        Raises RuntimeError when an answer has begun.
        """
        if not await self._may_begin():
            return
        connection = self._connection
        connection.writer.write(self._begin(status, sized(lines, body)))
        step = max(1, int(bytes_per_second / _STEPS_PER_SECOND))
        end = connection.may_have_left if bytes_per_second < _SLOWEST else connection.must_close
        for start in range(0, len(body) if self._unwritten_bytes else 0, step):
            piece = body[start : start + step]
            await self.send({"type": "http.response.body", "body": piece, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(len(piece) / bytes_per_second):
                    await end.wait()
                    self.abort()
            if self.stage is OVER:
                return
        await self.send({"type": "http.response.body"})

    async def _may_begin(self) -> bool:
        await self._connection.writer.writable.wait()
        if self.stage is BEGUN:
            raise RuntimeError("The answer to this request has begun; only abort() is possible now.")
        return self.stage is AWAITED

    # Writing

    def _begin(self, status: int, lines: bytes, own_line: bytes = b"") -> bytes:
        """Begin the answer and return its head; one with its own status line is passed on, and gets no default headers.
        Without Content-Length the body is chunked, or ends by closing."""
        request, length = self.request, _LENGTH.search(lines)
        if status in BODYLESS:
            lines = lines if own_line else without_framing(lines)
        elif request.method != "HEAD" and length:
            self._unwritten_bytes = int(length[1])
        elif request.method != "HEAD":
            lines, self._unwritten_bytes = without_framing(lines), math.inf
            if request.version == "1.1":
                self._is_chunked = True
                lines += b"transfer-encoding: chunked\r\n"
        if _CLOSES.search(lines):
            request.keep_alive = False
        elif not request.keep_alive:
            lines += b"connection: close\r\n"
        request.awaits_continue = False
        self.stage = BEGUN
        return (own_line or STATUS_LINE[status] + self._connection.default_lines()) + lines + b"\r\n"

    def _write_body(self, body: bytes, head: bytes = b"", *, has_more: bool = False) -> None:
        """Write a piece of the body, after `head` if given. The last piece completes the answer."""
        if self._unwritten_bytes is None:
            body = b""
        elif self._is_chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if has_more else b"0\r\n\r\n")
        else:
            missing = self._unwritten_bytes = self._unwritten_bytes - len(body)
            if missing < 0 or (0 < missing < math.inf and not has_more):
                raise RuntimeError(f"The response's body differs from its Content-Length: {-missing:+} bytes.")
        if head or body:
            self._connection.writer.write(head + body)
        if not has_more:
            self.end_exchange()
            self._connection.on_answered()


def responder_of(scope: Mapping[str, Any]) -> Responder | None:
    """Return the responder of a request, or None under another server."""
    return (scope.get("extensions") or {}).get(EXTENSION)
