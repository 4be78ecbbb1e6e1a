"""The connection faults that ASGI cannot make: no answer, an answer cut in its middle, an answer that drips.

An ASGI application asks for them by the scope of the request that it is answering, and returns afterwards::

    connection = connection_of(scope)
    if connection is not None:
        await connection.cut(200, [(b"content-type", b"application/json")], body, after_bytes=40)
        return

Nothing is logged and no 500 is sent for an application that returns so. A fault touches its own request only: pipelined
requests before it were answered, those after it are dropped with the connection. When the client has left already, the
methods do nothing.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

EXTENSION: Final = "reseller_sim.connection"
"""The key in `scope["extensions"]`."""

Headers = Iterable[tuple[bytes, bytes]]
_STEPS_PER_SECOND = 10
DRIP: Final = "drip "
"""How an ending begins that names a pace."""


class Connection(Protocol):
    """What an application may do to the connection that carries its request."""

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole answer in one write, which ASGI's two messages would make two of.

        Headers are written as they are: the caller vouches for them, Content-Length among them.
        Raises RuntimeError when an answer has begun.
        """

    def abort(self) -> None:
        """Close at once, without an answer, or without the rest of an answer that has begun."""

    async def cut(self, status: int, headers: Headers, body: bytes, after_bytes: int) -> None:
        """Promise `body` whole by Content-Length, send its first `after_bytes` bytes (at most all but one), and close.

        Where there is no body to cut, for an empty one and in answer to HEAD, it closes without an answer.
        Raises RuntimeError when an answer has begun.
        """

    async def drip(self, status: int, headers: Headers, body: bytes, bytes_per_second: float) -> None:
        """Send a good response, its head at once and its body at this pace, and keep the connection.

        It ends early, and closes, when the client leaves or the server stops.
        Raises RuntimeError when an answer has begun.
        """

    async def pause(self, seconds: float) -> bool:
        """Wait, and say whether there is still somebody to answer.

        False comes early, when the client leaves or the server stops; the connection is closed then, and the
        application just returns.
        """


class Carrier(Protocol):
    """What the faults need of the server's protocol."""

    running: RequestResponseCycle | None

    def close_unanswered(self, cycle: RequestResponseCycle) -> None:
        """Forget the exchange and close."""

    def close_half_answered(self, cycle: RequestResponseCycle) -> None:
        """Forget the exchange and close when what was written has arrived."""

    def close_answered(self, cycle: RequestResponseCycle) -> None:
        """Close behind a whole answer, so that it arrives though its request is still coming in."""

    def ended(self) -> asyncio.Event:
        """Return an event that is set when the client has left or the server stops."""


