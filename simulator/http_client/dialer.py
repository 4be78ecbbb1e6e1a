"""Opens connections to receivers: to checked addresses of a name that is resolved once, with TLS where it is wanted."""

import asyncio
import errno
import os
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from simulator.domain.model.effects import AttemptEnd
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.connection import Connection, Register, tls_reason
from simulator.http_client.lookup import NameResolver

HEAD_START_S: Final = 0.25
TLS_HEAD_START_S: Final = 1.0
"""How long an address has to answer before the next one of its name is tried beside it (RFC 8305)."""

ADDRESSES_MAX: Final = 16
"""How many addresses of a name are checked and tried; whoever serves the name can list thousands."""

FAREWELL_S: Final = 2.0
"""How long a receiver has to end TLS, once we have."""

_NO_DESCRIPTOR: Final = (errno.EMFILE, errno.ENFILE)

Dial = Callable[[str], Coroutine[Any, Any, Connection]]


class Origin(NamedTuple):
    """Where connections lead. The host is a name in ASCII or an address, an IPv6 one without brackets."""

    is_tls: bool
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class NotConnectedError(Exception):
    """There is no connection: how an attempt ends with it, why in words, and whether for want of a free descriptor."""

    def __init__(self, end: AttemptEnd, reason: str, *, lacks_descriptor: bool = False) -> None:
        super().__init__(reason)
        self.end = end
        self.reason = reason
        self.lacks_descriptor = lacks_descriptor


class Dialer:
    """Opens connections to addresses that `policy` allows."""

    def __init__(self, policy: AddressPolicy, names: NameResolver, *, verify_tls: bool) -> None:
        self._policy = policy
        self._names = names
        self._verify_tls = verify_tls
        self._tls: ssl.SSLContext | None = None

    async def connect(self, origin: Origin, owner: str, opened: Register) -> Connection:
        """A connection to `origin` for the sandbox `owner`, which is in `opened` until it is closed.

        Raises NotConnectedError. May be cancelled; nothing is left open then.
        """
        addresses = await self._addresses(origin.host, owner)
        tls = await self._context() if origin.is_tls else None
        dial = partial(_dial, origin, tls, opened)
        try:
            return await (dial(addresses[0]) if len(addresses) == 1 else _first(dial, addresses, origin))
        except OSError as error:  # ssl.SSLError is one
            is_lack = error.errno in _NO_DESCRIPTOR and not isinstance(error, ssl.SSLError)
            reason = _why_not(origin, error)
            raise NotConnectedError(AttemptEnd.CONNECTION, reason, lacks_descriptor=is_lack) from None

    async def _addresses(self, host: str, owner: str) -> Sequence[str]:
        """The first addresses of `host`, all of them allowed."""
        addresses = [host] if _is_address(host) else await self._resolved(host, owner)
        for address in addresses:
            if reason := self._policy.refuse(ip_address(address)):
                raise NotConnectedError(AttemptEnd.BLOCKED, reason)
        return addresses

    async def _resolved(self, host: str, owner: str) -> Sequence[str]:
        try:
            return (await self._names.addresses(host, owner))[:ADDRESSES_MAX]
        except OSError as error:
            reason = f"the name {host} does not resolve: {error.strerror or error}"
            raise NotConnectedError(AttemptEnd.DNS, reason) from None

    async def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            made = await asyncio.to_thread(_tls_context, verify=self._verify_tls)
            self._tls = self._tls or made
        return self._tls


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _tls_context(*, verify: bool) -> ssl.SSLContext:
    """Reads the certificates of the authorities, which takes some ten milliseconds."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


async def _dial(origin: Origin, tls: ssl.SSLContext | None, opened: Register, address: str) -> Connection:
    """A connection to one address, which needs no lookup. Raises OSError."""
    loop = asyncio.get_running_loop()
    connection = Connection(loop, opened)
    name = origin.host.rstrip(".") if tls else None  # certificates name hosts without the last dot
    farewell_s = FAREWELL_S if tls else None
    try:
        await loop.create_connection(
            lambda: connection, address, origin.port, ssl=tls, server_hostname=name, ssl_shutdown_timeout=farewell_s
        )
    except BaseException:
        connection.abort()
        raise
    return connection


async def _first(dial: Dial, addresses: Sequence[str], origin: Origin) -> Connection:
    """The first connection of those to several addresses, each of which begins when the one before it has failed or has
    had its head start. Raises OSError, the last one."""
    head_start_s = TLS_HEAD_START_S if origin.is_tls else HEAD_START_S
    waiting = deque(addresses)
    racing: set[asyncio.Task[Connection]] = set()
    failure: BaseException | None = None
    try:
        while waiting or racing:
            if waiting:
                racing.add(asyncio.create_task(dial(waiting.popleft())))
            ended, _ = await asyncio.wait(
                racing, timeout=head_start_s if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in ended:
                racing.remove(attempt)
                failure = attempt.exception()
                if failure is None:
                    return attempt.result()
    finally:
        for attempt in racing:
            attempt.cancel()
            attempt.add_done_callback(_close_unused)
    assert failure is not None
    try:
        raise failure
    finally:
        del failure  # its traceback has this frame, and the garbage collector would have to part them


def _close_unused(attempt: "asyncio.Task[Connection]") -> None:
    """Close the connection of one that came second."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().abort()


def _why_not(origin: Origin, error: OSError) -> str:
    if reason := tls_reason(error):
        return f"TLS with {origin} failed: {reason}"
    why = os.strerror(error.errno) if error.errno else str(error) or "the receiver closed it at once"
    return f"no connection to {origin}: {why}"
