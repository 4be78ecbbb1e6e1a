"""What answers and is no simulator is said to be none, in a sentence and within bounds."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from reseller_sim import NotRunning, Simulator, SimulatorError, exchange

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
        HEAD + b'{"sandboxes": 5, "id": 7, "status": "no"}',
        HEAD + b'{"sandboxes": {}, "id": "x", "resellers": [1], "status": "ok"}',
        b"\x00\xff",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_no_answer_of_the_control_api_is_not_running(sent: bytes, name: str) -> None:
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(NotRunning):
        getattr(simulator, name)()


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
        list(simulator.control.pages("/x", "items", {}, {}))
