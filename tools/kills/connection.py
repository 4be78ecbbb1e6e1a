"""A keep-alive connection to a server that may be killed at any moment."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from tests.support.processes import DEADLINE_S


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response. Status 0 means that the connection closed first; `body` is then what had arrived."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Connection(asyncio.Protocol):
    """A connection that sends one request at a time and reconnects when it was closed. `on_answer` is called as
    soon as the last byte of an answer has arrived."""

    def __init__(self, host: str, port: int, on_answer: Callable[[], object] = lambda: None) -> None:
        self._address = host, port
        self._on_answer = on_answer
        self._transport: asyncio.Transport | None = None
        self._coming: asyncio.Future[Answer] | None = None
        self._buffer = b""

    async def ask(self, raw: bytes) -> Answer:
        """Send one whole request and wait for its answer."""
        loop = asyncio.get_running_loop()
        if self._transport is None:
            try:
                await loop.create_connection(lambda: self, *self._address)
            except OSError:
                return Answer(0)
        if self._transport is None:  # it was accepted, and ended
            return Answer(0)
        self._coming, self._buffer = loop.create_future(), b""
        self._transport.write(raw)
        async with asyncio.timeout(DEADLINE_S):
            return await self._coming

    def close(self) -> None:
        """Close the connection, even in the middle of an answer."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found or self._coming is None or self._coming.done():
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if len(body) >= int(headers.get("content-length", "0")):
            self._on_answer()
            self._coming.set_result(Answer(int(first.split(" ", 2)[1]), headers, body))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._coming is not None and not self._coming.done():
            self._coming.set_result(Answer(0, body=self._buffer))
