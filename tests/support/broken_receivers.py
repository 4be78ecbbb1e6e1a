"""Receivers on loopback sockets that misbehave in every way that the sender has to survive."""

import asyncio
import fcntl
import os
import socket
import struct
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from ssl import Purpose, SSLContext, create_default_context
from types import TracebackType
from typing import Any, Self

import pytest

from simulator.domain.model.delivery_attempts import AttemptResult, OutgoingRequest
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.lookup import Lookup, system_lookup
from simulator.http_client.sender import HttpSender
from simulator.http_client.slots import PER_RECEIVER, Slots
from tests.support.connections import hang_up

Run = Callable[[Coroutine[None, None, None]], None]

RUNNERS: list[Any] = [asyncio.run]
"""The event loops that the sender has to work on, as functions that run a coroutine."""

if sys.platform != "win32":
    import uvloop

    RUNNERS[:] = [uvloop.run, pytest.param(asyncio.run, marks=pytest.mark.slow)]  # what users have stays fast

# Self-signed for localhost, valid for a century, good for nothing but tests.
_PROOF = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqxsZkdIftsfC+G3o
LS7wbXwqnHYs2zgSULTFFl9kBpahRANCAASXM6wvS+p74xSCRPRkc0JpJwlMfZO/
dDAIns/jqoOt7oGp+KC9IdnMA0pghg1eUfeEj/hciQuQdd3N6IdT5c6m
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUCRUGLAUT7Hbo+BVKogFLPgv5/IgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA0MzUxMFoYDzIxMjYxMDI4
MDQzNTEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASXM6wvS+p74xSCRPRkc0JpJwlMfZO/dDAIns/jqoOt7oGp+KC9IdnM
A0pghg1eUfeEj/hciQuQdd3N6IdT5c6mo28wbTAdBgNVHQ4EFgQUHWEczjDJHBf5
xii5ZE/SE6c1wNgwHwYDVR0jBBgwFoAUHWEczjDJHBf5xii5ZE/SE6c1wNgwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgWtNTccjdjXt1odLYjboRFhsCDN5YL3RvuEwvep4jO48CIQDx
DszVV/fxl13JLSOjJc1zWmDmFDfWWup9y9BqYgC8KA==
-----END CERTIFICATE-----
"""

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Exchange:
    """One request as it came: its head in lines and its body, and where to write the answer."""

    head: list[str]
    body: bytes
    writer: asyncio.StreamWriter
    number: int
    on_connection: int

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def arrived(self) -> None:
        """Wait until the client's socket has received the written bytes, and its event loop (ours) has had turns to
        read them."""
        number = self.writer.get_extra_info("socket").fileno()
        unsent = bytearray(4)
        while True:
            fcntl.ioctl(number, termios.TIOCOUTQ, unsent)
            if not self.writer.transport.get_write_buffer_size() and not any(unsent):
                break
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)

    def reset(self) -> None:
        """End the connection with a RST instead of a FIN."""
        self.writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self) -> None:
        self.writer.close()

    def write_at_once(self, data: bytes) -> None:
        """Send bytes at once. Some event loops write only at the end of a turn."""
        with socket.socket(fileno=os.dup(self.writer.get_extra_info("socket").fileno())) as same:
            same.sendall(data)

    def end_at_once(self) -> None:
        """Send a FIN now, without waiting for the event loop's turn."""
        with socket.socket(fileno=os.dup(self.writer.get_extra_info("socket").fileno())) as same:
            same.shutdown(socket.SHUT_WR)


Answer = Callable[[Exchange], Awaitable[None]]


def says(data: bytes, *, close: bool = False) -> Answer:
    """Answer every request with exactly these bytes."""

    async def answer(exchange: Exchange) -> None:
        exchange.write(data)
        if close:
            exchange.close()

    return answer


def post(url: str, body: bytes = b"{}") -> OutgoingRequest:
    return OutgoingRequest("POST", url, (("Content-Type", "application/json"),), body)


def proof(folder: Path) -> SSLContext:
    """Return the TLS context of a receiver at localhost. Clients have to trust the file `receiver.pem` in the
    folder."""
    pem = folder / "receiver.pem"
    pem.write_text(_PROOF)
    context = create_default_context(Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    return context


class SenderInTurn(HttpSender):
    """A sender whose attempts wait for their turn, as a sandbox's attempts do."""

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str = "") -> AttemptResult:
        async with self.turn(outgoing.url, owner):
            return await super().send(outgoing, timeout_s, owner)


@asynccontextmanager
async def sender(
    *,
    public_only: bool = False,
    ca_file: Path | None = None,
    lookup: Lookup = system_lookup,
    per_receiver: int = PER_RECEIVER,
) -> AsyncIterator[HttpSender]:
    """A sender, which is closed in the end."""
    made = SenderInTurn(
        AddressPolicy(public_only), ca_file=ca_file, lookup=lookup, slots=Slots(per_receiver=per_receiver)
    )
    try:
        yield made
    finally:
        await made.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds; half a minute at most."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the sockets that it looks at have no event to wait for
            # sleep: a poll within a bound: sockets have no event to wait for
            await asyncio.sleep(0.005)


async def silent(exchange: Exchange) -> None:
    """Never answers."""


class Receiver:
    """A server that records each request and passes it to `answer`."""

    def __init__(self, answer: Answer, tls: SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.requests: list[Exchange] = []
        self.connections = 0
        self.open_connections = 0
        self.port = 0
        self._answer = answer
        self._tls = tls
        self._host = host
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/callback"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0, ssl=self._tls, limit=2**20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._serve(reader, writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        self.open_connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
                lengths = [int(line[15:]) for line in head if line.lower().startswith("content-length:")]
                body = await reader.readexactly(sum(lengths))
                exchange = Exchange(head, body, writer, len(self.requests) + 1, connection)
                self.requests.append(exchange)
                await self._answer(exchange)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            return
        finally:
            self.open_connections -= 1
            await hang_up(writer)
