"""Opens connections to receivers: resolves a name once, checks its addresses, and negotiates TLS."""

import asyncio
import os
import ssl
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple

from simulator.domain.model.delivery_attempts import AttemptEnd
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.connection import Connection, tls_reason
from simulator.http_client.lookup import NameResolver

ADDRESS_TIMEOUT_S: Final = 1.0
"""How long an address may take to answer before the next is tried. The last address has all remaining time."""

ADDRESSES_MAX: Final = 16
"""The maximum number of addresses per name that are checked and tried; a name server can return thousands."""

CLOSE_NOTIFY_S: Final = 2.0
"""The time that a receiver has to answer our TLS close_notify."""

OnLost = Callable[[Connection], object]
_OF_OTHER_HOST: Final = (62, 64)
"""OpenSSL's error codes for a certificate of another host name or address."""


class Origin(NamedTuple):
    """The target of a connection. The host is an ASCII name or an address; an IPv6 address has no brackets. Without
    `verifies`, any certificate is accepted."""

    is_tls: bool
    host: str
    port: int
    verifies: bool = True

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class NotConnectedError(Exception):
    """No connection could be opened: the outcome of the attempt, and the reason. `short` does not name the server.
    `is_untrusted` is true for a certificate of an unknown authority."""

    def __init__(self, end: AttemptEnd, reason: str, short: str = "", is_untrusted: bool = False) -> None:
        super().__init__(reason)
        self.end = end
        self.short = short or reason
        self.is_untrusted = is_untrusted


class Dialer:
    """Opens connections to the addresses that `policy` allows; None allows all. Certificates are verified against the
    system's authorities and `ca_file`."""

    def __init__(
        self, policy: AddressPolicy | None = None, names: NameResolver | None = None, ca_file: Path | None = None
    ) -> None:
        self._policy = policy
        self._names = names or NameResolver()
        self._ca_file = ca_file
        self._tls: dict[bool, ssl.SSLContext] = {}  # by whether it verifies certificates

    async def connect(self, origin: Origin, owner: str, on_lost: OnLost) -> Connection:
        """Open a connection to `origin` for the sandbox `owner`, which calls `on_lost` once it is closed.

        Raises NotConnectedError. Cancellation leaves nothing open.
        """
        addresses = await self._addresses(origin.host, owner)
        tls = await self._context(origin.verifies) if origin.is_tls else None
        reasons = ("", "", False)
        for address in addresses:
            try:
                async with asyncio.timeout(None if address == addresses[-1] else ADDRESS_TIMEOUT_S):
                    return await _dial(origin, tls, on_lost, address)
            except OSError as error:  # ssl.SSLError and TimeoutError are subclasses
                reasons = _failure_reasons(origin, error)
        raise NotConnectedError(AttemptEnd.CONNECTION, *reasons)

    async def _addresses(self, host: str, owner: str) -> Sequence[str]:
        """Return the first addresses of `host`, after checking that all are allowed."""
        addresses: Sequence[str] = [host]
        try:
            ip_address(host)
        except ValueError:
            try:
                addresses = (await self._names.addresses(host, owner))[:ADDRESSES_MAX]
            except OSError as error:
                text = f"the name {host} does not resolve: {error.strerror or error}"
                raise NotConnectedError(AttemptEnd.DNS, text) from None
        for address in addresses:
            if reason := self._policy and self._policy.refuse(ip_address(address)):
                raise NotConnectedError(AttemptEnd.BLOCKED, reason)
        return addresses

    async def _context(self, verifies: bool) -> ssl.SSLContext:
        if verifies not in self._tls:
            context = await asyncio.to_thread(tls_context, self._ca_file)
            if not verifies:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self._tls.setdefault(verifies, context)
        return self._tls[verifies]


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return a TLS context for connections to receivers. Loading the certificate authorities takes about ten
    milliseconds. Raises OSError for a `ca_file` without certificates."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def _dial(origin: Origin, tls: ssl.SSLContext | None, on_lost: OnLost, address: str) -> Connection:
    """Connect to a single address, without a lookup. Raises OSError."""
    loop = asyncio.get_running_loop()
    connection = Connection(loop, on_lost)
    name = origin.host.rstrip(".") if tls else None  # certificates name hosts without the trailing dot
    shutdown_s = CLOSE_NOTIFY_S if tls else None
    try:
        await loop.create_connection(
            lambda: connection, address, origin.port, ssl=tls, server_hostname=name, ssl_shutdown_timeout=shutdown_s
        )
    except BaseException:
        connection.abort()
        raise
    return connection


def _failure_reasons(origin: Origin, error: OSError) -> tuple[str, str, bool]:
    """Return the arguments of `NotConnectedError`."""
    if reason := tls_reason(error):
        is_untrusted = isinstance(error, ssl.SSLCertVerificationError) and error.verify_code not in _OF_OTHER_HOST
        return f"TLS with {origin} failed: {reason}", reason, is_untrusted
    why = os.strerror(error.errno) if error.errno else str(error) or "the receiver closed it at once"
    return f"no connection to {origin}: {why}", why, False
