"""Faults of the connection, and hostile bytes, against the real server."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from simulator.app import App, build_app, wall_clock
from simulator.options import Options
from simulator.scenario.library import scenario_from_object
from simulator.server.serve import make_server
from tests.support.signing import sign

BODY = {"refid": "lost", "product": "RELOAD", "account": "0123456789", "amount": "10"}


@asynccontextmanager
async def serving(faults: list[Any], clock: str = "manual") -> AsyncIterator[tuple[App, int]]:
    """The application on a real socket."""
    scenario = {"scenario": "faults", "extends": "default", "clock": clock, "faults": faults}
    app = build_app(Options(), scenario=scenario_from_object(scenario))
    ready = asyncio.Event()
    server = make_server(app, "127.0.0.1", 0, on_ready=ready.set)
    task = asyncio.create_task(server.serve())
    try:
        await ready.wait()
        yield app, server.port
    finally:
        server.should_exit = True
        await task


def request(app: App, method: str, path: str, body: Any = None, nonce: str = "n" * 16) -> bytes:
    """One signed request as bytes."""
    key = app.scenario.resellers[0].keys[0]
    content = json.dumps(body).encode() if body else b""
    stamp = str(int(wall_clock().timestamp()))
    signature = sign(method, "", content, timestamp=stamp, nonce=nonce, secret=base64.b64decode(key.secret))
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key.key}\r\nX-Timestamp: {stamp}\r\nX-Nonce: {nonce}\r\n"
        f"X-Signature: {signature}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    ).encode() + content


async def exchange(port: int, content: bytes) -> bytes:
    """All bytes that come back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(content)
    try:
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def payments(app: App) -> int:
    return len(app.sandboxes.get("default").core.state.transactions)


def answer_to(fault: dict[str, Any]) -> tuple[bytes, int, bytes]:
    """What the client reads under a fault, how many payments there are, and what it reads when it asks again."""

    async def main() -> tuple[bytes, int, bytes]:
        async with serving([fault]) as (app, port):
            first = await exchange(port, request(app, "POST", "/v2/topup", BODY))
            made = payments(app)
            again = await exchange(port, request(app, "POST", "/v2/topup", BODY, "m" * 16))
            return first, made, again

    return asyncio.run(main())


TOPUP = {"path": "/v2/topup", "method": "POST"}


@pytest.mark.parametrize(
    ("fault", "expected", "made"),
    [
        ({"when": TOPUP, "times": 1, "then": {"disconnect": True}}, b"", 0),
        ({"when": TOPUP, "times": 1, "then": {"disconnect": True, "after_commit": True}}, b"", 1),
        ({"when": {"product": "RELOAD"}, "times": 1, "then": {"disconnect": True}}, b"", 0),
        (
            {"when": {"account": {"prefix": "01"}}, "times": 1, "then": {"after_commit": True, "disconnect": True}},
            b"",
            1,
        ),
        ({"when": TOPUP, "times": 1, "then": {"status": 504}}, b"504", 0),
        ({"when": TOPUP, "times": 1, "then": {"status": 504, "after_commit": True}}, b"504", 1),
        ({"when": TOPUP, "times": 1, "then": {"delay": "10ms"}}, b"200", 1),
        ({"when": {**TOPUP, "nth": 1}, "then": {"status": 500, "body": {"oops": 1}}}, b"500", 0),
    ],
)
def test_a_fault_damages_one_exchange_and_the_next_is_fine(fault: dict[str, Any], expected: bytes, made: int) -> None:
    first, after_first, again = answer_to(fault)
    assert first[9:12] == expected
    assert after_first == made
    assert again.startswith(b"HTTP/1.1 200")


def test_an_answer_can_be_cut_in_its_middle() -> None:
    first, made, again = answer_to({"when": TOPUP, "times": 1, "then": {"disconnect": "body"}})
    head, _, body = first.partition(b"\r\n\r\n")
    promised = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))[15:])
    assert (made, 0 < len(body) < promised) == (1, True)
    assert again.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("body", [{"oops": 1}, "text"])
@pytest.mark.parametrize("more", [{}, {"drip": {"bytes_per_second": 1000}}, {"malformed": True}])
@pytest.mark.parametrize("together", [True, False])
def test_a_fault_of_a_bodyless_status_leaves_nothing_behind_its_head(
    status: int, body: Any, more: dict[str, Any], together: bool
) -> None:
    """On a connection that is kept, a body would be read as the beginning of the next answer."""

    async def main() -> tuple[bytes, bytes]:
        fault = {"when": TOPUP, "times": 1, "then": {"status": status, "body": body, **more}}
        async with serving([fault]) as (app, port):
            kept = request(app, "POST", "/v2/topup", BODY).replace(b"Connection: close\r\n", b"")
            last = request(app, "GET", "/v2/balance", nonce="m" * 16)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(kept + last if together else kept)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            if not together:
                writer.write(last)
            rest = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return head, rest

    head, rest = asyncio.run(main())
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-length" not in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("together", [True, False])
def test_blanks_and_tabs_around_a_credential_are_no_part_of_it(together: bool) -> None:
    async def main() -> bytes:
        async with serving([]) as (app, port):
            head = request(app, "GET", "/v2/balance")
            key = app.scenario.resellers[0].keys[0].key.encode()
            spaced = head.replace(key, b" \t" + key + b" \t")
            kept = spaced.replace(b"Connection: close\r\n", b"") if together else spaced
            return await exchange(port, kept + b"\x00" if together else kept)  # the rubbish ends the connection

    assert asyncio.run(main()).startswith(b"HTTP/1.1 200 OK\r\n")


