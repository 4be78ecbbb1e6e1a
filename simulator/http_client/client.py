"""One HTTP exchange: send a request, read a bounded answer, report how it ended."""

import asyncio

from simulator.domain.model.effects import AttemptEnd, AttemptResult, Outgoing
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.answers import AnswerReader
from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.http_client.lookup import NameResolver
from simulator.http_client.pool import Pool
from simulator.http_client.request import NotAllowedError, request_bytes, route
from simulator.http_client.targets import HttpTarget


class Client:
    """A client of HTTP/1.1 on the running loop. It follows no redirects, stores no cookies, uses no proxy, and sends
    each request once."""

    def __init__(self, policy: AddressPolicy, names: NameResolver, *, verify_tls: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(Dialer(policy, names, verify_tls=verify_tls))

    async def exchange(self, outgoing: Outgoing, target: HttpTarget, timeout_s: float, owner: str) -> AttemptResult:
        """Send `outgoing` of the sandbox `owner` to `target`; connecting, sending and reading take at most `timeout_s`
        in total."""
        way = route(target)
        try:
            request = request_bytes(outgoing, way)
        except NotAllowedError as error:
            return AttemptResult(AttemptEnd.BLOCKED, error=str(error))
        connection, left_s = self._pool.take(way.origin), timeout_s
        if connection is None:
            began = self._loop.time()
            opened = await self._opened(way.origin, owner, timeout_s)
            if isinstance(opened, AttemptResult):
                return opened
            connection, left_s = opened, timeout_s - (self._loop.time() - began)
        reader = AnswerReader(outgoing.method)
        is_over = await connection.exchange(request, reader, left_s)
        self._pool.give_back(way.origin, connection)
        return _result(reader) if is_over else _timed_out(reader, timeout_s)

    async def _opened(self, origin: Origin, owner: str, timeout_s: float) -> Connection | AttemptResult:
        """A new connection, or the result of an attempt that has none."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._pool.open(origin, owner)
        except TimeoutError:
            return AttemptResult(AttemptEnd.TIMEOUT, error=f"no connection within {timeout_s:g} s")
        except NotConnectedError as error:
            return AttemptResult(error.end, error=error.reason)

    async def close(self) -> None:
        """Close all connections, including active ones."""
        await self._pool.close()


def _result(reader: AnswerReader) -> AttemptResult:
    """The status line decides: the rest may be truncated or malformed."""
    if reader.status is None:
        return AttemptResult(AttemptEnd.CONNECTION, error=reader.error)
    body = reader.body.decode("utf-8", "replace")
    return AttemptResult(AttemptEnd.ANSWERED, reader.status, body, reader.error, reader.headers or ())


def _timed_out(reader: AnswerReader, timeout_s: float) -> AttemptResult:
    """Says which part had not arrived; a status that has is an answer."""
    if reader.status is None:
        return AttemptResult(AttemptEnd.TIMEOUT, error=f"connected, but no answer within {timeout_s:g} s")
    reader.error = f"status {reader.status} came, but not its whole answer within {timeout_s:g} s"
    return _result(reader)
