"""Real receivers on loopback sockets: each answers as its handler says, or misbehaves on the wire."""

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.connections import closed_port, hang_up

Answer = int | bytes | None  # a status, raw bytes, or silence


class Reset(bytes):
    """An answer that is followed by a RST instead of a FIN."""


@dataclass
class Got:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def data(self) -> Any:
        return json.loads(self.body)["data"]


@dataclass
class Receiver:
    """`answers` are given in order, the last one stays; `on_request` is awaited before answering; `judge`, where
    there is one, answers instead."""

    answers: list[Answer] = field(default_factory=lambda: [200])
    on_request: Callable[[Got], Awaitable[None]] | None = None
    judge: Callable[[Got], Answer] | None = None
    got: list[Got] = field(default_factory=list)
    url: str = ""

    async def start(self) -> "Receiver":
        self._open: set[asyncio.StreamWriter] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/hook"
        return self

    async def stop(self) -> None:
        self._server.close()
        for writer in tuple(self._open):
            await hang_up(writer)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._open.discard(writer)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        got = Got(method, target, headers, body)
        self.got.append(got)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if self.on_request is not None:
            await self.on_request(got)
        if self.judge is not None:
            answer = self.judge(got)
        if answer is None:
            await reader.read()
            return False
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            if isinstance(answer, Reset):
                writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            return False
        rest = "\r\n" if answer == 204 else "Content-Length: 2\r\n\r\nok"
        writer.write(f"HTTP/1.1 {answer} X\r\n{rest}".encode())
        await writer.drain()
        return True


@contextmanager
def refused_url() -> Iterator[str]:
    """Yield an address where nothing listens during the test."""
    with closed_port() as port:
        yield f"http://127.0.0.1:{port}/hook"
