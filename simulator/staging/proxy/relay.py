"""Relays a request to an upstream and its answer back, byte for byte, and records the exchange.

No request is sent twice: each carries a nonce, and may be a payment. Without a valid answer, the proxy answers with its
own error. If an answer is interrupted, the proxy also interrupts the client's connection.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from time import perf_counter
from typing import Any, Final

from simulator.http_client.answers import SWITCHING_PROTOCOLS, AnswerBounds, AnswerHead, AnswerReader
from simulator.http_client.client import Client
from simulator.http_client.connection import Connection, NoAnswerError
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.server.message import header_lines
from simulator.server.responder import OVER, STATUS_LINE_KEY, responder_of
from simulator.staging.proxy.messages import (
    BodyBudget,
    BufferedBody,
    PassedExchange,
    passed_on,
    to_upstream,
    value_of,
)
from simulator.staging.signed_requests import Address
from simulator.wire.formats import encode
from simulator.wire.traffic import Headers

CONNECT_TIMEOUT_S: Final = 10.0
IN_FLIGHT_MAX: Final = 128
BODY_TIMEOUTS_MAX: Final = 20  # how often the limit of an answer's body may be exceeded before reading pauses
BOUNDS: Final = AnswerBounds(head_bytes=256 * 1024, fields=65_536, body_bytes=None)
BAD_GATEWAY, UNAVAILABLE, GATEWAY_TIMEOUT = 502, 503, 504


class RelayFailure(Exception):
    """The answer is missing or incomplete: the proxy's own status and code, and the reason."""

    def __init__(self, status: int, code: str, words: str) -> None:
        super().__init__(words)
        self.status, self.code, self.words = status, code, words


