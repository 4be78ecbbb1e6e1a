"""Bytes on a real socket: what is no request, what is one and lies about itself, what never ends.

The server's own layer has its tests beside it; here the whole simulator serves the bytes.
"""

import asyncio
import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
import uvloop

from simulator.app import App, build_app
from simulator.options import Options
from simulator.runtime.clock import wall_clock
from simulator.scenario.library import scenario_from_object
from simulator.server.message import HttpLimits
from simulator.server.serve import make_server
from tests.support.bad_requests import ids
from tests.support.connections import connected
from tests.support.signing import sign

PATIENCE_S = 30.0
STALL_S = 0.7  # how long this server waits for the rest of a head or body; users get 20 s
LIMIT = 10 * 1024 * 1024
H = b"Host: 127.0.0.1\r\n"
CLOSE = b"Connection: close\r\n"
_nonces = count(1)


@dataclass(frozen=True)
class Simulator:
    """The whole simulator on a port of its own."""

    app: App
    port: int

    def signed(
        self, method: str, path: str, body: bytes = b"", headers: bytes = CLOSE, *, length: bool = True
    ) -> bytes:
        key = self.app.scenario.resellers[0].keys[0]
        stamp, nonce = str(int(wall_clock().timestamp())), f"raw-{next(_nonces):016d}"
        query = path.partition("?")[2]
        signature = sign(method, query, body, timestamp=stamp, nonce=nonce, secret=base64.b64decode(key.secret))
        head = (
            f"{method} {path} HTTP/1.1\r\nX-Api-Key: {key.key}\r\nX-Timestamp: {stamp}\r\nX-Nonce: {nonce}\r\n"
            f"X-Signature: {signature}\r\n"
        ).encode()
        sized = b"Content-Length: %d\r\n" % len(body) if length and body else b""
        return head + H + headers + sized + b"\r\n" + body

    async def talk(self, *pieces: bytes) -> bytes:
        """Send the pieces, and return all that comes back until the server closes."""
        async with connected(self.port) as (reader, writer):
            with suppress(ConnectionError):  # the server has refused, and reads no more
                for piece in pieces:
                    writer.write(piece)
                    await asyncio.wait_for(writer.drain(), PATIENCE_S)
            return await asyncio.wait_for(reader.read(), PATIENCE_S)

    def answers(self, *pieces: bytes) -> list[tuple[int, str]]:
        """The status and error of each answer."""
        return [(status, error) for status, error, _ in parsed(asyncio.run(self.talk(*pieces)))]

    def state(self) -> Any:
        live = self.app.sandboxes.get("default")
        wallet = live.core.state.resellers["RS001"].wallet
        return wallet.balance, len(wallet.entries), list(live.core.state.transactions), live.core.violations()


def parsed(raw: bytes) -> list[tuple[int, str, str]]:
    """Status, error code and request id of each answer in a stream."""
    found = []
    while raw:
        head, _, rest = raw.partition(b"\r\n\r\n")
        length = int((re.search(rb"content-length: (\d+)", head, re.IGNORECASE) or [b"", b"0"])[1])
        body, raw = rest[:length], rest[length:]
        request_id = re.search(rb"x-sim-request-id: (\S+)", head, re.IGNORECASE)
        assert request_id, head
        found.append((int(head.split()[1]), json.loads(body).get("error", "") if body else "", request_id[1].decode()))
    return found


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    scenario = {
        "scenario": "raw",
        "extends": "default",
        "clock": "manual",
        "limits": {"requests_per_interval": None},
        "faults": FAULTS,
    }
    app = build_app(Options(), scenario=scenario_from_object(scenario))
    ready = threading.Event()
    limits = HttpLimits(head_timeout_s=STALL_S, body_timeout_s=STALL_S)
    server = make_server(app, "127.0.0.1", 0, limits=limits, on_ready=ready.set)

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(server.serve())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(PATIENCE_S)
    yield Simulator(app, server.port)
    server.should_exit = True
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.fixture(scope="module", autouse=True)
def client() -> None:
    """The tables' client has no part here."""


@pytest.fixture(autouse=True)
def unharmed(simulator: Simulator) -> Iterator[None]:
    """No bytes move money, and the next honest request is answered."""
    before = simulator.state()
    yield
    assert simulator.state() == before
    assert simulator.answers(simulator.signed("GET", "/v2/balance")) == [(200, "")]


GET, POST = b"GET /v2/balance HTTP/1.1\r\n", b"POST /v2/topup HTTP/1.1\r\n"
BAD, TARGET, HEAD = "malformed_request", "malformed_target", "head_too_large"
CODING = "unknown_transfer_coding"
KEY = "missing_api_key"

