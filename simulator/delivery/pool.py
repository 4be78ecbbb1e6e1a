"""The connection pool of deliveries: validated addresses only, keep-alive as long as the receiver allows.

A request is written once. An idle connection is checked just before reuse; if its receiver has closed it, or sent
something, a new one is opened. Once a request may have been sent, only the next attempt sends it again.

Imports aiohttp, which takes a third of a second; `sender` imports this module lazily.
"""

import asyncio
import functools
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

from simulator.delivery.addresses import AddressPolicy
from simulator.delivery.lookup import NameResolver
from simulator.delivery.readable import is_readable
from simulator.delivery.status_line import StatusLine

KEEP_ALIVE_S = 4.0
"""Idle connections are dropped after this; common servers close theirs after 5 s."""

_HEAD_FIELD_BYTES = 16 * 1024
_UNREAD_HEADS = 16
_AUTOMATIC_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class RefusedAddressError(OSError):
    """The policy forbids an address before a connection; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DroppedError(Exception):
    """The connection ended before a complete answer head arrived."""


class Wire(ResponseHandler):
    """aiohttp's protocol for one connection, which also records the status line of the answer to an attempt.

    It closes a connection that floods the client with unrequested answers, such as endless `100 Continue`: aiohttp
    would parse and queue them without yielding to other tasks.
    """

    line: StatusLine | None = None

    def data_received(self, data: bytes) -> None:
        """Bytes from the receiver."""
        if self.line is not None:
            self.line.feed(data)
        super().data_received(data)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """The head of an answer and the stream of its body."""
        if len(self) < _UNREAD_HEADS:
            super().feed_data(data, size)
        elif self.transport is not None:
            self.abort()
            self.set_exception(HttpProcessingError(code=400, message="more answers than requests"))

    @property
    def is_quiet(self) -> bool:
        """True when the receiver has neither sent anything nor closed, as seen by the socket, not the loop.

        Unrequested bytes (some servers send a 408 before they close) would be parsed as the answer.
        """
        if self.transport is None or self.should_close:
            return False
        return not is_readable(self.transport.get_extra_info("socket").fileno())


@dataclass(slots=True)
class RequestProgress:
    """One request and its progress."""

    opened: bool = False  # a socket was opened for it, so its connection is new
    is_connected: bool = False
    line: StatusLine = field(default_factory=StatusLine)
    headers: tuple[tuple[str, str], ...] = ()
    body: bytearray = field(default_factory=bytearray)


PROGRESS: ContextVar[RequestProgress] = ContextVar("progress")
"""The progress of the running task; the tasks that race for a connection inherit it."""


class CheckedResolver(AbstractResolver):
    """Resolves a name for each new connection and rejects it when any of its addresses is forbidden.

    Connections use the returned addresses: the name is not resolved a second time.
    """

    def __init__(self, policy: AddressPolicy, names: NameResolver) -> None:
        self._policy = policy
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host`; raises OSError when it has none, `RefusedAddressError` when one is forbidden."""
        addresses = await self._names.addresses(host)
        for address in addresses:
            if reason := self._policy.refuse(ip_address(address)):
                raise RefusedAddressError(reason)
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        """Nothing to release."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class Pool(aiohttp.TCPConnector):
    """aiohttp's connection pool, which checks each address and each idle connection just before use."""

    def __init__(self, policy: AddressPolicy, names: NameResolver, verify_tls: bool) -> None:
        super().__init__(
            resolver=CheckedResolver(policy, names),
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=KEEP_ALIVE_S,
            ssl=verify_tls,
            socket_factory=self._open_socket,
        )
        self._policy = policy
        # The only private name of aiohttp that we use; no public API sets the protocol.
        protocol: type[ResponseHandler] = Wire
        self._factory = functools.partial(protocol, loop=asyncio.get_running_loop())

    def _open_socket(self, addr_info: AddrInfoType) -> socket.socket:
        """A socket for the address of a connection; also covers literal hosts, which are not resolved."""
        family, kind, protocol, _, sockaddr = addr_info
        if reason := self._policy.refuse(ip_address(sockaddr[0])):
            raise RefusedAddressError(reason)
        PROGRESS.get().opened = True
        return socket.socket(family, kind, protocol)

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the signature is aiohttp's
    ) -> Connection:
        """A connection for `req`: a quiet one from the pool if there is one, else a new one."""
        progress = PROGRESS.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            wire = connection.protocol
            assert isinstance(wire, Wire)
            if progress.opened or wire.is_quiet:
                wire.line, progress.is_connected = progress.line, True
                return connection
            connection.close()


async def _no_hidden_retry(request: aiohttp.ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """aiohttp retries a GET by itself, on fresh connections too; a receiver would see one attempt twice."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientConnectionResetError) as error:
        raise DroppedError from error


def open_session(policy: AddressPolicy, names: NameResolver, verify_tls: bool) -> aiohttp.ClientSession:
    """A session on the running loop that adds no headers but Host and Content-Length, and stores no cookies."""
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
