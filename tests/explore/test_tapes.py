"""The tape of a run, from a server."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from simulator.explore.runs import tape_of
from tests.support.local_server import QuietHandler, local_server

asked: list[tuple[str, str | None]] = []


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.respond(status, body)

    with local_server(Handler) as url:
        yield url


@pytest.mark.slow
def test_a_received_tape_is_stored_unchanged() -> None:
    with answering(200, b"tape") as url:
        assert tape_of(url, "token") == b"tape"
    assert asked[-1] == ("/_sim/sandboxes/default/tape", "Bearer token")


@pytest.mark.slow
def test_a_server_that_refuses_or_is_gone_has_no_tape() -> None:
    with answering(404, b"{}") as url:
        assert tape_of(url, None) is None
    assert asked[-1][1] is None
    assert tape_of(url, None) is None
