"""Clients of the reseller API: they sign, send in several ways, and record the answers."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from simulator.app import App
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.server.message import HttpRequest
from tools.worlds.loop import VirtualLoop
from tools.worlds.scenarios import key_of, secret_of

HOST = (b"host", b"127.0.0.1:8080")
ADDRESS = "127.0.0.1"


@dataclass
class Asked:
    """A request as it was sent. `expects` are its possible statuses; empty allows all but internal errors.
    `payment` is the order of a topup. `live` and `core` are the sandbox and its state when the request was sent."""

    box: str
    code: str
    method: str
    target: str
    body: bytes = b""
    payment: dict[str, Any] | None = None
    expects: tuple[int, ...] = ()
    nonce: str = ""
    timestamp_s: int = 0
    key: str = ""
    began_us: int = 0
    live: LiveSandbox | None = None
    core: object = None
    is_reused: bool = False


class Answered(NamedTuple):
    """An answer as it left the application. `is_whole` is False when its connection closed before its end."""

    status: int
    lines: bytes
    body: bytes
    is_whole: bool


Judge = Callable[[Asked, Answered], None]
Then = Callable[[Answered], None]


def nobody(answered: Answered) -> None:
    """Ignore the answer."""


class Clients:
    """All clients of a world. `judge` checks each answer as soon as it is given, `when_durable`."""

    def __init__(
        self, loop: VirtualLoop, app: App, wall_s: Callable[[], float], judge: Judge, when_durable: Callable[[], None]
    ) -> None:
        self._loop = loop
        self.app = app
        self._wall_s = wall_s
        self._judge = judge
        self._when_durable = when_durable
        self._nonces = count(1)
        self.secrets: dict[str, bytes] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.served = 0

    def go_on(self, before: "Clients") -> None:
        """Continue with the application of another process, and keep all records."""
        self._nonces, self.secrets = before._nonces, before.secrets

    def new_nonce(self) -> str:
        """Return an unused nonce."""
        return f"nonce-{next(self._nonces):014d}"

    def sign(self, asked: Asked, *, damaged: bool = False, skew_s: int = 0) -> list[tuple[bytes, bytes]]:
        """Return the headers of a request, with a nonce and a timestamp."""
        asked.nonce = asked.nonce or self.new_nonce()
        asked.key = asked.key or key_of(asked.code)
        asked.timestamp_s = int(self._wall_s()) + skew_s
        secret = self.secrets.get(asked.key) or secret_of(asked.code)
        query = asked.target.partition("?")[2]
        pairs = "&".join(sorted(part for part in query.split("&") if "=" in part))
        hashed = base64.b64encode(hashlib.sha256(asked.body).digest()).decode()
        text = f"v1:{asked.timestamp_s}:{asked.nonce}:{asked.method}:{pairs}:{hashed}{'!' if damaged else ''}"
        signature = b"v1=" + base64.b64encode(hmac.digest(secret, text.encode(), "sha256"))
        headers = [
            HOST,
            (b"x-api-key", asked.key.encode()),
            (b"x-timestamp", str(asked.timestamp_s).encode()),
            (b"x-nonce", asked.nonce.encode()),
            (b"x-signature", signature),
        ]
        if asked.body:
            headers.append((b"content-length", str(len(asked.body)).encode()))
            headers.append((b"content-type", b"application/json"))
        return headers

    def send(self, asked: Asked, headers: list[tuple[bytes, bytes]] | None = None) -> "asyncio.Task[Answered]":
        """Send a whole request; the server answers it without a task where it can."""
        return self._start(self._exchange(partial(self._whole, asked, headers or self.sign(asked)), asked))

    def send_slowly(self, asked: Asked, pauses_s: list[float], is_cut: bool) -> "asyncio.Task[Answered]":
        """Send the head, then the body in pieces with these pauses; the client may disconnect before the last
        piece."""
        return self._start(self._exchange(partial(self._in_pieces, asked, self.sign(asked), pauses_s, is_cut), asked))

    def _start(self, exchange: Any) -> "asyncio.Task[Answered]":
        task: asyncio.Task[Answered] = self._loop.create_task(exchange)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _exchange(self, answer: Any, asked: Asked) -> Answered:
        asked.began_us = self._loop.now_us
        asked.live = self.find(asked.box)
        asked.core = None if asked.live is None else asked.live.core
        answered: Answered = await answer()
        self._when_durable()
        self.served += 1
        self._judge(asked, answered)
        return answered

    def find(self, box: str) -> LiveSandbox | None:
        """Return the sandbox of this name, or None."""
        return self.app.sandboxes.find(box)

    async def _whole(self, asked: Asked, headers: list[tuple[bytes, bytes]]) -> Answered:
        target = f"{_prefix(asked.box)}{asked.target}".encode()
        request = HttpRequest(
            method=asked.method, target=target, headers=headers, by_name=dict(headers), body=asked.body, is_whole=True
        )
        pending = self.app.answer_now(request, ADDRESS)
        assert pending is not None, "it is one of the reseller API"
        status, lines, body, ending = await pending
        is_whole = ending is None or type(ending).__name__ == "Drip"
        return Answered(status, lines, body, is_whole)

    async def _in_pieces(
        self, asked: Asked, headers: list[tuple[bytes, bytes]], pauses_s: list[float], is_cut: bool
    ) -> Answered:
        size = max(1, len(asked.body) // len(pauses_s))
        pieces = [asked.body[place * size : (place + 1) * size] for place in range(len(pauses_s) - 1)]
        pieces.append(asked.body[size * (len(pauses_s) - 1) :])
        parts = iter(zip(pauses_s, pieces, strict=True))
        left = len(pieces)

        async def receive() -> dict[str, Any]:
            nonlocal left
            pause_s, piece = next(parts)
            await asyncio.sleep(pause_s)
            left -= 1
            if is_cut and not left:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": piece, "more_body": bool(left)}

        path, _, query = asked.target.partition("?")
        return await self.by_asgi(asked.method, _prefix(asked.box) + path, query, headers, receive)

    async def by_asgi(
        self, method: str, path: str, query: str, headers: list[tuple[bytes, bytes]], receive: Any
    ) -> Answered:
        """Send a request through the ASGI application."""
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": query.encode(), "headers": headers, "client": (ADDRESS, 50_000),
            "server": ("127.0.0.1", 8080), "root_path": "", "extensions": {},
        }  # fmt: skip
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        if not sent:
            return Answered(0, b"", b"", False)
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in sent[0].get("headers", ()))
        return Answered(sent[0]["status"], lines, b"".join(one.get("body", b"") for one in sent[1:]), True)

    def control(self, method: str, path: str, body: bytes = b"", then: Then = nobody) -> "asyncio.Task[Answered]":
        """Send a request to the control API; `path` follows `/_sim`, and `then` gets the answer."""
        return self._start(self._controlled(method, path, body, then))

    async def _controlled(self, method: str, path: str, body: bytes, then: Then) -> Answered:
        headers = [HOST, (b"content-length", str(len(body)).encode())] if body else [HOST]
        left = asyncio.Event()
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            for part in parts:
                return part
            await left.wait()
            return {"type": "http.disconnect"}

        path, _, query = path.partition("?")
        answered = await self.by_asgi(method, f"/_sim{path}", query, headers, receive)
        self._when_durable()
        asked = Asked("", "", method, f"/_sim{path}", began_us=self._loop.now_us)
        self._judge(asked, answered)
        then(answered)
        return answered


def _prefix(box: str) -> str:
    return "" if box == "default" else f"/s/{box}"
