"""A real server with a tiny application, and a client that sees every byte."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import uvloop

from simulator.server.message import HttpLimits
from simulator.server.responder import Responder as Connection
from simulator.server.responder import responder_of as connection_of
from simulator.server.serve import make_server
from simulator.server.transports import TlsSettings
from tests.support.client import Response
from tests.support.connections import hang_up

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "uvloop": uvloop.new_event_loop,
    "asyncio": asyncio.new_event_loop,
}
PATIENCE_S = 30.0
PLAIN = [(b"content-type", b"text/plain")]
PLAIN_LINES = b"content-type: text/plain\r\n"
LETTERS = bytes(range(ord("a"), ord("z") + 1)) * 4


@dataclass(frozen=True)
class AbortEnding:
    """An answer that is not sent."""

    async def send(self, connection: Connection, status: int, lines: bytes, body: bytes) -> None:
        connection.abort()


@dataclass(frozen=True)
class HalfEnding:
    """An answer that is cut in the middle."""

    async def send(self, connection: Connection, status: int, lines: bytes, body: bytes) -> None:
        await connection.cut(status, lines, body, len(body) // 2)


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Echo:
    """Answers `{"method", "path", "query", "body"}`; some paths do something to their connection instead."""

    def __init__(self, late_s: float = 0.2) -> None:
        self.seen: list[str] = []
        self._late_s = late_s  # after which `/late-reader` asks for its body

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        self.seen.append(scope["path"])
        if scope["path"].startswith("/status-"):
            await send_text(send, b"a body", int(scope["path"].removeprefix("/status-")))
            return
        special = getattr(self, "on" + scope["path"].replace("/", "_").replace("-", "_"), None)
        if special is None:
            await _echo(scope, await _body(receive), send)
            return
        connection = connection_of(scope)
        assert connection is not None
        await special(connection, receive, send)
        self.seen.append("left " + scope["path"])

    async def on_abort(self, connection: Connection, receive: Receive, send: Send) -> None:
        connection.abort()

    async def on_abort_in_body(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        connection.abort()

    async def on_cut(self, connection: Connection, receive: Receive, send: Send) -> None:
        await _body(receive)
        await connection.cut(200, PLAIN_LINES, LETTERS, after_bytes=26)

    async def on_cut_unread(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.cut(200, PLAIN_LINES + b"content-length: 1\r\n", LETTERS, after_bytes=1000)

    async def on_cut_nothing(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.cut(200, PLAIN_LINES, b"", after_bytes=3)

    async def on_drip(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.drip(201, PLAIN_LINES, LETTERS, bytes_per_second=400)

    async def on_drip_for_ever(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.drip(200, PLAIN_LINES, LETTERS, bytes_per_second=0.5)

    async def on_drip_for_long(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.drip(200, PLAIN_LINES, LETTERS, bytes_per_second=10)

    async def on_fault_after_answer(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send_text(send, b"answered")
        connection.abort()
        await connection.cut(500, PLAIN_LINES, LETTERS, 3)

    async def on_fault_within_answer(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"7")]})
        try:
            await connection.drip(500, PLAIN_LINES, LETTERS, 3)
        except RuntimeError:
            await send({"type": "http.response.body", "body": b"refused"})

    async def on_unread(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send_text(send, b"early")

    async def on_unread_at_once(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.answer(200, PLAIN_LINES + b"content-length: 5\r\n", b"early", None)

    async def on_unsized(self, connection: Connection, receive: Receive, send: Send) -> None:
        headers = [*PLAIN, (b"transfer-encoding", b"chunked")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"un", "more_body": True})
        await send({"type": "http.response.body", "body": b"sized"})

    async def on_begun_then_read(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": PLAIN})
        await send({"type": "http.response.body", "body": b"no", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.body", "body": b" more of"})

    async def on_slow(self, connection: Connection, receive: Receive, send: Send) -> None:
        # sleep: an application and clients that take their time; a poll within a bound
        await asyncio.sleep(0.15)
        await send_text(send, b"slow")

    async def on_late_reader(self, connection: Connection, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self._late_s)
        await send_text(send, b"read %d" % len(await _body(receive)))

    async def on_counted(self, connection: Connection, receive: Receive, send: Send) -> None:
        came = 0
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            came += len(message["body"])
            self.seen.append(f"came {came}")
        await send_text(send, b"counted")

    async def on_sleep(self, connection: Connection, receive: Receive, send: Send) -> None:
        await asyncio.sleep(3600)

    async def on_until_disconnect(self, connection: Connection, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": PLAIN})
        while (await receive())["type"] != "http.disconnect":
            pass


async def _lifespan(receive: Receive, send: Send) -> None:
    for _ in range(2):
        await send({"type": (await receive())["type"] + ".complete"})


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += bytes(message["body"])
        if not message["more_body"]:
            return body


async def _echo(scope: Message, body: bytes, send: Send) -> None:
    text = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "body": body.decode(errors="replace"),
        "headers": len(scope["headers"]),
        "spaced": [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-spaced"],
        "client": scope["client"][0],
    }
    await send_text(send, json.dumps(text).encode())


async def send_text(send: Send, body: bytes, status: int = 200) -> None:
    """Send a whole response with this body."""
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@dataclass
class Served:
    """A running server."""

    port: int
    app: Echo

    async def saw(self, what: str) -> bool:
        """Wait for the application to see this. Return False after a timeout."""
        for _ in range(300):
            if what in self.app.seen:
                return True
            await asyncio.sleep(0.01)
        return False

    async def connect(self) -> "Client":
        # connect: its client closes by the same function
        return Client(*await asyncio.open_connection("127.0.0.1", self.port))

    async def talk(self, *pieces: bytes | float) -> list[Response]:
        """Send the pieces, waiting where there is a number of seconds; return all answers until the server closes."""
        async with await self.connect() as client:
            for piece in pieces:
                if isinstance(piece, bytes):
                    await client.send(piece)
                else:
                    await asyncio.sleep(piece)
            return await client.answers_to_end()


@dataclass
class Client:
    """One connection; every wait is bounded."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    closed: bool = False
    _read_ahead: bytes = b""

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, discarding unsent and unread data."""
        await hang_up(self.writer)

    async def send(self, data: bytes) -> None:
        """Write, and do not mind a server that does not read any more."""
        try:
            self.writer.write(data)
            await asyncio.wait_for(self.writer.drain(), PATIENCE_S)
        except ConnectionError:
            self.closed = True

    async def answer(self, to_head: bool = False) -> Response:
        """Read one response."""
        head = self._read_ahead + await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        self._read_ahead = b""
        status_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = 0 if to_head else int(headers.get("content-length", 0))
        body = await asyncio.wait_for(self.reader.readexactly(length), PATIENCE_S)
        return Response(int(status_line.split(" ")[1]), headers, body)

    async def answers_to_end(self) -> list[Response]:
        """Read responses until the server closes."""
        answers = []
        while not await self.at_end():
            answers.append(await self.answer())
        return answers

    async def at_end(self) -> bool:
        """Wait for a byte or the end of the stream. Return True for the end."""
        try:
            self._read_ahead += await asyncio.wait_for(self.reader.readexactly(1), PATIENCE_S)
        except asyncio.IncompleteReadError:
            return True
        return False

    async def to_end(self) -> bytes:
        """Read bytes until the server closes."""
        return await asyncio.wait_for(self.reader.read(), PATIENCE_S)

    async def is_open(self, for_s: float) -> bool:
        """Return whether the server neither writes nor closes for this time."""
        try:
            await asyncio.wait_for(self.reader.read(1), for_s)
        except TimeoutError:
            return True
        return False


@contextmanager
def serving(
    loop: str = "uvloop",
    limits: HttpLimits | None = None,
    keep_alive_s: float | None = None,
    app: Echo | None = None,
    tls: TlsSettings | None = None,
) -> Iterator[Served]:
    """Run a server in a new thread, with TLS if there is `tls`."""
    app = app or Echo()
    ready = threading.Event()
    bounds = limits or HttpLimits()
    server = make_server(app, "127.0.0.1", 0, limits=bounds, on_ready=ready.set, tls=tls)
    if keep_alive_s is not None:
        server.config.timeout_keep_alive = keep_alive_s  # type: ignore[assignment]  # whole seconds are too long here

    def run() -> None:
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(server.serve())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield Served(server.port, app)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S * 3)
        assert not thread.is_alive()


@asynccontextmanager
async def serving_here(app: Echo | None = None) -> AsyncIterator[Served]:
    """Run a server in this very loop; it is stopped at the end, while connections may still be open."""
    served = Served(0, app or Echo())
    ready = asyncio.Event()
    server = make_server(served.app, "127.0.0.1", 0, on_ready=ready.set)
    served.port = server.port
    running = asyncio.create_task(server.serve())
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    try:
        yield served
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, PATIENCE_S * 2)


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """Return a request with one Host and, when there is a body, its length."""
    lines: Sequence[str] = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
    if body:
        lines = [*lines, f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body
