"""Probes while the application is not there yet: answered in a thread, and everybody else waits for the server."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing

import pytest

from simulator.server import early
from simulator.server.early import EarlyAnswers
from simulator.server.early_tls import EarlyTlsAnswers
from simulator.server.serve import listen
from simulator.server.tls import context_of
from tests.support.certificates import pair

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


def test_a_probe_is_answered_and_what_else_comes_is_kept_with_all_its_bytes(listener: socket.socket) -> None:
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
def test_what_is_no_plain_probe_waits_for_the_server(request_: bytes, listener: socket.socket) -> None:
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    with connected(listener, request_):
        assert answered(listener, PROBE).startswith(b"HTTP/1.1 200 OK\r\n")
        (kept,) = answers.end()
        assert kept.recv(100) == request_
        kept.close()


def test_who_leaves_is_forgotten(listener: socket.socket) -> None:
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    connected(listener).close()
    assert answered(listener, PROBE)
    assert answered(listener, PROBE)
    assert answers.end() == []


@pytest.mark.slow
def test_beyond_its_bound_nobody_is_accepted(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "HELD_MAX", 2)
    answers = EarlyAnswers(listener, {"/ready": lambda: (200, b"{}")})
    with connected(listener) as first:
        assert answered(listener, PROBE)  # it was accepted behind the first one
        with connected(listener, HELD), connected(listener, PROBE) as late:
            first.sendall(HELD)
            late.settimeout(0.2)
            with pytest.raises(TimeoutError):
                late.recv(1)
            kept = answers.end()
            assert len(kept) == 2
            for one in kept:
                one.close()


def within_tls(listener: socket.socket) -> EarlyTlsAnswers:
    later = b'{"error":"later"}'
    return EarlyTlsAnswers(listener, {"/ready": lambda: (503, b"{}")}, context_of(*pair("first")), lambda: (503, later))


def shaken(listener: socket.socket) -> ssl.SSLSocket:
    return pair("first").client.wrap_socket(connected(listener), server_hostname="localhost")


def answered_within(listener: socket.socket, *pieces: bytes) -> bytes:
    with shaken(listener) as inside:
        for piece in pieces:
            inside.sendall(piece)
        answer = inside.recv(65536)
        while not answer.endswith(b"}"):
            answer += inside.recv(65536)
        return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ((PROBE,), b"{}"),
        ((PROBE[:4], PROBE[4:30], PROBE[30:]), b"{}"),
        ((HELD,), b'{"error":"later"}'),
        ((b"POST /ready HTTP/1.1\r\nContent-Length: 500000\r\n\r\n", b"x" * 500_000), b'{"error":"later"}'),
        ((b"x" * (early.HEAD_BYTES_MAX + 1),), b'{"error":"later"}'),
        ((b"\r\n\r\n",), b'{"error":"later"}'),
    ],
)
def test_within_tls_everybody_is_answered(listener: socket.socket, pieces: tuple[bytes, ...], said: bytes) -> None:
    answers = within_tls(listener)
    for _ in range(2):
        head, _, body = answered_within(listener, *pieces).partition(b"\r\n\r\n")
        assert (head[:12], body) == (b"HTTP/1.1 503", said)
        assert (b"\r\nretry-after: 1" in head) == (said != b"{}")
    assert answers.end() == []


@pytest.mark.slow
def test_within_tls_who_has_said_nothing_is_kept_and_who_leaves_or_speaks_no_tls_is_not(
    listener: socket.socket,
) -> None:
    answers = within_tls(listener)
    with connected(listener) as silent, shaken(listener) as idle, connected(listener, HELD) as plain:
        shaken(listener).close()
        connected(listener).close()
        assert plain.recv(100).startswith(b"HTTP/1.1 400 ")
        assert answered_within(listener, PROBE).endswith(b"{}")
        (kept,) = answers.end()
        assert kept.getpeername() == silent.getsockname()
        kept.close()
        assert idle.recv(100) == b""


@pytest.mark.slow
def test_within_tls_who_goes_no_further_makes_room_for_others(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.server.early_tls.HELD_MAX", 2)
    answers = within_tls(listener)
    with shaken(listener) as first, shaken(listener) as second:
        assert answered_within(listener, PROBE).endswith(b"{}")
        assert first.recv(100) == b""
        second.sendall(HELD)
        assert second.recv(100).startswith(b"HTTP/1.1 503")
    assert answers.end() == []
