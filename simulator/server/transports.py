"""Layers between a socket and the protocol: TLS, and a gate that holds output.

With TLS, our protocol gets a connection when its handshake is done, for which a client has `HANDSHAKE_S`. A client that
sends plain HTTP gets an answer that it can read. The certificate can be replaced while connections are open.
"""

import asyncio
import re
import ssl
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from uvicorn.server import ServerState

from simulator.server.foreign_clients import LOGGED, ForeignClients
from simulator.server.message import HttpLimits, HttpRefusal

HANDSHAKE_S: Final = 10.0

is_text: Final = re.compile(rb"[\r\n -~]").match  # no record of TLS begins so, and every request of plain HTTP does
_LEASE_LOST: Final = (
    b'{"error":"lease_lost","message":"this server has lost its lease, and nothing was stored; send the request again",'
    b'"path":""}'
)
LEASE_LOST_ANSWER: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_LEASE_LOST), _LEASE_LOST)
)
"""The answer instead of one that must not leave, since what it says was not stored."""


class TlsSettings:
    """The context for new connections, and the time limit of their handshakes. The context may be replaced at any time;
    open connections keep theirs."""

    def __init__(self, context: ssl.SSLContext, *, handshake_s: float = HANDSHAKE_S) -> None:
        self.context = context
        self.handshake_s = handshake_s


class TlsEntry(asyncio.Protocol):
    """A new connection until its handshake is done; then the protocol that `make` returns takes it over. Until then it
    counts as one of the server's connections. uvicorn passes the rest."""

    _is_inside = False
    _has_ended = False

    def __init__(
        self,
        settings: TlsSettings,
        make: Callable[..., asyncio.Protocol],
        foreign: ForeignClients,
        limits: HttpLimits,
        *,
        server_state: ServerState,
        **given: Any,
    ) -> None:
        self._settings, self._foreign, self._limits = settings, foreign, limits
        self._make = partial(make, server_state=server_state, **given)
        self._connections: set[Any] = server_state.connections
        self._early: list[bytes] = []  # what came with its end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, unless there are too many connections."""
        self._transport = cast(asyncio.Transport, transport)
        loop = asyncio.get_running_loop()
        # The beginning of the handshake, which comes before TLS is there to take it.
        self._first: asyncio.Future[bytes] = loop.create_future()
        self._shaking = loop.create_task(self._shake())
        self._connections.add(self)
        if len(self._connections) > self._limits.connections:
            self.hang_up()

    def hang_up(self) -> None:
        """Close at once."""
        self._connections.discard(self)
        self._shaking.cancel()
        self._transport.abort()

    shutdown = hang_up  # uvicorn calls it when the server stops

    def connection_lost(self, exc: Exception | None) -> None:
        """End the handshake of a client that has left."""
        self.hang_up()

    async def _shake(self) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._settings.handshake_s
        try:
            async with asyncio.timeout_at(ends_at):
                first = await self._first
            if is_text(first):
                self._foreign.log("plain", LOGGED["plain"])
                self._transport.write(HttpRefusal("tls_only").encode(b""))
                self._transport.write_eof()
                self._transport.resume_reading()  # with unread bytes it would be reset, and the answer lost
                await asyncio.sleep(self._limits.linger_s)
                self._transport.abort()
                return
            self._is_inside = True
            loop.call_soon(loop.call_soon, self._feed, first)  # after the calls that `start_tls` schedules
            inside = await loop.start_tls(
                self._transport,
                self,
                self._settings.context,
                server_side=True,
                ssl_handshake_timeout=max(ends_at - loop.time(), 0.001),
            )
        except (OSError, asyncio.CancelledError):  # no TLS, too slow, or gone
            self._transport.abort()
            return
        finally:
            self._connections.discard(self)
        if inside is None or inside.is_closing():
            self._transport.abort()
            return
        protocol = self._make()
        inside.set_protocol(protocol)
        protocol.connection_made(inside)
        for data in self._early:
            protocol.data_received(data)
        if self._has_ended:
            protocol.eof_received()
            inside.close()

    def data_received(self, data: bytes) -> None:
        """Keep the beginning of the handshake for TLS, and what comes with its end for the protocol."""
        if self._is_inside:
            self._early.append(data)
        elif not self._first.done():  # else it was no TLS, and is refused
            self._transport.pause_reading()  # the rest is for TLS
            self._first.set_result(data)

    def eof_received(self) -> None:
        """Note that the client sends no more; asyncio closes the connection."""
        self._has_ended = True

    def _feed(self, first: bytes) -> None:
        """Pass the bytes that arrived before TLS was set up to TLS."""
        protocol = cast(asyncio.BufferedProtocol, self._transport.get_protocol())
        view = memoryview(first)
        while len(view) and not self._transport.is_closing():
            buffer = memoryview(protocol.get_buffer(len(view)))
            count = min(len(buffer), len(view))
            buffer[:count] = view[:count]
            protocol.buffer_updated(count)
            view = view[count:]


Act = Callable[[], None]

OutputGate = Callable[[Act, Act], bool]
"""Returns whether bytes may leave now; if not, it calls its first argument when they may, or the second if they never
will, or neither."""


class GatedTransport:
    """A transport that writes and closes, in the order of the calls, and each piece when the gate is open for it: what
    is written later may depend on a later commit. With `is_free` set, the next bytes need no gate."""

    def __init__(self, transport: asyncio.Transport, gate: OutputGate) -> None:
        self._transport = transport
        self._gate = gate
        self._held: deque[tuple[bytes, list[Act]]] = deque()  # what the gate holds, and what follows each
        self._is_closing = False
        self.is_free = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write when the gate is open; nothing to a client that has left by then."""
        if self.is_free or self._gate(self._release, self._refuse):
            self._do(partial(self._transport.write, data))
        else:
            self._held.append((data, []))

    def write_eof(self) -> None:
        """Close our side after everything was written."""
        self._do(self._transport.write_eof)

    def close(self) -> None:
        """Close after everything was written."""
        self._is_closing = True
        self._do(self._transport.close)

    def abort(self) -> None:
        """Close at once; what is held is not written."""
        self._is_closing = True
        self._held.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        """True when it closes, or will when the gate is open."""
        return self._is_closing or self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that the other side has not taken, including held bytes."""
        return sum(len(data) for data, _ in self._held) + self._transport.get_write_buffer_size()

    def _do(self, act: Act) -> None:
        if self._held:
            self._held[-1][1].append(act)
        else:
            act()

    def _refuse(self) -> None:
        """Refuse instead of sending what is held; in the middle of an answer, close alone."""
        if self._held and self._held[0][0].startswith(b"HTTP/1.1 ") and not self._transport.is_closing():
            self._transport.write(LEASE_LOST_ANSWER)
            self._transport.close()
        elif self._held:
            self._transport.abort()
        self._held.clear()

    def _release(self) -> None:
        if self._held:
            data, acts = self._held.popleft()
            acts.insert(0, partial(self._transport.write, data))
            for act in acts:
                if self._transport.is_closing():  # the client has left meanwhile
                    return
                act()
