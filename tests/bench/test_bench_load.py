"""The load generator counts what was answered and calls everything else an error."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench import load
from bench.servers import BARE, Cores, running

pytestmark = pytest.mark.slow

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@contextmanager
def answering(*pieces: bytes) -> Iterator[int]:
    """A server on a loopback port that sends these pieces, one send each, for every request; none: it hangs up."""

    def converse(connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while connection.recv(65536) and pieces:
                for piece in pieces:
                    connection.sendall(piece)

    def accept() -> None:
        connection, _ = listener.accept()
        converse(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            thread.join(5)


def test_every_request_is_answered_once_on_any_number_of_connections() -> None:
    with running(BARE, Cores(None, None)) as bare:
        for connections in (1, 16):
            result = load.run(bare.host, bare.port, [GET] * 500, connections=connections, seconds=5)
            assert (result.requests, result.errors, result.complaints) == (500, 0, [])
            assert 0 < result.p50_ms <= result.p99_ms
            assert result.per_second > 0


def test_a_round_ends_when_its_time_is_up() -> None:
    with answering(OK) as port:
        endless = iter(lambda: GET, b"")  # it would never return
        result = load.run("127.0.0.1", port, endless, connections=1, seconds=0.1)
    assert result.requests > 0
    assert result.errors == 0
    assert result.wall_s > 0


@pytest.mark.parametrize(
    ("pieces", "answered", "complaint"),
    [
        ((OK,), 3, None),
        ((b"HTTP/1.1 200 OK\r\nContent-", b"length:   2 \r\n\r\n", b"o", b"k"), 3, None),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: y\r\n\r\n",), 3, None),
        ((b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno",), 3, "HTTP/1.1 401 No"),
        ((b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",), 0, "no Content-Length"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nok",), 0, "more bytes than"),
        ((), 0, "closed by the server"),
    ],
)
def test_an_unexpected_answer_is_an_error(pieces: tuple[bytes, ...], answered: int, complaint: str | None) -> None:
    with answering(*pieces) as port:
        result = load.run("127.0.0.1", port, [GET] * 3, connections=1, seconds=5)
    assert result.requests == answered
    assert bool(result.errors) == bool(complaint)
    assert (complaint or "") in "".join(result.complaints)


def test_a_sampled_body_that_the_check_refuses_is_an_error() -> None:
    with answering(OK) as port:
        result = load.run("127.0.0.1", port, [GET] * 3, connections=1, seconds=5, check=lambda body: body == b"no")
    assert result.errors == 1
    assert result.complaints == ["unexpected body: b'ok'"]
