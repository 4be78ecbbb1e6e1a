"""The connections to one upstream: so many at once, each for one exchange at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from simulator.http_client.client import Client
from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, Origin
from simulator.staging.proxy.address import Address

CONNECT_TIMEOUT_S: Final = 10.0
IN_FLIGHT_MAX: Final = 128


class Crowded(Exception):
    """No connection became free in time."""


class Pool:
    """Connections to `address`, which the operator gave and nobody checks. `timeout_s` is for whoever waits for one."""

    def __init__(self, address: Address, timeout_s: float, in_flight_max: int = IN_FLIGHT_MAX) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._free = asyncio.Semaphore(in_flight_max)
        self._client = Client(Dialer())
        self._origin = Origin(address.is_tls, address.host, address.port)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection for one exchange. Raises NotConnectedError, `Crowded`."""
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._free.acquire()
        except TimeoutError:
            raise Crowded from None
        try:
            async with self._client.connection(self._origin, CONNECT_TIMEOUT_S) as connection:
                yield connection
        finally:
            self._free.release()

    async def close(self) -> None:
        """Close them all."""
        await self._client.close()
