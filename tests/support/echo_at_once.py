"""The tiny application of the server's tests, when it answers whole requests at once."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from simulator.server.message import HttpRequest
from tests.support.echo_server import LETTERS, AbortEnding, Echo, HalfEnding

Answer = tuple[int, bytes, bytes, AbortEnding | HalfEnding | None]


class EchoAtOnce(Echo):
    """Echoes with `answer_now`. Requests that need control of their connection still use ASGI."""

    def answer_now(self, request: HttpRequest, client: str) -> Coroutine[Any, Any, Answer] | None:
        path, _, query = request.target.decode().partition("?")
        if path in ("/asgi", "/sleep", "/late-reader"):
            return None
        if path.startswith(("/fault", "/until", "/abort-in-body", "/cut", "/drip")):
            return None
        self.seen.append(path)
        text = {
            "method": request.method,
            "path": path,
            "query": query,
            "body": request.body.decode(errors="replace"),
            "headers": len(request.headers),
            "spaced": [value.decode("latin-1") for name, value in request.headers if name == b"x-spaced"],
            "client": client,
            "at_once": True,
        }
        return self._made(path, json.dumps(text).encode())

    async def _made(self, path: str, echo: bytes) -> Answer:
        ending: AbortEnding | HalfEnding | None = None
        if path in ("/slow", "/slow-error", "/slow-abort"):
            # sleep: an application that takes its time
            await asyncio.sleep(0.05)
            await asyncio.sleep(0.05)
            echo = b"slow"
        if path in ("/error", "/slow-error"):
            raise RuntimeError("on purpose")
        if path in ("/abort", "/slow-abort"):
            ending = AbortEnding()
        if path == "/half":
            echo, ending = LETTERS, HalfEnding()
        if path == "/unread":
            echo = b"early"
        status = int(path.removeprefix("/status-")) if path.startswith("/status-") else 200
        self.seen.append("left " + path)
        return status, b"content-type: text/plain\r\ncontent-length: %d\r\n" % len(echo), echo, ending
