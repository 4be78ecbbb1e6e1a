"""Forwards a request to the server that owns its sandbox, and its answer back as it comes.

A forwarded request carries a header with the secret of its receiver, the address of the client and its scheme. A server
never forwards such a request again: when it does not own the sandbox, it answers 421 with the name of this header,
having done nothing. A scenario may answer 421, too.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from hmac import compare_digest
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.types import Message, Receive, Scope, Send

from simulator.http_client.answers import AnswerBounds, AnswerHead, AnswerReader
from simulator.http_client.client import Client
from simulator.http_client.connection import Connection, NoAnswerError
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.postgres.address import TIMEOUT_S
from simulator.postgres.leases import Peer
from simulator.server.responder import STATUS_LINE_KEY, responder_of

MARK: Final = b"x-sim-forwarded"
NOT_OWNER: Final = 421
ANSWER_TIMEOUT_S: Final = 660.0
"""Longer than any request may wait at its owner."""

_BOUNDS: Final = AnswerBounds(head_bytes=256 * 1024, fields=1024, body_bytes=None)
_OF_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"expect", b"transfer-encoding", b"content-length", b"upgrade"}
)

Fields = Iterable[tuple[bytes, bytes]]


class NotForwarded(Exception):
    """The owner did not execute the request: it cannot be reached, or is no longer the owner."""


class OwnerLost(Exception):
    """The lease of the owner ended before it answered: the request may have been executed."""


class ForwardedClient(NamedTuple):
    """The client of a forwarded request, and the scheme that it used."""

    client: str
    scheme: str


def is_forwarded(headers: Mapping[bytes, bytes] | Fields) -> bool:
    """Return whether a request says that it was forwarded."""
    return MARK in headers if isinstance(headers, Mapping) else any(name == MARK for name, _ in headers)


def accept(scope: Scope, secret: str) -> ForwardedClient | None:
    """Return the client that the mark of a request names, and remove the mark; return None for a wrong secret."""
    given = next(value for name, value in scope["headers"] if name == MARK).decode("latin-1").split(" ")
    responder = responder_of(scope)
    sources = [scope["headers"]] if responder is None else [scope["headers"], responder.request.headers]
    for headers in sources:
        headers[:] = [field for field in headers if field[0] != MARK]
    if responder is not None:
        responder.request.by_name.pop(MARK, None)
    if len(given) != 3 or not compare_digest(given[0].encode(), secret.encode()):
        return None
    return ForwardedClient(given[1], given[2])


async def body_of(receive: Receive) -> bytes | None:
    """Return the whole body of a request, or None when its client has left."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


class Forwarder:
    """Forwards requests over connections that are kept open."""

    def __init__(self) -> None:
        self._client = Client(Dialer())
        self._waits: dict[int, set[asyncio.Timeout]] = {}  # by server
        self.count = 0

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def keep(self, servers: Collection[int]) -> None:
        """End the exchanges with all other servers, whose lease has ended."""
        for server in self._waits.keys() - set(servers):
            for wait in self._waits[server]:
                wait.reschedule(0)

    async def forward(self, peer: Peer, scope: Scope, body: bytes, send: Send) -> None:
        """Forward a request to its owner and send its answer. An answer that breaks off, or that a fault prevents,
        closes the connection of the client. Raises `NotForwarded` before anything was sent or executed, and `OwnerLost`
        before anything was sent."""
        reader = AnswerReader(scope["method"], _BOUNDS)
        self.count += 1
        waits = self._waits.setdefault(peer.id, set())
        wait = asyncio.timeout(None)
        try:
            async with wait, self._client.connection(_origin(peer), TIMEOUT_S) as connection:
                waits.add(wait)
                connection.begin(reader)
                await self._exchange(connection, _request(peer, scope, body), send)
        except NotConnectedError as error:
            raise NotForwarded(f"cannot be reached: {error.short}") from None
        except (NoAnswerError, TimeoutError, ConnectionError) as error:
            if reader.head is None and isinstance(error, TimeoutError):
                raise OwnerLost from None
            responder = responder_of(scope)
            if responder is not None:
                responder.abort()
        finally:
            waits.discard(wait)
            if not waits:
                self._waits.pop(peer.id, None)

    async def _exchange(self, connection: Connection, request: bytes, send: Send) -> None:
        await connection.send(request)
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            head = await connection.head()
        if head.status == NOT_OWNER and any(name.lower() == MARK for name, _ in head.fields):
            with suppress(NoAnswerError):
                while not (await connection.piece())[1]:
                    pass
            raise NotForwarded("no longer owns it")
        await send(_start(head))
        is_last = False
        while not is_last:
            piece, is_last = await connection.piece()
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})

    async def rows(self, peer: Peer, scope: Scope, bytes_max: int) -> bytes:
        """Return the body of the answer of a server to a GET. Raises `NotForwarded`."""
        reader = AnswerReader("GET", AnswerBounds(64 * 1024, 128, bytes_max))
        try:
            is_over = await self._client.exchange(_origin(peer), _request(peer, scope, b""), reader, TIMEOUT_S)
        except NotConnectedError as error:
            raise NotForwarded(f"cannot be reached: {error.short}") from None
        if not is_over or reader.head is None or reader.problem:
            raise NotForwarded("did not answer in time" if not is_over else "gave no answer")
        if reader.head.status != 200:
            raise NotForwarded(f"answered {reader.head.status}")
        return reader.take()


def _origin(peer: Peer) -> Origin:
    parts = urlsplit(peer.url)
    return Origin(False, parts.hostname or "", parts.port or 80)


def _request(peer: Peer, scope: Scope, body: bytes) -> bytes:
    """Return a request as it came, with the mark."""
    responder = responder_of(scope)
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    if responder is not None:
        target = responder.request.raw_target or responder.request.target
    client = scope.get("client") or ("-",)
    mark = f"{peer.secret} {client[0] or '-'} {scope.get('scheme', 'http')}".encode()
    headers = [(name, value) for name, value in scope["headers"] if name not in _OF_HOP]
    if body or any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
        headers.append((b"content-length", b"%d" % len(body)))
    headers.append((MARK, mark))
    line = b"%b %b HTTP/1.1\r\n" % (scope["method"].encode(), target)
    return line + b"".join(b"%b: %b\r\n" % field for field in headers) + b"\r\n" + body


def _start(head: AnswerHead) -> Message:
    own = frozenset({b"connection", b"keep-alive", b"transfer-encoding"})
    return {
        "type": "http.response.start",
        "status": head.status,
        "headers": [field for field in head.fields if field[0].lower() not in own],
        STATUS_LINE_KEY: b"HTTP/1.1 %d %b\r\n" % (head.status, head.reason),
    }
