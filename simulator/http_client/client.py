"""An HTTP/1.1 client with a pool of idle connections, which sends each request once.

An idle connection is checked just before reuse. If the server has closed it or sent something, a new connection is
opened. A request that may have been sent is repeated only by the next attempt.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import Final

from simulator.domain.model.delivery_attempts import AttemptEnd
from simulator.http_client.answers import AnswerReader
from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.http_client.slots import TOTAL

KEEP_ALIVE_S: Final = 4.0
"""Idle connections are dropped after this; common servers close theirs after 5 s."""

_CLOSING_S: Final = 1.0
_TICK_S: Final = 0.001
"""uvloop rounds timers to milliseconds."""


class Client:
    """A client on the running loop. It follows no redirects, stores no cookies, and uses no proxy.

    It has the open connections: in use, idle or being closed.
    """

    def __init__(self, dialer: Dialer) -> None:
        self._loop = asyncio.get_running_loop()
        self._dialer = dialer
        self._opened: dict[Connection, Origin] = {}
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)  # or being closed; the latest is last
        self._sweeping: asyncio.TimerHandle | None = None
        self._unsent: list[tuple[Connection, bytes]] = []  # the requests of this turn of the event loop
        self._deadlines_s: dict[Connection, float] = {}  # of the exchanges that wait for their response
        self._alarm: asyncio.TimerHandle | None = None  # at the first deadline, or before it
        self._alarm_s = inf
        self._is_closed = False

    async def exchange(
        self, origin: Origin, request: bytes, reader: AnswerReader, timeout_s: float, owner: str = ""
    ) -> bool:
        """Send `request` to `origin` and feed the response to `reader`. Return False when connecting, sending and
        reading together exceed `timeout_s`.

        Raises NotConnectedError. DNS lookups count against the sandbox `owner`.
        """
        deadline_s = self._loop.time() + timeout_s
        connection = self.take(origin) or await self._open(origin, owner, timeout_s)
        try:
            connection.begin(reader)
            if not reader.is_over:
                if not self._unsent:
                    self._loop.call_soon(self._send_all)
                self._unsent.append((connection, request))
                self._deadlines_s[connection] = deadline_s
                if deadline_s < self._alarm_s:
                    self._set_alarm(deadline_s)
                await connection.arrival()
            return reader.is_over
        finally:
            self._deadlines_s.pop(connection, None)
            connection.end()
            self.give_back(connection)

    def _send_all(self) -> None:
        """Send the requests of all exchanges that began in this turn of the event loop: a server that has to be woken
        is woken once for all of them."""
        unsent, self._unsent = self._unsent, []
        for connection, request in unsent:
            connection.start(request)

    def _set_alarm(self, at_s: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._alarm_s = self._loop.call_at(at_s, self._end_late), at_s

    def _end_late(self) -> None:
        """End the exchanges whose deadline has passed. One alarm serves all of them, since most end long before."""
        self._alarm, self._alarm_s = None, inf
        now_s = self._loop.time() + _TICK_S
        for connection, deadline_s in self._deadlines_s.items():
            if deadline_s <= now_s:
                connection.wake()
        if later := [deadline_s for deadline_s in self._deadlines_s.values() if deadline_s > now_s]:
            self._set_alarm(min(later))

    @asynccontextmanager
    async def connection(self, origin: Origin, timeout_s: float) -> AsyncIterator[Connection]:
        """Open a connection for an exchange, piece by piece, within `timeout_s`. Raises NotConnectedError."""
        connection = self.take(origin) or await self._open(origin, "", timeout_s)
        try:
            yield connection
        finally:
            connection.end()
            self.give_back(connection)

    async def close(self) -> None:
        """Close all connections, including active ones."""
        self._is_closed = True
        for timer in filter(None, (self._sweeping, self._alarm)):
            timer.cancel()
        for connection in tuple(self._opened):
            connection.abort()
        ends = self._loop.time() + _CLOSING_S
        while self._opened and self._loop.time() < ends:  # noqa: ASYNC110 - each is closed within a few turns
            await asyncio.sleep(0)

    async def _open(self, origin: Origin, owner: str, timeout_s: float) -> Connection:
        """Open a connection to `origin` for the sandbox `owner`. Raises NotConnectedError."""
        try:
            async with asyncio.timeout(timeout_s):
                connection = await self._dialer.connect(origin, owner, self._discard)
        except TimeoutError:
            raise NotConnectedError(AttemptEnd.TIMEOUT, f"no connection within {timeout_s:g} s") from None
        if self._is_closed:
            connection.abort()
        elif connection.is_open:
            self._opened[connection] = origin
        return connection

    def take(self, origin: Origin) -> Connection | None:
        """Return the most recently used idle connection to `origin` that is still usable, or None."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if self._loop.time() - connection.idle_since <= KEEP_ALIVE_S and connection.is_quiet:
                return connection
            if connection.is_open:  # else it is closing, and may still tell its receiver so by TLS
                connection.abort()
        return None

    def give_back(self, connection: Connection) -> None:
        """Keep `connection` for the next request to its origin if it is open, or else until it is closed."""
        origin = self._opened.get(connection)
        if origin is None or self._is_closed:
            return
        connection.idle_since = self._loop.time()
        self._idle[origin].append(connection)
        if len(self._opened) > TOTAL and sum(map(len, self._idle.values())) > TOTAL:  # as many as attempts at a time
            oldest = min(filter(None, self._idle.values()), key=_idle_since)
            oldest.pop(0).abort()
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_S, self._sweep)

    def _sweep(self) -> None:
        """Close connections that were idle for too long, and schedule the next sweep."""
        self._sweeping = None
        for origin, idle in list(self._idle.items()):
            while idle and idle[0].idle_since + KEEP_ALIVE_S <= self._loop.time():
                idle.pop(0).close()
            if not idle:
                del self._idle[origin]
        if self._idle:
            ends = min(map(_idle_since, self._idle.values())) + KEEP_ALIVE_S
            self._sweeping = self._loop.call_at(ends, self._sweep)

    def _discard(self, connection: Connection) -> None:
        """Remove a closed connection."""
        origin = self._opened.pop(connection, None)
        if origin is not None and connection in (idle := self._idle.get(origin, [])):
            idle.remove(connection)


def _idle_since(idle: list[Connection]) -> float:
    """Return since when the first of these connections is idle."""
    return idle[0].idle_since