def test_another_server_may_leave_blanks_and_tabs_around_a_value() -> None:
    app = build_app(Options())
    key = app.scenario.resellers[0].keys[0]
    stamp = str(int(wall_clock().timestamp()))
    signature = sign("GET", "", b"", timestamp=stamp, nonce="n" * 16, secret=base64.b64decode(key.secret))
    headers = {"x-api-key": key.key, "x-timestamp": stamp, "x-nonce": "n" * 16, "x-signature": signature}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    async def main() -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/v2/balance",
            "query_string": b"",
            "client": ("127.0.0.1", 1),
            "headers": [(name.encode(), b"\t %b \t" % value.encode()) for name, value in headers.items()],
        }
        await app(scope, receive, send)
        await app.sandboxes.close()

    asyncio.run(main())
    assert sent[0]["status"] == 200


def parted(answer: bytes) -> tuple[bytes, bytes]:
    """Head and body, which is as long as the head promises."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-length: %d\r\n" % len(body) in head.lower() + b"\r\n"
    return head, body


@pytest.mark.parametrize(
    ("then", "status", "made"),
    [
        ({"malformed": True}, b"200", 1),
        ({"malformed": True, "after_commit": True}, b"200", 1),
        ({"malformed": True, "status": 502}, b"502", 0),
        ({"malformed": True, "status": 502, "after_commit": True}, b"502", 1),
        ({"malformed": True, "drip": {"bytes_per_second": 100_000}}, b"200", 1),
        ({"malformed": True, "status": 200, "body": "7"}, b"200", 0),
        ({"malformed": True, "status": 200, "body": ""}, b"200", 0),
    ],
)
@pytest.mark.parametrize("when", [TOPUP, {"product": "RELOAD"}])
def test_an_answer_can_be_no_json(when: dict[str, Any], then: dict[str, Any], status: bytes, made: int) -> None:
    first, after_first, again = answer_to({"when": when, "times": 1, "then": then})
    head, body = parted(first)
    assert (head[9:12], after_first) == (status, made)
    with pytest.raises(json.JSONDecodeError):
        json.loads(body)
    assert again.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("when", [TOPUP, {"product": "RELOAD"}])
def test_an_answer_can_drip(when: dict[str, Any]) -> None:
    """The head has come before the body is whole; a fast clock makes the drops larger."""

    async def main() -> tuple[bytes, bytes, bytes]:
        fault = {"when": when, "times": 1, "then": {"drip": {"bytes_per_second": 1}}}
        async with serving([fault], clock="x1000") as (app, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request(app, "POST", "/v2/topup", BODY))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            begun = reader._buffer[:]  # type: ignore[attr-defined]  # what has come with the head
            rest = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return head, bytes(begun), rest

    head, begun, body = asyncio.run(main())
    assert head.startswith(b"HTTP/1.1 200")
    assert len(begun) < len(body)
    assert json.loads(body)["data"]["refid"] == "lost"


@pytest.mark.parametrize(("after_commit", "made"), [(False, 0), (True, 1)])
def test_the_service_gives_up_after_29_seconds(after_commit: bool, made: int) -> None:
    """Of the sandbox's time: a clock of x1000 makes 29 ms of them."""

    async def main() -> tuple[bytes, int]:
        then = {"status": 504, "delay": "29s", "after_commit": after_commit}
        async with serving([{"when": TOPUP, "times": 1, "then": then}], clock="x1000") as (app, port):
            return await exchange(port, request(app, "POST", "/v2/topup", BODY)), payments(app)

    answer, count = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 504")
    assert count == made


def test_a_504_says_what_it_is() -> None:
    first, _, _ = answer_to({"when": TOPUP, "times": 1, "then": {"status": 504}})
    assert json.loads(first.partition(b"\r\n\r\n")[2])["error"] == "integration_timeout"


def test_a_body_that_grows_over_ten_megabytes_is_refused_while_it_is_read() -> None:
    async def main() -> bytes:
        async with serving([]) as (app, port):
            head = request(app, "POST", "/v2/topup").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.replace(b"Connection: close\r\n", b""))
            chunk = b"%x\r\n%b\r\n" % (1024 * 1024, b" " * 1024 * 1024)
            for _ in range(12):  # it never ends by itself
                writer.write(chunk)
                await asyncio.wait_for(writer.drain(), 10)
            answer = await asyncio.wait_for(reader.readuntil(b"10 MB"), 10)
            writer.close()
            return answer

    answer = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"body_too_large" in answer


def test_a_declared_body_over_the_limit_is_refused_without_reading_it() -> None:
    async def main() -> bytes:
        async with serving([]) as (app, port):
            head = request(app, "POST", "/v2/topup").replace(b"Content-Length: 0", b"Content-Length: 99999999999")
            return await exchange(port, head)

    assert b"body_too_large" in asyncio.run(main())