class _CarriedConnection:
    """The `Connection` of one request on our own server, made when it is asked for.

    The scope itself carries only the server's protocol: most requests never ask, and an object in the scope that knew
    its request would make a reference cycle of every one.
    """

    __slots__ = ("_carrier", "_cycle")

    def __init__(self, carrier: Carrier, cycle: RequestResponseCycle | None) -> None:
        self._carrier = carrier
        self._cycle = cycle

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `Connection.answer`."""
        cycle = self._unanswered_cycle()
        if cycle is None:
            return
        if cycle.flow.write_paused:
            await cycle.flow.drain()
            if cycle.disconnected:
                return
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        shown = b"" if cycle.scope["method"] == "HEAD" else body
        ends = b"" if cycle.keep_alive else b"connection: close\r\n"
        cycle.transport.write(whole_answer(status, cycle.default_headers, headers, shown, ends))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self._carrier.close_answered(cycle)
        cycle.on_response()

    def abort(self) -> None:
        """See `Connection.abort`."""
        cycle = self._open_cycle()
        if cycle is not None:
            self._carrier.close_unanswered(cycle)

    async def cut(self, status: int, headers: Headers, body: bytes, after_bytes: int) -> None:
        """See `Connection.cut`."""
        cycle = self._unanswered_cycle()
        if cycle is None:
            return
        if not body or cycle.scope["method"] == "HEAD":
            self._carrier.close_unanswered(cycle)
            return
        await _start(cycle, status, headers, len(body))
        kept = max(0, min(after_bytes, len(body) - 1))
        await cycle.send({"type": "http.response.body", "body": body[:kept], "more_body": True})
        self._carrier.close_half_answered(cycle)

    async def drip(self, status: int, headers: Headers, body: bytes, bytes_per_second: float) -> None:
        """See `Connection.drip`."""
        cycle = self._unanswered_cycle()
        if cycle is None:
            return
        await _start(cycle, status, headers, len(body))
        step = max(1, int(bytes_per_second / _STEPS_PER_SECOND))
        unseen = 0 if cycle.scope["method"] == "HEAD" else len(body)
        for start in range(0, unseen, step):
            piece = body[start : start + step]
            await cycle.send({"type": "http.response.body", "body": piece, "more_body": True})
            if not await self.pause(len(piece) / bytes_per_second):
                return
        await cycle.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def pause(self, seconds: float) -> bool:
        """See `Connection.pause`."""
        if self._open_cycle() is None:
            return False
        try:
            async with asyncio.timeout(seconds):
                await self._carrier.ended().wait()
        except TimeoutError:
            return True
        self.abort()
        return False

    def _open_cycle(self) -> RequestResponseCycle | None:
        """Return this request's exchange while its answer is not complete and its client is there."""
        cycle = self._cycle
        return None if cycle is None or cycle.response_complete or cycle.disconnected else cycle

    def _unanswered_cycle(self) -> RequestResponseCycle | None:
        cycle = self._open_cycle()
        if cycle is not None and cycle.response_started:
            raise RuntimeError("The answer to this request has begun; only abort() is possible now.")
        return cycle


def whole_answer(status: int, defaults: Headers, headers: Headers, body: bytes, ends: bytes = b"") -> bytes:
    """An answer as it goes out; `ends` are header lines of the connection's own."""
    parts = [STATUS_LINE[status]]
    for name, value in defaults:
        parts += (name, b": ", value, b"\r\n")
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    parts += (ends, b"\r\n", body)
    return b"".join(parts)


def connection_of(scope: Mapping[str, Any]) -> Connection | None:
    """Return the connection of the request that is being answered, or None when another server carries it."""
    extensions = scope.get("extensions")
    carrier: Carrier | None = extensions.get(EXTENSION) if extensions else None
    return None if carrier is None else _CarriedConnection(carrier, carrier.running)


async def _start(cycle: RequestResponseCycle, status: int, headers: Headers, length: int) -> None:
    """Send a head that promises `length` bytes of body, whatever framing `headers` name."""
    kept = [header for header in headers if header[0].lower() not in (b"content-length", b"transfer-encoding")]
    kept.append((b"content-length", b"%d" % length))
    await cycle.send({"type": "http.response.start", "status": status, "headers": kept})


async def deliver(
    scope: Mapping[str, Any], send: Any, status: int, headers: list[tuple[bytes, bytes]], content: bytes, ending: str
) -> None:
    """Send an answer the way its `ending` says: whole, `cut` in the middle, slowly (`drip N`, N bytes a second), or not
    at all (`abort`, `gone`).

    On another server than ours an answer goes out by ASGI's two messages, and what it cannot do is not done.
    """
    connection = connection_of(scope)
    if ending == "gone":
        return
    if connection is None:
        if not ending or ending.startswith(DRIP):
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": content})
    elif not ending:
        await connection.answer(status, headers, content)
    elif ending == "abort":
        connection.abort()
    elif ending.startswith(DRIP):
        await connection.drip(status, headers, content, float(ending.removeprefix(DRIP)))
    else:
        await connection.cut(status, headers, content, len(content) // 2)
