"""A server that is no simulator, or speaks the other protocol, is named in a sentence."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from reseller_sim import NotRunning, Simulator, SimulatorError, WrongAnswer
from tests.support.certificates import pair
from tests.support.processes import serving

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
        HEAD + b"[]",
        HEAD + b"null",
        HEAD + b"<html>It works!</html>",
        b"\x00\xff",
        b"HTTP/1.1 099 No\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_an_answer_of_another_server_is_not_running(sent: bytes, name: str) -> None:
    with answering(lambda connection: connection.sendall(sent)) as simulator, pytest.raises(NotRunning):
        getattr(simulator, name)()


def test_an_answer_that_is_no_object_is_a_wrong_answer() -> None:
    with (
        answering(lambda connection: connection.sendall(HEAD + b'["hello"]')) as simulator,
        pytest.raises(WrongAnswer, match=r"hello.*is it a simulator"),
    ):
        simulator.health()


@pytest.mark.parametrize("body", [b'{"detail":"Not Found"}', b'{"error":"Not Found","path":"/_sim/health"}', b"{}"])
def test_a_refusal_that_no_simulator_gives_is_a_wrong_answer(body: bytes) -> None:
    sent = HEAD.replace(b"200 OK", b"404 Not Found") + body
    with (
        answering(lambda connection: connection.sendall(sent)) as simulator,
        pytest.raises(WrongAnswer, match=r"answered with 404 .*is it a simulator"),
    ):
        simulator.health()


@pytest.mark.parametrize("body", [b"{}", b'{"id":"a"}', b'{"id":"a","resellers":7}', b'{"sandboxes":7}'])
def test_a_sandbox_that_no_simulator_describes_is_a_wrong_answer(body: bytes) -> None:
    with (
        answering(lambda connection: connection.sendall(HEAD + body)) as simulator,
        pytest.raises(WrongAnswer, match=r"http://127\.0\.0\.1:\d+ .*of this version"),
    ):
        simulator.open()


def test_an_answer_that_drips_ends_with_the_time_of_the_whole() -> None:
    asked = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        while not asked.wait(0.01):
            connection.sendall(b" ")

    with answering(drip) as simulator, pytest.raises(NotRunning, match="timed out"):
        simulator.control.ask("GET", "/health", timeout_s=0.2)
    asked.set()


def test_an_answer_without_an_end_ends_at_the_limit_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reseller_sim.exchange.ANSWER_BYTES_MAX", 1000)

    def endless(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        while True:
            connection.sendall(b" " * 1000)

    with answering(endless) as simulator, pytest.raises(NotRunning, match="the response has more than 1000 bytes"):
        simulator.health()


def test_https_to_an_http_server_is_explained(server: str) -> None:
    with pytest.raises(NotRunning, match=r"it does not speak TLS .*: use http:// instead of https:// in its address"):
        Simulator(server.replace("http://", "https://")).health()


def test_http_to_an_https_server_is_explained() -> None:
    own = pair("staging")
    with serving("--port", "0", "--json", "--tls-cert", str(own.certificate), "--tls-key", str(own.key)) as running:
        url = running.ready["url"].replace("https://", "http://")
        with pytest.raises(SimulatorError, match=r"use https:// instead of http:// in the address"):
            Simulator(url).health()
