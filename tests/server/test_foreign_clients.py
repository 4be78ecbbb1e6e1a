"""Clients with another protocol than HTTP/1.1 get advice, also in the log and in the events."""

import asyncio
import logging
from types import SimpleNamespace

import pytest

from simulator.cli.server import note_foreign
from simulator.runtime.events import Action
from simulator.server import foreign_clients
from simulator.server.foreign_clients import LOGGED, ForeignClients
from simulator.server.message import HttpRefusal
from tests.support.client import running
from tests.support.fed_connections import fed_server

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200))
CASES = {
    "tls": (HELLO, "not a valid HTTP/1.1 request"),
    "tls of a later version": (b"\x16\x03\x03\x00\x05\x01", "not a valid HTTP/1.1 request"),
    "http2": (PREFACE, "HTTP/2 is not supported; use HTTP/1.1"),
    "proxy": (b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n", "the PROXY protocol is not supported"),
    "raw_target": ("GET /v2/transactions?account=é HTTP/1.1\r\nHost: x\r\n\r\n".encode(), "bytes beyond ASCII"),
    "raw_target in a path": ("GET /v2/café HTTP/1.1\r\nHost: x\r\n\r\n".encode(), "bytes beyond ASCII"),
    "proxy of version 2": (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", "the PROXY protocol is not supported"),
    "blank_target": (
        b"GET /v2/transactions?date=2026-11-01 - 2026-11-30&limit=5 HTTP/1.1\r\nHost: x\r\n\r\n",
        "its target has blanks; percent-encode them as %20",
    ),
    "method": (b"get /v2/balance HTTP/1.1\r\nHost: x\r\n\r\n", "write methods in capital letters, GET"),
    "line_feed": (
        b"GET /v2/balance HTTP/1.1\r\nHost: x\r\nX-Signature: v1=abc\ndef\r\n\r\n",
        "a header has a line feed in its value",
    ),
    "version": (b"GET /v2/balance http/1.1\r\nHost: x\r\n\r\n", "its request line must end in HTTP/1.1"),
    "version of nothing": (b"GET /v2/balance x\r\nHost: x\r\n\r\n", "its request line must end in HTTP/1.1"),
    "connect": (
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
        "forward proxies, and this server is none",
    ),
    "socks": (b"\x05\x01\x00", "not a valid HTTP/1.1 request"),
    "raw_target of Latin-1": (b"GET /v2/caf\xe9 HTTP/1.1\r\nHost: x\r\n\r\n", "bytes beyond ASCII"),
}


async def answer_to(packet: bytes) -> bytes:
    async with fed_server() as server:
        _, transport = server.connect(packet)
        for _ in range(5):
            await asyncio.sleep(0)
        return bytes(transport.written)


@pytest.mark.parametrize("name", CASES)
def test_the_answer_and_the_log_name_the_protocol_of_the_client(name: str, caplog: pytest.LogCaptureFixture) -> None:
    packet, said = CASES[name]
    with caplog.at_level(logging.WARNING, "simulator.server.foreign_clients"):
        answer = asyncio.run(answer_to(packet))
    assert said.encode() in answer
    (line,) = [record.getMessage() for record in caplog.records]
    kind = name.partition(" ")[0]
    assert line == LOGGED[kind] if kind in LOGGED else said in line


@pytest.mark.parametrize(
    ("packet", "lines"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", []),
        (b"GET / HTTP/1.1\r\n\r\n", ["400 before it reached a sandbox: An HTTP/1.1 request needs a Host header"]),
        (b"GET / HTTP/3.0\r\nHost: x\r\n\r\n", ["400 before it reached a sandbox: "]),
        (b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n", ["414 before it reached a sandbox: The request line is over"]),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 200_000, ["431 before it reached a sandbox: "]),
    ],
)
def test_other_refusals_have_a_line(packet: bytes, lines: list[str], caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(answer_to(packet))
    assert len(caplog.records) == len(lines)
    for record, line in zip(caplog.records, lines, strict=True):
        assert line in record.getMessage()


def test_each_kind_is_reported_once_a_minute(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    said: list[str] = []
    monkeypatch.setattr(foreign_clients, "time", SimpleNamespace(monotonic=lambda: now[0]))
    clients = ForeignClients(said.append)
    refusal = HttpRefusal("malformed_request", "x")
    for at in (0, 59, 59, 60, 119, 121):
        now[0] = at
        clients.explained(HELLO, b"", refusal)
        clients.explained(PREFACE, b"", refusal)
    assert said[::2] == [LOGGED["tls"]] * 3
    assert ["HTTP/2 is not supported" in line for line in said] == [False, True] * 3
    assert [record.getMessage() for record in caplog.records] == said


def test_it_is_an_event_of_the_default_sandbox() -> None:
    with running() as client:
        note_foreign(client.app, LOGGED["tls"])
        item, _ = list(client.live.events.entries())[-1]
    assert isinstance(item, Action)
    assert (item.name, item.about) == ("not_http", LOGGED["tls"])


def test_bytes_like_tls_within_tls_are_not_advised_to_use_http(caplog: pytest.LogCaptureFixture) -> None:
    ForeignClients().explained(HELLO, b"", HttpRefusal("malformed_request", "x"), is_tls=True)
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("a request was refused with 400 before it reached a sandbox: ")
