"""Probes while the application is not there yet: answered in a thread, and everybody else waits for the server."""

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from simulator.cli import early_probes
from simulator.cli.early_probes import EarlyAnswers
from simulator.server.serve import listen

HELD = b"GET /v2/balance HTTP/1.1\r\nHost: x\r\n\r\n"
PROBE = b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with closing(listen("127.0.0.1", 0)) as one:
        yield one


def connected(listener: socket.socket, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(listener.getsockname(), 30)
    connection.sendall(data)
    return connection


def answered(listener: socket.socket, data: bytes) -> bytes:
    """All that is answered until the connection is closed."""
    with connected(listener, data) as connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_probe_is_answered_and_other_requests_are_stored_byte_for_byte(listener: socket.socket) -> None:
    answers = EarlyAnswers(listener, {"/ready": lambda: (503, b'{"error":"starting"}')})
    with connected(listener, HELD) as held, connected(listener) as silent, connected(listener, PROBE[:20]) as partial:
        for _ in range(2):
            assert answered(listener, PROBE) == (
                b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 20\r\n"
                b'connection: close\r\n\r\n{"error":"starting"}'
            )
        kept = {one.getpeername(): one for one in answers.end()}
        assert set(kept) == {one.getsockname() for one in (held, silent, partial)}
        assert kept[held.getsockname()].recv(100) == HELD
        assert kept[partial.getsockname()].recv(100) == PROBE[:20]
        for one in kept.values():
            one.close()


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /readyness HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /ready?now=1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /ready HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /ready HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_a_request_that_is_no_plain_probe_waits_for_the_server(request_: bytes, listener: socket.socket) -> None:
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    with connected(listener, request_):
        assert answered(listener, PROBE).startswith(b"HTTP/1.1 200 OK\r\n")
        (kept,) = answers.end()
        assert kept.recv(100) == request_
        kept.close()


def test_a_client_that_leaves_is_forgotten(listener: socket.socket) -> None:
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    connected(listener).close()
    assert answered(listener, PROBE)
    assert answered(listener, PROBE)
    assert answers.end() == []


@pytest.mark.slow
def test_no_connection_is_accepted_beyond_the_bound(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_probes, "BACKLOG", 2)
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    with connected(listener) as first:
        assert answered(listener, PROBE)  # it was accepted after the first connection
        with connected(listener, HELD), connected(listener, PROBE) as late:
            first.sendall(HELD)
            late.settimeout(0.2)
            with pytest.raises(TimeoutError):
                late.recv(1)
            kept = answers.end()
            assert len(kept) == 2
            for one in kept:
                one.close()