ROWS: list[tuple[str, bytes, list[tuple[int, str]]]] = [
    ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), [(400, BAD)]),
    ("zeros", bytes(500), [(400, BAD)]),
    ("every byte", bytes(range(256)), [(400, BAD)]),
    ("JSON alone", b'{"refid": "a"}\r\n\r\n', [(400, BAD)]),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [(400, BAD)]),
    ("HTTP/0.9", b"GET /v2/balance\r\n\r\n", [(400, "unsupported_http_version")]),
    ("HTTP/9.9", b"GET /v2/balance HTTP/9.9\r\n" + H + b"\r\n", [(400, BAD)]),
    ("an unknown method", b"BREW /v2/balance HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("a method in lower case", b"get /v2/balance HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("a method of 100,000 letters", b"G" * 100_000, [(400, BAD)]),
    ("CONNECT", b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("an asterisk", b"OPTIONS * HTTP/1.1\r\n" + H + b"\r\n", [(400, TARGET)]),
    ("a path without its slash", b"GET v2/balance HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("a broken escape in the path", b"GET /v2/bal%zzance HTTP/1.1\r\n" + H + b"\r\n", [(400, TARGET)]),
    ("no UTF-8 in the path", b"GET /v2/%ff HTTP/1.1\r\n" + H + b"\r\n", [(400, TARGET)]),
    ("an overlong slash in the path", b"GET /v2%c0%afbalance HTTP/1.1\r\n" + H + b"\r\n", [(400, TARGET)]),
    ("raw UTF-8 in the path", "GET /v2/balancé HTTP/1.1\r\n".encode() + H + b"\r\n", [(400, BAD)]),
    ("NUL in the path", b"GET /v2/\x00 HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("a blank in the path", b"GET /v2/bal ance HTTP/1.1\r\n" + H + b"\r\n", [(400, BAD)]),
    ("an escaped NUL in the path", b"GET /v2/%00 HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(404, "")]),
    ("an escaped slash in the path", b"GET /v2%2fbalance HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(401, KEY)]),
    ("another server's URL", b"GET http://evil.example/v2/balance HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(401, KEY)]),
    ("a URL of another scheme", b"GET file:///etc/passwd HTTP/1.1\r\n" + H + b"\r\n", [(400, TARGET)]),
    ("a path of 70,000 characters", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + H + b"\r\n", [(414, "target_too_long")]),
    ("a query of 70,000 characters", b"GET /?" + b"a" * 70_000 + b" HTTP/1.1\r\n" + H + b"\r\n", [(414, "target_too_long")]),
    ("no Host", GET + b"\r\n", [(400, "host_missing")]),
    ("two Hosts", GET + H + H + b"\r\n", [(400, "host_repeated")]),
    ("an empty Host", GET + b"Host:\r\n" + CLOSE + b"\r\n", [(401, KEY)]),
    ("101 headers", GET + H + b"".join(b"x-%d: 1\r\n" % n for n in range(100)) + b"\r\n", [(431, "too_many_headers")]),
    ("10,000 headers", GET + H + b"x: 1\r\n" * 10_000 + b"\r\n", [(431, "too_many_headers")]),
    ("a header of 70,000 bytes", GET + H + b"x: " + b"a" * 70_000 + b"\r\n\r\n", [(431, HEAD)]),
    ("a header name of 70,000 bytes", GET + H + b"a" * 70_000 + b": x\r\n\r\n", [(431, HEAD)]),
    ("a megabyte of header without an end", GET + H + b"x: " + b"a" * 1_000_000, [(431, HEAD)]),
    ("a folded header", GET + H + b"a: b\r\n c\r\n\r\n", [(400, BAD)]),
    ("NUL in a header", GET + H + b"X-Api-Key: \x00\r\n\r\n", [(400, BAD)]),
    ("CR in a header", GET + H + b"X-Api-Key: a\rb\r\n\r\n", [(400, BAD)]),
    ("a blank before the colon", GET + H + b"X-Api-Key : a\r\n\r\n", [(400, BAD)]),
    ("bare line feeds", GET.replace(b"\r", b"") + b"Host: a\n\n", [(400, BAD)]),
    ("two lengths", POST + H + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", [(400, BAD)]),
    ("a length and chunks", POST + H + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [(400, BAD)]),
    ("chunks and a length", POST + H + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", [(400, BAD)]),
    ("a negative length", POST + H + b"Content-Length: -1\r\n\r\n", [(400, BAD)]),
    ("a length beyond 64 bits", POST + H + b"Content-Length: 99999999999999999999\r\n\r\n", [(400, BAD)]),
    ("gzip for a transfer encoding", POST + H + b"Transfer-Encoding: gzip\r\n\r\n", [(400, BAD)]),
    ("gzip within chunks", POST + H + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [(501, CODING)]),
    ("gzip within chunks, in two headers", POST + H + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", [(501, CODING)]),
    ("identity within chunks", POST + H + b"Transfer-Encoding: identity\t, chunked\r\n\r\n0\r\n\r\n", [(501, CODING)]),
    ("chunks within chunks", POST + H + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", [(400, BAD)]),
    ("chunks within gzip", POST + H + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", [(400, BAD)]),
    ("a coding whose name ends like chunked", POST + H + b"Transfer-Encoding: unchunked\r\n\r\n0\r\n\r\n", [(400, BAD)]),
    ("an empty coding beside chunked", POST + H + CLOSE + b"Transfer-Encoding: , CHUNKED\r\n\r\n0\r\n\r\n", [(401, KEY)]),
    ("gzip within chunks that offer an upgrade", POST + H + b"Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [(501, CODING)]),
    ("a chunk size in words", POST + H + b"Transfer-Encoding: chunked\r\n\r\nmany\r\n", [(400, BAD)]),
    ("a chunk size of 17 digits", POST + H + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", [(400, BAD)]),
    ("a request within a body", POST + H + CLOSE + b"Content-Length: 4\r\n\r\nGET / HTTP/1.1\r\n\r\n", [(401, KEY)]),
    ("garbage behind a request", GET + H + b"\r\n\x00\x00garbage\r\n\r\n", [(401, KEY), (400, BAD)]),
    ("a control request of another Host", b"DELETE /_sim/sandboxes/default HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + b"\r\n", [(403, "foreign_host")]),
    ("a control path with two dots", b"GET /_sim/../v2/balance HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(404, "unknown_path")]),
    ("a sandbox with an escaped slash", b"GET /s/a%2fb/v2/balance HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(404, "unknown_sandbox")]),
    ("an upgrade to websocket", GET + H + CLOSE + b"Upgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n", [(401, KEY)]),
    ("TRACE", b"TRACE /v2/balance HTTP/1.1\r\n" + H + CLOSE + b"\r\n", [(405, "")]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "raw", "expected"), ROWS, ids=ids(ROWS))
def test_hostile_bytes_get_a_plain_answer(
    simulator: Simulator, what: str, raw: bytes, expected: list[tuple[int, str]]
) -> None:
    assert simulator.answers(raw) == expected


def test_every_answer_of_every_layer_has_an_id_of_its_own(simulator: Simulator) -> None:
    rows = [
        GET + H + CLOSE + b"\r\n",
        GET + b"\r\n",
        b"GET /_sim/health HTTP/1.1\r\n" + H + CLOSE + b"\r\n",
        b"GET /_sim/nothing HTTP/1.1\r\n" + H + CLOSE + b"\r\n",
        b"GET /_sim/health HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + b"\r\n",
        b"POST /_sim/inbox/default/raw HTTP/1.1\r\n" + H + CLOSE + b"\r\n",
        b"GET /s/nobody/ HTTP/1.1\r\n" + H + CLOSE + b"\r\n",
        b"GET /nowhere HTTP/1.1\r\n" + H + CLOSE + b"\r\n",
        bytes(100),
    ]
    seen = [request_id for raw in rows * 2 for _, _, request_id in parsed(asyncio.run(simulator.talk(raw)))]
    assert len(seen) == len(set(seen)) == 2 * len(rows)


def test_a_stalled_request_is_refused_and_closed(simulator: Simulator) -> None:
    starts = [
        (b"", (408, "head_timeout")),
        (b"G", (408, "head_timeout")),
        (GET + H + b"X-Slow: ", (408, "head_timeout")),
        (POST + H + b"Content-Length: 10\r\n\r\n", (401, KEY)),
        (simulator.signed("POST", "/v2/topup", length=False, headers=b"Content-Length: 10\r\n"), (408, "body_timeout")),
        (simulator.signed("POST", "/v2/topup", length=False, headers=b"Content-Length: 10\r\n") + b"abc", (408, "body_timeout")),
        (simulator.signed("POST", "/v2/topup", length=False, headers=b"Transfer-Encoding: chunked\r\n") + b"3\r\nabc\r\n", (408, "body_timeout")),
        (b"POST /_sim/sandboxes HTTP/1.1\r\n" + H + b"Content-Length: 10\r\n\r\n{", (408, "body_timeout")),
        (b"POST /_sim/inbox/default/raw HTTP/1.1\r\n" + H + b"Content-Length: 10\r\n\r\n{", (408, "body_timeout")),
    ]  # fmt: skip

    async def main() -> list[bytes]:
        return await asyncio.gather(*(simulator.talk(start) for start, _ in starts))

    seen = [[(status, error) for status, error, _ in parsed(raw)] for raw in asyncio.run(main())]
    assert seen == [[expected] for _, expected in starts]


PART = b"Content-Length: 10\r\n\r\nabc"
FAULTS = [
    {"name": name, "when": {"path": "/v2/unused"}, "then": then}
    for name, then in {
        "504": {"status": 504},
        "204": {"status": 204},
        "slow-500": {"status": 500, "delay": "50ms"},
        "dripping-500": {"status": 500, "drip": {"bytes_per_second": 1000}},
        "disconnect": {"disconnect": True},
        "delay": {"delay": "50ms"},
        "late-500": {"status": 500, "after_commit": True},
    }.items()
]
HALF_CLOSED: list[tuple[str, bytes, int]] = [
    ("no key", POST + H + PART, 401),
    ("a wrong key", POST + H + b"X-Api-Key: nobody\r\n" + PART, 401),
    ("an unknown path", b"POST /v2/nowhere HTTP/1.1\r\n" + H + PART, 404),
    ("a wrong method", b"DELETE /v2/topup HTTP/1.1\r\n" + H + PART, 405),
    ("an unknown sandbox", b"POST /s/nobody/v2/topup HTTP/1.1\r\n" + H + PART, 404),
    ("a fault before a body too large", POST + H + b"X-Sim-Rule: 504\r\nContent-Length: 99999999\r\n\r\nabc", 504),
    ("an unknown rule", POST + H + b"X-Sim-Rule: nobody\r\n" + PART, 400),
    ("the fault disconnect", POST + H + b"X-Sim-Rule: disconnect\r\n" + PART, 0),
]  # fmt: skip


async def half_closed(simulator: Simulator, raw: bytes) -> bytes:
    """Send, close the client's side at once, and return all that comes back until the server closes."""
    async with connected(simulator.port) as (reader, writer):
        writer.write(raw)
        writer.write_eof()
        return await asyncio.wait_for(reader.read(), PATIENCE_S)


@pytest.mark.parametrize(("what", "raw", "status"), HALF_CLOSED, ids=ids(HALF_CLOSED))
def test_a_client_that_closes_its_side_within_a_body_gets_the_answer_that_the_journal_shows(
    simulator: Simulator, what: str, raw: bytes, status: int
) -> None:
    seen = [(status, int(n)) for status, _, n in parsed(asyncio.run(half_closed(simulator, raw)))]
    journal = simulator.app.sandboxes.get("default").journal
    assert seen == ([(status, journal.last_n)] if status else [])
    found = journal.find(journal.last_n)
    assert found is not None
    assert found.status == status


ANSWERING = [b"504", b"204", b"slow-500", b"dripping-500", b"delay", b"late-500"]


@pytest.mark.parametrize("rule", [b"", *(b"X-Sim-Rule: %b\r\n" % name for name in ANSWERING)])
def test_a_client_that_closes_its_side_within_a_body_that_is_needed_gets_no_answer(
    simulator: Simulator, rule: bytes
) -> None:
    for path in ("/v2/topup", "/s/default/v2/topup"):
        raw = simulator.signed("POST", path, b"{}", headers=rule + b"Content-Length: 10\r\n", length=False)
        assert asyncio.run(half_closed(simulator, raw)) == b""
        journal = simulator.app.sandboxes.get("default").journal
        found = journal.find(journal.last_n)
        assert found is not None
        assert (found.path, found.status) == ("/v2/topup", 0)


@pytest.mark.parametrize("path", [b"/_sim/sandboxes", b"/_sim/inbox/default/raw", b"/v2/token", b"/_sim/nothing"])
def test_a_client_that_closes_its_side_within_another_body_ends_the_connection(
    simulator: Simulator, path: bytes
) -> None:
    raw = asyncio.run(half_closed(simulator, b"POST %b HTTP/1.1\r\n" % path + H + PART))
    assert raw[:12] in ((b"HTTP/1.1 404",) if path.endswith(b"nothing") else (b"",))


# Sizes


def test_a_body_that_is_declared_too_large_is_refused_before_it_comes(simulator: Simulator) -> None:
    declared = b"Content-Length: %d\r\n" % (LIMIT + 1)
    raw = simulator.signed("POST", "/v2/topup", headers=declared, length=False)

    async def main() -> bytes:
        async with connected(simulator.port) as (reader, writer):
            writer.write(raw)
            return await asyncio.wait_for(reader.readuntil(b"body_too_large"), PATIENCE_S)  # a stall has another name

    assert asyncio.run(main()).startswith(b"HTTP/1.1 401")


def test_a_client_that_closes_still_reads_why_its_large_body_was_refused(simulator: Simulator) -> None:
    body = b" " * (LIMIT + 1)
    for headers in (CLOSE, CLOSE + b"Expect: nothing\r\n"):
        head = simulator.signed("POST", "/v2/topup", body, headers).removesuffix(body)
        assert simulator.answers(head, body) == [(401, "body_too_large")]


def test_chunks_without_an_end_are_refused_at_ten_megabytes(simulator: Simulator) -> None:
    raw = simulator.signed("POST", "/v2/topup", headers=b"Transfer-Encoding: chunked\r\n", length=False)
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"

    async def main() -> bytes:
        async with connected(simulator.port) as (reader, writer):
            writer.write(raw)
            answer = asyncio.create_task(reader.readuntil(b"\r\n\r\n"))
            for _ in range(11):
                writer.write(chunk)
                await asyncio.wait_for(writer.drain(), PATIENCE_S)
            head = await asyncio.wait_for(answer, PATIENCE_S)
            body = await reader.readexactly(int((re.search(rb"content-length: (\d+)", head) or [b"", b"0"])[1]))
            return bytes(head.split()[1]) + b" " + bytes(json.loads(body)["error"], "ascii")

    assert asyncio.run(main()) == b"401 body_too_large"


BOUNDS = {
    "/v2/token": 65536,
    "/s/default/v2/token/refresh": 65536,
    "/_sim/inbox/default/raw": 1024 * 1024,
    "/_sim/sandboxes": 2 * 1024 * 1024,
}


@pytest.mark.parametrize("path", BOUNDS)
def test_a_smaller_bound_is_applied_while_a_body_is_read(simulator: Simulator, path: str) -> None:
    post, size = b"POST %b HTTP/1.1\r\n" % path.encode() + H, BOUNDS[path]
    chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (10 * size)

    async def main(*pieces: bytes) -> bytes:
        async with connected(simulator.port) as (reader, writer):
            for piece in pieces:
                writer.write(piece)
                await asyncio.wait_for(writer.drain(), PATIENCE_S)
            return await asyncio.wait_for(reader.readuntil(b"\r\n"), PATIENCE_S)

    for answer in (
        asyncio.run(main(post + b"Content-Length: %d\r\n\r\n" % (size + 1))),
        asyncio.run(main(post + chunked, b" " * (size + 1))),
    ):
        assert answer.startswith(b"HTTP/1.1 400"), "it is refused before the rest comes, and does not wait for that"
    within = asyncio.run(main(post + chunked, b" " * size))
    assert within.startswith(b"HTTP/1.1 408"), "a body within its bound is waited for"


def test_endless_chunk_extensions_are_refused(simulator: Simulator) -> None:
    raw = simulator.signed("POST", "/v2/topup", headers=b"Transfer-Encoding: chunked\r\n", length=False)
    assert simulator.answers(raw + b"1;" + b"x" * 200_000) == [(431, "framing_too_large")]
    assert simulator.answers(raw + b"0\r\n" + b"x: y\r\n" * 200_000) == [(431, "framing_too_large")]


def test_a_body_in_single_bytes_is_one_body(simulator: Simulator) -> None:
    body = b'{"refid": "drip", "product": "RELOAD", "account": "1", "amount": "10"}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    headers = b"Transfer-Encoding: chunked\r\n" + CLOSE
    raw = simulator.signed("POST", "/v2/topup", body, headers=headers, length=False).removesuffix(body)
    answer = asyncio.run(simulator.talk(raw, chunks))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"Invalid_Account" in answer


@pytest.mark.parametrize(
    "path", ["/_sim/sandboxes", "/_sim/sandboxes/default/clock/advance", "/_sim/inbox/default/raw"]
)
def test_a_control_body_is_bounded(simulator: Simulator, path: str) -> None:
    size = 2 * 1024 * 1024 + 1
    head = b"POST %b HTTP/1.1\r\n" % path.encode() + H + CLOSE + b"Content-Length: %d\r\n\r\n" % size
    assert simulator.answers(head, b" " * size) == [(400, "bad_request")]
