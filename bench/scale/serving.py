"""A server in a thread of this process, whose longest callback of the event loop is measured."""

import asyncio
import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time
from typing import Any

from bench.scale.world import HOST, UNLIMITED
from bench.servers import BenchError
from bench.sign import signed
from simulator.app import App, build_app
from simulator.options import Options
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.library import scenario_from_object
from simulator.server.serve import make_server

PATIENCE_S = 300.0
_HANDLE: Any = asyncio.Handle


class Served:
    """An application that is served on a loopback port. Who looks into it must not do so while it answers."""

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        self._port = port
        self.longest_ms, self.callback = 0.0, ""
        self.status = 0

    def find(self, sandbox: str) -> LiveSandbox:
        """A sandbox of it."""
        return self.app.sandboxes.get(sandbox)

    def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """Send one request and read its answer, whatever that is; `status` has its status."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            self.status = answer.status
            return answer.read()
        except (http.client.HTTPException, ConnectionError):
            self.status = 0  # it was closed without an answer
            return b""
        finally:
            connection.close()

    def call(self, method: str, path: str, body: bytes = b"", query: str = "", prefix: str = "") -> bytes:
        """The same, signed for the first reseller."""
        key = self.app.scenario.resellers[0].keys[0]
        head = signed(method, path, query, body, key.key, key.secret, HOST).partition(b"\r\n\r\n")[0].decode()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        return self.ask(method, f"{prefix}{path}?{query}" if query else prefix + path, body, headers)

    def good(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """As `ask`. Raises `BenchError` when it is refused."""
        answer = self.ask(method, path, body, headers)
        if self.status // 100 != 2:
            raise BenchError(f"{method} {path} was answered {self.status}: {answer[:300]!r}")
        return answer


@contextmanager
def served(scenarios: Path | None = None) -> Iterator[Served]:
    """A server on asyncio's own event loop, whose callbacks can be watched; they do the same on uvloop."""
    app = build_app(Options(scenarios=scenarios), scenario=scenario_from_object(dict(UNLIMITED)))
    ready = threading.Event()
    server = make_server(app, "127.0.0.1", 0, on_ready=ready.set)
    found = Served(app, server.port)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    run = _HANDLE._run

    def watched(handle: Any) -> None:
        began = thread_time()
        run(handle)
        took_ms = (thread_time() - began) * 1e3
        if took_ms > found.longest_ms:
            found.longest_ms, found.callback = took_ms, repr(handle)

    _HANDLE._run = watched
    try:
        thread.start()
        ready.wait()
        yield found
    finally:
        server.should_exit = True
        thread.join()
        _HANDLE._run = run
