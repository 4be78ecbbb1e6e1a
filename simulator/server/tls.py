"""TLS for the protocol: a certificate that can be replaced while connections are open, and handshakes with a timeout.

Our protocol gets a connection when its handshake is done, for which a client has `HANDSHAKE_S`. A client that sends
plain HTTP gets an answer that it can read.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from uvicorn.server import ServerState

from simulator.server.foreign_clients import LOGGED, ForeignClients
from simulator.server.message import HttpLimits, HttpRefusal

HANDSHAKE_S: Final = 10.0

is_text: Final = re.compile(rb"[\r\n -~]").match  # no record of TLS begins so, and every request of plain HTTP does


class TlsSettings:
    """The context for new connections, and the time limit of their handshakes. The context may be replaced at any time;
    open connections keep theirs."""

    def __init__(self, context: ssl.SSLContext, *, handshake_s: float = HANDSHAKE_S) -> None:
        self.context = context
        self.handshake_s = handshake_s


class TlsEntry(asyncio.Protocol):
    """A new connection until its handshake is done; then the protocol that `make` returns takes it over. Until then it
    counts as one of the server's connections. uvicorn passes the rest."""

    _transport: asyncio.Transport
    _shaking: asyncio.Task[None]
    _has_begun: asyncio.Future[None]
    _is_inside = False
    _has_ended = False
    _is_refused = False

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
        self._first: list[bytes] = []  # the beginning of the handshake, which came before TLS was there to take it
        self._early: list[bytes] = []  # what came with its end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, unless there are too many connections."""
        self._transport = cast(asyncio.Transport, transport)
        loop = asyncio.get_running_loop()
        self._has_begun = loop.create_future()
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

    async def _shake(self) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._settings.handshake_s
        try:
            async with asyncio.timeout_at(ends_at):
                await self._has_begun
            if is_text(self._first[0]):
                self._is_refused = True
                self._foreign.log("plain", LOGGED["plain"])
                self._transport.write(HttpRefusal("tls_only").encode(b""))
                self._transport.write_eof()
                self._transport.resume_reading()  # with unread bytes it would be reset, and the answer lost
                await asyncio.sleep(self._limits.linger_s)
                self._transport.abort()
                return
            self._is_inside = True
            loop.call_soon(loop.call_soon, self._feed)  # after the calls that `start_tls` schedules
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
        self._early.clear()
        if self._has_ended:
            protocol.eof_received()
            inside.close()

    def data_received(self, data: bytes) -> None:
        """Keep the beginning of the handshake for TLS, and what comes with its end for the protocol."""
        if self._is_refused:
            return
        if self._is_inside:
            self._early.append(data)
            return
        self._first.append(data)
        self._transport.pause_reading()  # the rest is for TLS
        if not self._has_begun.done():
            self._has_begun.set_result(None)

    def eof_received(self) -> None:
        """Note that the client sends no more."""
        self._has_ended = True
        if not self._is_inside and not self._is_refused:
            self.hang_up()

    def _feed(self) -> None:
        """Pass the bytes that arrived before TLS was set up to TLS."""
        protocol = cast(asyncio.BufferedProtocol, self._transport.get_protocol())
        for data in self._first:
            view = memoryview(data)
            while len(view) and not self._transport.is_closing():
                buffer = memoryview(protocol.get_buffer(len(view)))
                count = min(len(buffer), len(view))
                buffer[:count] = view[:count]
                protocol.buffer_updated(count)
                view = view[count:]
        self._first.clear()
