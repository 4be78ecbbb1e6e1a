"""A hostile sender: the receiver prints nothing, keeps receiving, closes at once."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from reseller_sim import Receiver
from tests.support.processes import DEADLINE_S

POST = b"POST /paid HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def receiver(capfd: pytest.CaptureFixture[str]) -> Iterator[Receiver]:
    """One that still receives after the test and has printed nothing."""
    with Receiver() as made:
        yield made
        before = len(made.received)
        assert b" 200 OK" in answered(made, POST + b"Content-Length: 2\r\n\r\n{}")
        assert len(made.received) == before + 1
    assert capfd.readouterr() == ("", "")


def connected(receiver: Receiver) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port or 0), timeout=DEADLINE_S)


def answered(receiver: Receiver, sent: bytes) -> bytes:
    """All that comes until the connection ends; nothing follows what was sent."""
    came = b""
    with connected(receiver) as connection, suppress(ConnectionError):
        with suppress(ConnectionError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            came += piece
    return came


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\xff\xfe\r\n\r\n", b"400"),
        (b"POST /paid HTTP/9.x\r\n\r\n", b"400"),
        (b"POST /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (POST + b"Content-Length: -1\r\n\r\n", b"411"),
        (POST + b"Content-Length: 9" + b"9" * 5000 + b"\r\n\r\n", b"413"),
        (POST + b"Content-Length: 104857600\r\n\r\n" + b"a" * (8 << 20), b"413"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\xff\r\n0\r\n\r\n", b"411"),
    ],
)
def test_an_odd_request_is_refused_and_not_kept(receiver: Receiver, sent: bytes, status: bytes) -> None:
    # A client that still sends while it is refused may see the end of the connection before the answer.
    came = answered(receiver, sent)
    assert status in came.partition(b"\r\n")[0] or (len(sent) > 1 << 20 and came == b"")
    assert receiver.received == []


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET", POST + b"Content-Length: 9\r\n\r\n{}"])
def test_a_request_that_ends_early_is_not_kept(receiver: Receiver, sent: bytes) -> None:
    assert b" 200 " not in answered(receiver, sent)
    assert receiver.received == []


def test_a_message_without_a_length_has_an_empty_body(receiver: Receiver) -> None:
    assert b" 200 OK" in answered(receiver, POST + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n")
    assert [message.body for message in receiver.received] == [b""]
    receiver.clear()
