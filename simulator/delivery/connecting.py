"""Opens connections to receivers: to checked addresses of a name that is resolved once, with TLS where it is wanted."""

import asyncio
import os
import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

from simulator.delivery.addresses import AddressPolicy
from simulator.delivery.connection import Connection
from simulator.delivery.lookup import NameResolver
from simulator.domain.model.effects import AttemptEnd

HEAD_START_S: Final = 0.25
"""How long an address has to answer before the next one of its name is tried beside it (RFC 8305)."""


class Origin(NamedTuple):
    """Where connections lead. The host is a name in ASCII or an address, an IPv6 one without brackets."""

    is_tls: bool
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class NotConnectedError(Exception):
    """There is no connection: how an attempt ends with it, and why in words."""

    def __init__(self, end: AttemptEnd, reason: str) -> None:
        super().__init__(reason)
        self.end = end
        self.reason = reason


class Dialer:
    """Opens connections to addresses that `policy` allows."""

    def __init__(self, policy: AddressPolicy, names: NameResolver, *, verify_tls: bool) -> None:
        self._policy = policy
        self._names = names
        self._verify_tls = verify_tls
        self._tls: ssl.SSLContext | None = None

    async def connect(self, origin: Origin, connection: Connection) -> None:
        """Open `connection` to `origin`. Raises NotConnectedError; may be cancelled, and leaves nothing open then."""
        left = list(await self._addresses(origin.host))
        tls = await self._context() if origin.is_tls else None
        while True:
            try:
                await _open(left, origin, connection, tls)
                return
            except OSError as error:  # ssl.SSLError is one
                if not left:
                    raise NotConnectedError(AttemptEnd.CONNECTION, _why_not(origin, error)) from None

    async def _addresses(self, host: str) -> Sequence[str]:
        """The addresses of `host`, all of them allowed."""
        addresses = [host] if _is_address(host) else await self._resolved(host)
        for address in addresses:
            if reason := self._policy.refuse(ip_address(address)):
                raise NotConnectedError(AttemptEnd.BLOCKED, reason)
        return addresses

    async def _resolved(self, host: str) -> Sequence[str]:
        try:
            return await self._names.addresses(host)
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


async def _open(left: list[str], origin: Origin, connection: Connection, tls: ssl.SSLContext | None) -> None:
    """Open `connection` to the first address that answers; remove from `left` those that were tried in vain, with it.

    Raises OSError, the one of the last address.
    """
    connected = await _first_connected(left, origin.port)
    try:
        # Certificates name hosts without the last dot.
        name = origin.host.rstrip(".") if tls else None
        await asyncio.get_running_loop().create_connection(
            lambda: connection, sock=connected, ssl=tls, server_hostname=name
        )
    except BaseException:
        connection.abort()
        connected.close()
        raise


async def _first_connected(left: list[str], port: int) -> socket.socket:
    """A socket that is connected to one of the addresses. Those that were tried to the end are removed from `left`."""
    if len(left) == 1:
        return await _connected(left.pop(), port)
    racing: dict[asyncio.Task[socket.socket], str] = {}
    waiting = list(left)
    try:
        while True:
            if waiting:
                racing[asyncio.create_task(_connected(waiting[0], port))] = waiting.pop(0)
            delay_s = HEAD_START_S if waiting else None
            ended, _ = await asyncio.wait(racing, timeout=delay_s, return_when=asyncio.FIRST_COMPLETED)
            for attempt in ended:
                left.remove(racing[attempt])
                if attempt.exception() is None:
                    del racing[attempt]
                    return attempt.result()
                del racing[attempt]
                if not left:
                    attempt.result()
    finally:
        for attempt in racing:
            attempt.cancel()
            attempt.add_done_callback(_close_unused)


async def _connected(address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made


def _close_unused(attempt: "asyncio.Task[socket.socket]") -> None:
    """Close the socket of one that came second."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


def _why_not(origin: Origin, error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        why = getattr(error, "verify_message", None) or error.reason or "no TLS"
        return f"TLS with {origin} failed: {why}"
    why = os.strerror(error.errno) if error.errno else str(error) or "the receiver closed it at once"
    return f"no connection to {origin}: {why}"