class Relay:
    """Relays requests to an upstream at the operator's `address`; messages call it `whom`. `timeout_s` limits each part
    of an exchange, and the wait for a connection."""

    def __init__(
        self, address: Address, timeout_s: float, whom: str, wall: Callable[[], datetime], budget: BodyBudget
    ) -> None:
        self.address, self.timeout_s, self.whom, self.wall, self.budget = address, timeout_s, whom, wall, budget
        self._free = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._client = Client(Dialer())
        self._origin = Origin(address.is_tls, address.host, address.port)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Open a connection for an exchange. Raises `RelayFailure`."""
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._free.acquire()
        except TimeoutError:
            words = f"no connection to {self.whom} was free within {self.timeout_s:g} s"
            raise RelayFailure(UNAVAILABLE, "proxy_busy", words) from None
        try:
            async with self._client.connection(self._origin, CONNECT_TIMEOUT_S) as connection:
                yield connection
        except NotConnectedError as error:
            words = f"{self.whom} at {self.address.url} cannot be reached: {error.short}"
            raise RelayFailure(BAD_GATEWAY, "upstream_unreachable", words) from None
        finally:
            self._free.release()

    async def close(self) -> None:
        await self._client.close()

    async def pass_on(
        self, scope: Any, receive: Any, send: Any, target: bytes, note: Callable[[PassedExchange], None]
    ) -> None:
        """Relay a request of ASGI to `target` at the upstream, and answer it.

        `note` is called once, if possible before the client has the last byte.
        """
        passing = _RelayedRequest(self, scope, receive, send, target, note)
        try:
            await passing.run()
        finally:
            passing.finish()


class _RelayedRequest:
    """A request on its way."""

    def __init__(
        self, relay: Relay, scope: Any, receive: Any, send: Any, target: bytes, note: Callable[[PassedExchange], None]
    ) -> None:
        self._relay = relay
        self._scope, self._receive, self._send = scope, receive, send
        self._target, self._note = target, note
        self._at, self._began = relay.wall(), perf_counter()
        self._headers: Headers = tuple(scope["headers"])
        self._sent, self._got = BufferedBody(relay.budget), BufferedBody(relay.budget)
        self._head: AnswerHead | None = None
        self._reader = AnswerReader(scope["method"], BOUNDS)
        self._has_more = False
        self._is_noted = False
        responder = responder_of(scope)
        assert responder is not None, "the proxy runs on our server"
        self._responder = responder

    async def run(self) -> None:
        """Relay the request once a part of its body has arrived, so that a slow client holds no connection. Failures
        are answered and recorded."""
        try:
            first = await self._piece()
            async with self._relay.connection() as connection:
                await self._exchange(connection, first)
        except RelayFailure as failed:
            await self._fail(failed)

    def finish(self) -> None:
        """Record the exchange if the proxy stopped before its end; release the bodies."""
        if not self._is_noted:
            self._finish("proxy_stopped", "the proxy was stopped before the exchange was complete")
        self._sent.release()
        self._got.release()

    async def _exchange(self, connection: Connection, first: bytes) -> None:
        connection.begin(self._reader)
        uploading = asyncio.create_task(self._upload(connection, first))
        try:
            self._head = await self._first(connection, uploading)
            await self._start(self._head)
            await self._download(connection)
        finally:
            uploading.cancel()
            await asyncio.wait({uploading})
            if uploading.cancelled() or uploading.exception() is not None:
                connection.abort()  # the request on it is incomplete

    # The request

    async def _upload(self, connection: Connection, piece: bytes) -> None:
        """Send the request, whose body begins with `piece`.

        Raises `RelayFailure`; `TimeoutError` and `ConnectionError` when the upstream does not take it.
        """
        is_chunked = value_of(self._headers, b"transfer-encoding") != b""
        fields = to_upstream(self._headers, self._relay.address.authority, is_chunked=is_chunked)
        line = b"%b %b HTTP/1.1\r\n" % (
            self._scope["method"].encode(),
            self._relay.address.base.encode() + self._target,
        )
        unsent = line + b"".join(b"%b: %b\r\n" % field for field in fields) + b"\r\n"
        while True:
            framed = b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked and piece else piece
            await self._write(connection, unsent + framed)
            if not self._has_more:
                break
            unsent, piece = b"", await self._piece()
        if is_chunked:
            await self._write(connection, b"0\r\n\r\n")

    async def _piece(self) -> bytes:
        """Return and record the next piece of the body; empty at the end. Raises `RelayFailure`."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise RelayFailure(0, "client_left", "the client left before its request was complete")
        self._has_more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        self._sent.add(piece)
        return piece

    async def _write(self, connection: Connection, data: bytes) -> None:
        async with asyncio.timeout(self._relay.timeout_s):
            await connection.send(data)

    # The answer

    async def _first(self, connection: Connection, uploading: "asyncio.Task[None]") -> AnswerHead:
        """Return the head of the answer, which may come before the request is complete, or after its upload failed."""
        whom, limit = self._relay.whom, self._relay.timeout_s
        heading = asyncio.create_task(connection.head())
        try:
            await asyncio.wait({heading, uploading}, return_when=asyncio.FIRST_COMPLETED)
            if not heading.done():
                failure = uploading.exception()
                if isinstance(failure, RelayFailure):
                    raise failure
                if isinstance(failure, TimeoutError):
                    raise RelayFailure(
                        GATEWAY_TIMEOUT, "upstream_timeout", f"{whom} took no more of the request for {limit:g} s"
                    )
            async with asyncio.timeout(limit):
                head = await heading
        except TimeoutError:
            raise RelayFailure(
                GATEWAY_TIMEOUT, "upstream_timeout", f"{whom} did not answer within {limit:g} s"
            ) from None
        except NoAnswerError:
            part = "in the middle of the head of its answer" if self._reader.has_begun else "before an answer came"
            raise self._no_answer(f"{whom} ended {part}: {self._reader.broke_off}", BAD_GATEWAY) from None
        finally:
            heading.cancel()
        self._check(head)
        return head

    def _check(self, head: AnswerHead) -> None:
        """Refuse an answer that cannot be relayed. Raises `RelayFailure`."""
        problem = ""
        if head.status == SWITCHING_PROTOCOLS:
            problem = f"has the status {head.status}, which was not requested"
        try:
            header_lines([(b"", head.reason), *head.fields])
        except ValueError:
            problem = "is not HTTP: a control character in its head"
        if problem:
            raise RelayFailure(BAD_GATEWAY, "upstream_not_http", f"the answer of {self._relay.whom} {problem}")

    def _no_answer(self, broke_off: str, status: int = 0) -> RelayFailure:
        """Return why the reader has no answer, or an incomplete answer."""
        if self._reader.problem:
            return RelayFailure(status, "upstream_not_http", f"the answer of {self._relay.whom} {self._reader.problem}")
        return RelayFailure(status, "upstream_broke_off", broke_off)

    async def _start(self, head: AnswerHead) -> None:
        await self._send(
            {
                "type": "http.response.start",
                "status": head.status,
                "headers": list(passed_on(head.fields)),
                STATUS_LINE_KEY: b"HTTP/1.1 %d %b\r\n" % (head.status, head.reason),
            }
        )

    async def _download(self, connection: Connection) -> None:
        whom, pause = self._relay.whom, self._relay.timeout_s
        end = asyncio.get_running_loop().time() + BODY_TIMEOUTS_MAX * pause
        try:
            while True:
                async with asyncio.timeout_at(min(end, asyncio.get_running_loop().time() + pause)):
                    piece, is_last = await connection.piece()
                self._got.add(piece)
                if not self._got.is_whole and self._responder.stage is OVER:
                    raise RelayFailure(0, "client_left", "the client left before a long answer was complete")
                if is_last:
                    self._finish()
                await self._send({"type": "http.response.body", "body": piece, "more_body": not is_last})
                if is_last:
                    return
        except TimeoutError:
            raise RelayFailure(
                0, "upstream_timeout", f"the answer of {whom} did not end in time, and was cut"
            ) from None
        except NoAnswerError:
            raise self._no_answer(f"the answer of {whom} broke off: {self._reader.broke_off}") from None

    # The end

    async def _fail(self, failed: RelayFailure) -> None:
        self._finish(failed.code, failed.words, failed.status)
        if not failed.status:
            self._responder.abort()
            return
        message = f"reseller-sim proxy, not the service: {failed.words}"
        body = encode({"error": failed.code, "message": message})
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await self._send({"type": "http.response.start", "status": failed.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def _finish(self, error: str = "", words: str = "", own_status: int = 0) -> None:
        self._is_noted = True
        client, head = self._scope.get("client"), self._head
        self._note(
            PassedExchange(
                at=self._at,
                method=self._scope["method"],
                target=self._target,
                headers=self._headers,
                client=client[0] if client else "",
                body=self._sent.body,
                body_bytes=self._sent.total,
                status=head.status if head else 0,
                answer_headers=head.fields if head else (),
                answer=self._got.body,
                answer_bytes=self._got.total,
                is_whole=self._sent.is_whole and self._got.is_whole,
                duration_us=int((perf_counter() - self._began) * 1_000_000),
                error=error,
                words=words,
                own_status=own_status,
            )
        )
