"""A sender that means harm: the receiver keeps its bounds, prints nothing, goes on receiving, closes at once."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sim import Receiver, receiving
from tests.support.processes import DEADLINE_S

POST = b"POST /paid HTTP/1.1\r\nHost: x\r\n"
SOON_S = 5.0


@pytest.fixture
def receiver(capfd: pytest.CaptureFixture[str]) -> Iterator[Receiver]:
    """One that still receives after the test, closes at once and has printed nothing."""
    with Receiver() as made:
        yield made
        before = len(made.received)
        assert b" 200 OK" in answered(made, POST + b"Content-Length: 2\r\n\r\n{}")
        assert len(made.received) == before + 1
        # clock: that a drip ends and closing waits for nobody is seen by its time alone
        began = monotonic()
        made.close()
        assert monotonic() - began < SOON_S
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
        (b"POST http://[x HTTP/1.1\r\n\r\n", b"400"),
        (b"\x00\xff\xfe\r\n\r\n", b"400"),
        (b"POST /paid HTTP/9.x\r\n\r\n", b"400"),
        (b"POST /paid HTTP/3.0\r\n\r\n", b"505"),
        (b"POST /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (POST + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        (POST + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n", b"431"),
        (POST + b"Content-Length: -1\r\n\r\n", b"411"),
        (POST + b"Content-Length: 9" + b"9" * 5000 + b"\r\n\r\n", b"413"),
        (POST + b"Content-Length: 104857600\r\n\r\n" + b"a" * (8 << 20), b"413"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\xff\r\n0\r\n\r\n", b"411"),
        (POST + "Content-Length: ٣\r\n\r\nabc".encode(), b"411"),
        (POST + b"Content-Length: \xb3\r\n\r\nabc", b"411"),
        (POST + b"garbage no colon\r\nContent-Length: 3\r\n\r\nabc", b"400"),
        (POST + b"Content-Length : 3\r\n\r\nabc", b"400"),
        (POST + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", b"400"),
        (POST + b"X-A: b\r\n folded\r\n\r\n", b"400"),
        (b"G\x01T /paid HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET /\r\n\r\n", b"400"),
    ],
)
def test_what_is_no_message_is_refused_and_not_kept(receiver: Receiver, sent: bytes, status: bytes) -> None:
    # A client that still sends while it is refused may see the end of the connection before the answer.
    came = answered(receiver, sent)
    assert status in came.partition(b"\r\n")[0] or (len(sent) > 1 << 20 and came == b"")
    assert receiver.received == []


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET", POST, POST + b"Content-Length: 9\r\n\r\n{}"])
def test_what_ends_early_is_not_kept(receiver: Receiver, sent: bytes) -> None:
    assert b" 200 " not in answered(receiver, sent)
    assert receiver.received == []


def test_pipelined_messages_are_received_in_their_order(receiver: Receiver) -> None:
    one = b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
    came = answered(receiver, b"".join(one % number for number in range(500)))
    assert came.count(b"HTTP/1.1 200 OK") == 500
    assert [message.path for message in receiver.received] == [f"/{number}" for number in range(500)]


def test_a_message_that_drips_ends_with_its_time(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes well within the time that a read may take."""
    monkeypatch.setattr(receiving, "REQUEST_S", 0.5)
    began = monotonic()
    with connected(receiver) as connection:
        connection.settimeout(0.05)
        ended = False
        while not ended and monotonic() - began < DEADLINE_S:
            try:
                connection.sendall(b"P")
                ended = connection.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                ended = True
    assert ended
    assert monotonic() - began < SOON_S


def test_a_thousand_connections_are_bounded_and_end_with_it(receiver: Receiver) -> None:
    with ExitStack() as stack:
        for _ in range(1000):
            with suppress(ConnectionError):
                stack.enter_context(connected(receiver)).sendall(b"POST / HT")
        began = monotonic()
        while len(receiver._server._connections) < receiving.CONNECTIONS_MAX and monotonic() - began < DEADLINE_S:
            pass
        assert len(receiver._server._connections) == receiving.CONNECTIONS_MAX
    began = monotonic()
    while receiver._server._connections and monotonic() - began < DEADLINE_S:
        pass
    assert not receiver._server._connections, "those that went away make room"


def test_closing_ends_connections_that_still_send() -> None:
    with ExitStack() as stack:
        receiver = stack.enter_context(Receiver())
        senders = [stack.enter_context(connected(receiver)) for _ in range(20)]
        for one in senders:
            one.sendall(POST)
        began = monotonic()
        receiver.close()
        for one in senders:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
        assert monotonic() - began < SOON_S


def test_a_message_without_a_length_has_an_empty_body(receiver: Receiver) -> None:
    assert b" 200 OK" in answered(receiver, POST + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n")
    assert [message.body for message in receiver.received] == [b""]
    receiver.clear()


@pytest.mark.parametrize(
    "planned",
    [
        {"status": 99}, {"status": 0}, {"status": 100}, {"status": 1000}, {"status": "200"}, {"status": True},
        {"delay_s": 1e20}, {"delay_s": -1}, {"delay_s": float("nan")}, {"content_type": "text/plain\r\nX-A: b"},
        {"content_type": 7}, {"body": None}, {"body": 7}, {"body": ["a"]}, {"disconnect": "no"},
        {"times": 0}, {"times": -1}, {"times": True}, {"times": 1.5}, {"times": 10_001},
    ],
)  # fmt: skip
def test_a_reply_that_cannot_be_answered_is_refused_where_it_is_planned(
    receiver: Receiver, planned: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^Receiver\.reply\(\): \w+ must be .*, not "):
        receiver.reply(**planned)


def test_the_time_of_a_message_begins_with_the_message(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection lives longer than one request may take, as long as each keeps its time."""
    monkeypatch.setattr(receiving, "REQUEST_S", 0.6)
    began = monotonic()
    with connected(receiver) as connection:
        while monotonic() - began < 1.5:
            connection.sendall(POST + b"Content-Length: 2\r\n\r\n{}")
            assert b" 200 OK" in connection.recv(1 << 16)
    receiver.clear()
