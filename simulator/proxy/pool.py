"""The connections to one upstream: kept for a moment, bounded in number, opened within a time limit."""

import asyncio
import os
import ssl
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from simulator.http_client.lookup import NameResolver
from simulator.proxy.address import Address
from simulator.proxy.connection import UpstreamConnection

KEEP_ALIVE_S: Final = 4.0  # common servers close idle connections after 5 s
CONNECT_TIMEOUT_S: Final = 10.0
IN_FLIGHT_MAX: Final = 128


class NoConnection(Exception):
    """There is no connection to the upstream; the text says why."""


class Crowded(Exception):
    """No connection became free in time."""


class Pool:
    """Connections to `address`; each is for one exchange at a time. `timeout_s` is for whoever waits for a free one."""

    def __init__(self, address: Address, timeout_s: float, in_flight_max: int = IN_FLIGHT_MAX) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._free = asyncio.Semaphore(in_flight_max)
        self._idle: deque[tuple[float, UpstreamConnection]] = deque()
        self._names = NameResolver()
        self._tls = ssl.create_default_context() if address.is_tls else None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[UpstreamConnection]:
        """A connection for one exchange. Raises `NoConnection`, `Crowded`."""
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._free.acquire()
        except TimeoutError:
            raise Crowded from None
        try:
            connection = self._kept() or await self._opened()
            try:
                yield connection
            finally:
                if connection.end():
                    self._idle.append((asyncio.get_running_loop().time(), connection))
        finally:
            self._free.release()

    def close(self) -> None:
        """Close the idle ones."""
        while self._idle:
            self._idle.pop()[1].close()

    def _kept(self) -> UpstreamConnection | None:
        """The connection that was used last, if it is young; the old ones are closed."""
        oldest = asyncio.get_running_loop().time() - KEEP_ALIVE_S
        while self._idle and self._idle[0][0] < oldest:
            self._idle.popleft()[1].close()
        while self._idle:
            connection = self._idle.pop()[1]
            if connection.is_quiet:
                return connection
            connection.close()
        return None

    async def _opened(self) -> UpstreamConnection:
        address, loop = self.address, asyncio.get_running_loop()
        failure: Exception | None = None
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                for host in await self._names.addresses(address.host):
                    try:
                        _, made = await loop.create_connection(
                            UpstreamConnection,
                            host,
                            address.port,
                            ssl=self._tls,
                            server_hostname=address.host if self._tls else None,
                        )
                    except OSError as error:
                        failure = error
                    else:
                        return made
        except TimeoutError:
            raise NoConnection(f"no connection within {CONNECT_TIMEOUT_S:g} s") from None
        except OSError as error:
            raise NoConnection(f"the name {address.host} does not resolve: {_words(error)}") from None
        raise NoConnection(_words(failure)) from None


def _words(error: Exception | None) -> str:
    if isinstance(error, ssl.SSLError):
        text = getattr(error, "verify_message", "") or error.reason or "no TLS"
    elif isinstance(error, OSError) and error.errno and error.errno > 0:
        text = os.strerror(error.errno)
    else:
        text = getattr(error, "strerror", "") or str(error)
    return " ".join(text.split())[:200]
