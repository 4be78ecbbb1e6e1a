"""The connections that deliveries travel on: to checked addresses only, kept alive while the receiver keeps them.

A request is written once. A kept connection is looked at just before it is used; if its receiver has closed it, or
sent something, another one is opened. Once a request may have left, nothing is sent again but by the next attempt.

Imports aiohttp, which takes a third of a second; `sender` imports this on first use.
"""

import asyncio
import functools
import selectors
import socket
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import AddrInfoType, Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from aiohttp.tracing import Trace

from simulator.delivery.lookup import Names
from simulator.delivery.status_line import StatusLine
from simulator.delivery.targets import AddressPolicy

KEEP_ALIVE_S = 4.0
"""Idle connections are dropped after this; common servers close theirs after 5 s."""

_HEAD_FIELD_BYTES = 16 * 1024
_UNREAD_HEADS = 16
_AUTOMATIC_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

# poll takes any descriptor, select none above 1023; Windows has select alone.
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


class RefusedAddressError(OSError):
    """The policy forbids an address that a delivery was about to connect to; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DroppedError(Exception):
    """The connection ended before a whole answer head came."""


class Wire(ResponseHandler):
    """aiohttp's protocol for one connection, which also notes the status line of the answer to an attempt.

    It ends a connection on which answers pile up that nobody asked for, such as an endless row of `100 Continue`:
    aiohttp would parse and queue them for as long as they come, and nothing else would get its turn meanwhile.
    """

    line: StatusLine | None = None

    def data_received(self, data: bytes) -> None:
        """Bytes from the receiver."""
        if self.line is not None:
            self.line.feed(data)
        super().data_received(data)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """An answer's head and the stream of its body."""
        if len(self) < _UNREAD_HEADS:
            super().feed_data(data, size)
        elif self.transport is not None:
            self.abort()
            self.set_exception(HttpProcessingError(code=400, message="more answers than requests"))

    @property
    def is_quiet(self) -> bool:
        """True when the receiver has neither sent anything nor closed, not even what the loop has yet to notice.

        Bytes that no request asked for (some servers send a 408 before they close) would be taken for the answer.
        """
        if self.transport is None or self.should_close:
            return False
        with _Selector() as selector:
            selector.register(self.transport.get_extra_info("socket"), selectors.EVENT_READ)
            return not selector.select(0)


@dataclass(slots=True)
class Attempt:
    """One request and what has come of it so far."""

    opened: bool = False  # a socket was opened for it, so its connection is new
    is_connected: bool = False
    line: StatusLine = field(default_factory=StatusLine)
    headers: tuple[tuple[str, str], ...] = ()
    body: bytearray = field(default_factory=bytearray)


ATTEMPT: ContextVar[Attempt] = ContextVar("attempt")
"""The attempt of the running task; the tasks that race for a connection inherit it."""


class CheckedResolver(AbstractResolver):
    """Looks a name up for each new connection and refuses it when any of its addresses is refused.

    The addresses returned are those that are connected to: nothing looks the name up again.
    """

    def __init__(self, policy: AddressPolicy, names: Names) -> None:
        self._policy = policy
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host`; raises OSError when it has none, `RefusedAddressError` when one is refused."""
        addresses = await self._names.addresses(host)
        for address in addresses:
            if reason := self._policy.refuse(ip_address(address)):
                raise RefusedAddressError(reason)
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        """Nothing is held."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class Pool(aiohttp.TCPConnector):
    """aiohttp's connection pool, with a check of each address and each idle connection at the last moment."""

    def __init__(self, policy: AddressPolicy, names: Names, verify_tls: bool) -> None:
        super().__init__(
            resolver=CheckedResolver(policy, names),
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=KEEP_ALIVE_S,
            ssl=verify_tls,
            socket_factory=self._open_socket,
        )
        self._policy = policy
        # The one private name of aiohttp's that we use; there is no public way to another protocol.
        protocol: type[ResponseHandler] = Wire
        self._factory = functools.partial(protocol, loop=asyncio.get_running_loop())

    def _open_socket(self, addr_info: AddrInfoType) -> socket.socket:
        """A socket for an address about to be connected to; here also literal hosts pass, which are not resolved."""
        family, kind, protocol, _, sockaddr = addr_info
        if reason := self._policy.refuse(ip_address(sockaddr[0])):
            raise RefusedAddressError(reason)
        ATTEMPT.get().opened = True
        return socket.socket(family, kind, protocol)

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the signature is aiohttp's
    ) -> Connection:
        """A connection for `req`: from the pool as long as it has a quiet one, else a new one."""
        attempt = ATTEMPT.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            wire = connection.protocol
            assert isinstance(wire, Wire)
            if attempt.opened or wire.is_quiet:
                wire.line, attempt.is_connected = attempt.line, True
                return connection
            connection.close()


async def _no_hidden_retry(request: aiohttp.ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """aiohttp repeats a GET by itself, on fresh connections too; a receiver would see one attempt twice."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientConnectionResetError) as error:
        raise DroppedError from error


def open_session(policy: AddressPolicy, names: Names, verify_tls: bool) -> aiohttp.ClientSession:
    """A session on the running loop that adds no header of its own but Host and Content-Length, and keeps no cookie."""
    return aiohttp.ClientSession(
        connector=Pool(policy, names, verify_tls),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        skip_auto_headers=_AUTOMATIC_HEADERS,
        auto_decompress=False,
        trust_env=False,
        max_field_size=_HEAD_FIELD_BYTES,
        middlewares=(_no_hidden_retry,),
    )
