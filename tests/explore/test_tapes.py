"""The tape of a run, from a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from simulator.explore import tapes

asked: list[tuple[str, str | None]] = []


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
def test_a_tape_that_is_answered_is_kept_as_it_is() -> None:
    with answering(200, b"tape") as url:
        assert tapes.fetched(url, "token") == b"tape"
    assert asked[-1] == ("/_sim/sandboxes/default/tape", "Bearer token")


@pytest.mark.slow
def test_a_server_that_refuses_or_is_gone_has_no_tape() -> None:
    with answering(404, b"{}") as url:
        assert tapes.fetched(url, None) is None
    assert asked[-1][1] is None
    assert tapes.fetched(url, None) is None
