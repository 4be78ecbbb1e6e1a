"""A client of HTTP/1.1: requests over connections that are kept a while, each sent once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from simulator.domain.model.effects import AttemptEnd
from simulator.http_client.answers import AnswerReader
from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.http_client.pool import Pool


class Client:
    """A client on the running loop. It follows no redirects, stores no cookies, and uses no proxy."""

    def __init__(self, dialer: Dialer) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(dialer)

    async def exchange(
        self, origin: Origin, request: bytes, reader: AnswerReader, timeout_s: float, owner: str = ""
    ) -> bool:
        """Send `request` to `origin`, and let `reader` have the answer. Connecting, sending and reading take at most
        `timeout_s` in total: False when the reader is not over by then.

        Raises NotConnectedError. `owner` is the sandbox whose lookups of names are counted together.
        """
        connection, left_s = self._pool.take(origin), timeout_s
        if connection is None:
            began = self._loop.time()
            connection = await self._opened(origin, owner, timeout_s)
            left_s = timeout_s - (self._loop.time() - began)
        connection.begin(reader)
        try:
            return await connection.exchange(request, left_s)
        finally:
            connection.end()
            self._pool.give_back(origin, connection)

    @asynccontextmanager
    async def connection(self, origin: Origin, timeout_s: float) -> AsyncIterator[Connection]:
        """A connection for one exchange, piece by piece; connecting takes at most `timeout_s`. Raises
        NotConnectedError."""
        connection = self._pool.take(origin) or await self._opened(origin, "", timeout_s)
        try:
            yield connection
        finally:
            connection.end()
            self._pool.give_back(origin, connection)

    async def _opened(self, origin: Origin, owner: str, timeout_s: float) -> Connection:
        try:
            async with asyncio.timeout(timeout_s):
                return await self._pool.open(origin, owner)
        except TimeoutError:
            raise NotConnectedError(AttemptEnd.TIMEOUT, f"no connection within {timeout_s:g} s") from None

    async def close(self) -> None:
        """Close all connections, including active ones."""
        await self._pool.close()
