"""What answers and is no simulator is said to be none, in a sentence and within bounds."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from reseller_sim import NotRunning, Simulator, SimulatorError, WrongAnswer, exchange

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
Answering = Callable[[socket.socket], object]


@contextmanager
def answering(answer: Answering) -> Iterator[Simulator]:
    """A client of a server that answers each connection like this."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.recv(1 << 16)
                    answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield Simulator(f"http://127.0.0.1:{listening.getsockname()[1]}")
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("name", ["health", "sandboxes", "sandbox"])
@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"[" * 200_000,
        HEAD + b"[]",
        HEAD + b"null",
        HEAD + b'{"hello": "world"}',
        b"\x00\xff",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_no_answer_of_the_control_api_is_not_running(sent: bytes, name: str) -> None:
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(NotRunning):
        getattr(simulator, name)()


def test_an_answer_without_a_member_is_a_wrong_one_that_names_it() -> None:
    with (
        answering(lambda connection: connection.sendall(HEAD + b'{"statuz": "ok"}')) as simulator,
        pytest.raises(WrongAnswer, match="answer has no member 'status': did you mean 'statuz'"),
    ):
        simulator.health()["status"]


def test_a_refusal_of_another_shape_is_a_simulator_error() -> None:
    sent = b'HTTP/1.1 400 No\r\n\r\n{"problems": 5, "error": 7, "message": {}, "path": 3}'
    with (
        answering(lambda connection: connection.sendall(sent)) as simulator,
        pytest.raises(SimulatorError, match="400"),
    ):
        simulator.health()


def forever(connection: socket.socket, piece: bytes) -> None:
    while True:
        connection.sendall(piece)


def test_an_answer_without_end_is_given_up_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "BODY_BYTES_MAX", 1 << 20)
    with (
        answering(lambda connection: forever(connection, HEAD + b" " * 65_536)) as simulator,
        pytest.raises(NotRunning, match="more than 1048576 bytes"),
    ):
        simulator.health()


def test_an_answer_that_drips_ends_with_the_time_of_the_whole() -> None:
    asked = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        while not asked.wait(0.01):
            connection.sendall(b" ")

    with answering(drip) as simulator, pytest.raises(NotRunning, match="timed out"):
        simulator.control.ask("GET", "/health", timeout_s=0.2)
    asked.set()


def test_pages_without_end_are_none() -> None:
    sent = HEAD + b'{"items": [], "has_more": true, "cursor": null}'
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(NotRunning, match="page"):
        list(simulator.control.pages("/x", "items", {}))


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("size", [b"-1", b"1_0", b"0x10", b"+5", b"", b"g"])
def test_a_chunk_whose_length_is_no_plain_number_is_not_read(size: bytes) -> None:
    with (
        answering(lambda connection: forever(connection, CHUNKED + size + b"\r\n" + b" " * 65_536)) as simulator,
        pytest.raises(WrongAnswer, match="is no length of a chunk"),
    ):
        simulator.health()


@pytest.mark.parametrize("sent", [b"HTTP/1.1 099 No\r\n\r\n", CHUNKED + b"zz\r\n", b"\x00\xff\r\n\r\n"])
def test_a_malformed_answer_is_told_as_a_wrong_one(sent: bytes) -> None:
    with (
        answering(lambda connection: connection.sendall(sent)) as simulator,
        pytest.raises(WrongAnswer, match="was not answered as by a simulator"),
    ):
        simulator.health()


def test_a_cut_body_is_no_answer_though_what_came_is_json() -> None:
    sent = b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"status": "ok", "version": "1"}'
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(WrongAnswer):
        simulator.health()


def test_pages_without_items_that_say_there_is_more_end() -> None:
    count = 0

    def page(connection: socket.socket) -> None:
        nonlocal count
        count += 1
        body = b'{"transactions": [], "has_more": true, "cursor": "%d"}' % count
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    with answering(page) as simulator, pytest.raises(WrongAnswer, match="the same page again"):
        list(simulator.control.pages("/x", "transactions", {}))
    assert count == 1


@pytest.mark.parametrize(
    "said",
    [
        {"error": "\ud800", "message": "\udfff"},
        {
            "error": "e",
            "message": "\x1b[2J\x07",
            "path": "\x9b",
            "problems": ["\x1b", {"line": "\x1b", "path": "\ud800"}],
        },
        {"error": ["x"] * 100_000, "message": "m" * 3_000_000},
    ],
)
def test_the_text_of_a_refusal_can_be_printed_and_is_bounded(said: dict[str, Any]) -> None:
    body = json.dumps(said).encode()
    sent = b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(SimulatorError) as raised:
        simulator.health()
    text = str(raised.value)
    assert text.replace("\n", "").isprintable()
    assert len(text.encode()) < 20_000
