"""The host of a target in absolute form overrides `Host`."""

import socket
from collections.abc import Iterator

import pytest

from tests.support.processes import DEADLINE_S, Serving, free_port, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving("--port", "0", "--json") as server:
        yield server


@pytest.fixture(scope="module")
def proxy(server: Serving) -> Iterator[int]:
    port = free_port()
    flags = ("--upstream", server.ready["url"], "--port", str(port), "--json")
    with serving(*flags, verb="proxy"):
        yield port


def status(port: int, target: str, host: str) -> tuple[int, bool]:
    """The status of the answer, and whether its text is about a foreign host."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE_S) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    return int(answer.split()[1]), b"foreign_host" in answer


TARGETS = [
    ("http://evil.example/_sim/sandboxes", "127.0.0.1", (403, True)),
    ("http://evil.example:8080/_sim/sandboxes", "localhost", (403, True)),
    ("HTTP://EVIL.example/_sim/sandboxes", "127.0.0.1", (403, True)),
    ("https://evil.example/_sim/sandboxes?x=1", "127.0.0.1", (403, True)),
    ("http://localhost@evil.example/_sim/sandboxes", "127.0.0.1", (403, True)),
    ("http://127.0.0.1/_sim/sandboxes", "evil.example", (200, False)),
    ("http://localhost:1234/_sim/sandboxes", "127.0.0.1", (200, False)),
    ("http://[::1]:8080/_sim/sandboxes", "127.0.0.1", (200, False)),
    ("/_sim/sandboxes", "127.0.0.1", (200, False)),
    ("/_sim/sandboxes", "evil.example", (403, True)),
]


@pytest.mark.parametrize(("target", "host", "expected"), TARGETS)
def test_the_control_api_looks_at_the_host_of_the_target(
    server: Serving, target: str, host: str, expected: tuple[int, bool]
) -> None:
    assert status(int(server.ready["url"].rpartition(":")[2]), target, host) == expected


@pytest.mark.parametrize(("target", "host", "expected"), TARGETS)
def test_the_host_of_a_proxy_request_is_refused_too(
    proxy: int, target: str, host: str, expected: tuple[int, bool]
) -> None:
    assert status(proxy, target, host) == expected
