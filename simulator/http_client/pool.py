"""The connections of a client: each is kept for a while after an answer, as long as the server allows.

An idle connection is checked just before reuse; if the server has closed it, or sent something, a new one is opened.
Once a request may have been sent, only the next attempt sends it again.
"""

import asyncio
from collections import OrderedDict
from typing import Final

from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, Origin

KEEP_ALIVE_S: Final = 4.0
"""Idle connections are dropped after this; common servers close theirs after 5 s."""

IDLE_MAX: Final = 1024
"""The maximum of connections without an attempt, as many as attempts may have; beyond it the oldest one is closed."""

_CLOSING_S: Final = 1.0


class Pool:
    """The open connections of one event loop: those of attempts, and those that are idle or being closed."""

    def __init__(self, dialer: Dialer) -> None:
        self._loop = asyncio.get_running_loop()
        self._dialer = dialer
        self._opened: set[Connection] = set()
        self._unused: OrderedDict[Connection, Origin] = OrderedDict()  # without an attempt, the oldest one first
        self._idle: dict[Origin, dict[Connection, None]] = {}  # those of them that can be taken
        self._sweeping: asyncio.TimerHandle | None = None
        self._is_closed = False

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection to `origin` that can be used, the last one that was."""
        while idle := self._idle.get(origin):
            connection = next(reversed(idle))
            self._forget(connection)
            if self._loop.time() - connection.idle_since <= KEEP_ALIVE_S and connection.is_quiet:
                return connection
            connection.abort()
        return None

    async def open(self, origin: Origin, owner: str) -> Connection:
        """A new connection to `origin` for the sandbox `owner`. Raises NotConnectedError."""
        connection = await self._dialer.connect(origin, owner, self)
        if self._is_closed:
            connection.abort()
        return connection

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """Keep `connection` for the next request to `origin` if it is open, or else until it is closed."""
        if self._is_closed or connection not in self._opened:
            return
        connection.idle_since = self._loop.time()
        self._unused[connection] = origin
        if connection.is_open:
            self._idle.setdefault(origin, {})[connection] = None
        if len(self._unused) > IDLE_MAX:
            oldest = next(iter(self._unused))
            self._forget(oldest)
            oldest.abort()
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_S, self._sweep)

    async def close(self) -> None:
        """Close all connections, including active ones."""
        self._is_closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in tuple(self._opened):
            connection.abort()
        ends = self._loop.time() + _CLOSING_S
        while self._opened and self._loop.time() < ends:  # noqa: ASYNC110 - each is closed within a few turns
            await asyncio.sleep(0)

    def _forget(self, connection: Connection) -> None:
        """It has an attempt, or is about to be closed."""
        origin = self._unused.pop(connection, None)
        if origin is not None and (idle := self._idle.get(origin)) is not None:
            idle.pop(connection, None)
            if not idle:
                del self._idle[origin]

    def _sweep(self) -> None:
        """Close those that were idle for too long, and come back when the next one will have been."""
        self._sweeping = None
        for connection in list(self._unused):
            ends = connection.idle_since + KEEP_ALIVE_S
            if ends > self._loop.time():
                self._sweeping = self._loop.call_at(ends, self._sweep)
                break
            self._forget(connection)
            connection.close()

    # What connections tell of themselves

    def add(self, connection: Connection) -> None:
        """It is connected."""
        self._opened.add(connection)

    def discard(self, connection: Connection) -> None:
        """It is closed."""
        self._opened.discard(connection)
        self._forget(connection)
