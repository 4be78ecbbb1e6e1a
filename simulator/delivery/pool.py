"""The connections of deliveries: each is kept for a while behind an answer, as long as the receiver allows.

An idle connection is checked just before reuse; if its receiver has closed it, or sent something, a new one is opened.
Once a request may have been sent, only the next attempt sends it again.
"""

import asyncio
from typing import Final

from simulator.delivery.connecting import Dialer, Origin
from simulator.delivery.connection import Connection

KEEP_ALIVE_S: Final = 4.0
"""Idle connections are dropped after this; common servers close theirs after 5 s."""

_CLOSING_S: Final = 1.0


class Pool:
    """The open connections of one event loop, and those of them that are idle, the last one used first."""

    def __init__(self, dialer: Dialer) -> None:
        self._loop = asyncio.get_running_loop()
        self._dialer = dialer
        self._opened: set[Connection] = set()
        self._idle: dict[Origin, list[Connection]] = {}
        self._sweeping: asyncio.TimerHandle | None = None
        self._is_closed = False

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection to `origin` that can be used."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if self._loop.time() - connection.idle_since <= KEEP_ALIVE_S and connection.is_quiet:
                return connection
            connection.abort()
        return None

    async def open(self, origin: Origin) -> Connection:
        """A new connection to `origin`. Raises NotConnectedError."""
        connection = await self._dialer.connect(origin, self._opened)
        if self._is_closed:
            connection.abort()
        return connection

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """Keep `connection` for the next request to `origin`, if it is open."""
        if not connection.is_open:
            return
        connection.idle_since = self._loop.time()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_S, self._sweep)

    async def close(self) -> None:
        """Close all connections, including active ones."""
        self._is_closed = True
        self._idle.clear()
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in tuple(self._opened):
            connection.abort()
        ends = self._loop.time() + _CLOSING_S
        while self._opened and self._loop.time() < ends:  # noqa: ASYNC110 - each is closed within a few turns
            await asyncio.sleep(0)

    def _sweep(self) -> None:
        """Close those that were idle for too long, and come back when the next one will have been."""
        ends = self._loop.time() - KEEP_ALIVE_S
        for origin, idle in list(self._idle.items()):
            kept = [connection for connection in idle if connection.is_open and connection.idle_since > ends]
            for connection in idle:
                if connection not in kept:
                    connection.close()
            if kept:
                self._idle[origin] = kept
            else:
                del self._idle[origin]
        oldest = min((idle[0].idle_since for idle in self._idle.values()), default=None)
        self._sweeping = None if oldest is None else self._loop.call_at(oldest + KEEP_ALIVE_S, self._sweep)
