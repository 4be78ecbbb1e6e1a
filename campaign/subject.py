"""The server under trial: a real process on loopback, asked over sockets, its memory read from outside."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from bench.servers import SIMULATOR, Cores, Server, running
from bench.workloads import Client, client_of, fill_wallet

PATIENCE_S = 60.0
SANDBOX = "/_sim/sandboxes/default"
ALL_CORES = Cores(None, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; status 0 means that the connection ended without one."""

    status: int
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The decoded body; an empty object if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


class Connection:
    """One keep-alive connection, which is opened again when the server has closed it."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, raw: bytes) -> Answer:
        """Send one whole request and read its response."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._ask(raw)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            await self.close()
            return Answer(0)

    async def _ask(self, raw: bytes) -> Answer:
        if self._streams is None or self._streams[0].at_eof():
            await self.close()
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        writer.write(raw)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        before, found, after = head.partition(b"\r\ncontent-length:")
        body = await reader.readexactly(int(after.split(b"\r\n")[0])) if found else b""
        if b"\r\nconnection: close" in head:
            await self.close()
        return Answer(int(before.split(b" ", 2)[1]), body)

    async def close(self) -> None:
        """Close it, if it is open."""
        if self._streams is not None:
            writer = self._streams[1]
            self._streams = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@dataclass(frozen=True, slots=True)
class Subject:
    """The server and the reseller that is used."""

    server: Server
    client: Client

    @asynccontextmanager
    async def connections(self, count: int) -> AsyncIterator[list[Connection]]:
        """So many connections, closed in the end."""
        made = [self.connection() for _ in range(count)]
        try:
            yield made
        finally:
            for one in made:
                await one.close()

    def connection(self) -> Connection:
        """One more connection."""
        return Connection(self.server.host, self.server.port)

    def control(self, method: str, path: str, body: object = None) -> bytes:
        """A control request as bytes."""
        return plain(method, path, b"" if body is None else json.dumps(body).encode(), self.server.netloc)

    async def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One control request on a connection of its own."""
        async with self.connections(1) as (connection,):
            return await connection.ask(self.control(method, path, body))

    async def balance(self, sandbox: str = "default") -> Decimal:
        """The wallet of the reseller."""
        answer = await self.ask("GET", f"/_sim/sandboxes/{sandbox}")
        return next(Decimal(str(one["balance"])) for one in answer.json["resellers"] if one["code"] == self.client.code)

    async def violations(self) -> list[str]:
        """What the sandbox's own check of its books found."""
        answer = await self.ask("GET", f"{SANDBOX}/invariants")
        return [] if answer.json.get("ok") else [f"GET invariants: {answer.status} {answer.body[:300]!r}"]

    def memory_kb(self) -> int:
        """The resident memory of the process."""
        return (self.server.resident_bytes() or 0) // 1024


def plain(method: str, target: str, body: bytes, host: str, *headers: str) -> bytes:
    """A request without a signature."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def subject(*arguments: str, scenario: Path | None = None, clock: str = "manual") -> Iterator[Subject]:
    """A server of its own for one part of the campaign, with a wallet that suffices."""
    command = [*SIMULATOR[:-1], str(scenario or SIMULATOR[-1]), "--port", "0", "--json", "--clock", clock, *arguments]
    with running(command, ALL_CORES) as server:
        client = client_of(server)
        fill_wallet(client)
        yield Subject(server, client)
