"""Faults of the connection, and hostile bytes, against the real server."""

import asyncio
import base64
import json
from typing import Any

import pytest

from simulator.app import build_app
from simulator.options import Options
from simulator.runtime.clock import wall_clock
from tests.support.connections import connected
from tests.support.on_the_wire import PATIENCE_S, sandbox_with
from tests.support.processes import Serving, ask
from tests.support.signing import sign

pytestmark = pytest.mark.slow

BODY = {"refid": "lost", "product": "RELOAD", "account": "0123456789", "amount": "10"}


def answer_to(server: Serving, fault: dict[str, Any]) -> tuple[bytes, int, bytes]:
    """Return the client's answer under a fault, the number of payments, and the answer to a second request."""
    sandbox = sandbox_with(server, [fault])
    first = sandbox.pay(BODY)
    made = sandbox.payments
    return first, made, sandbox.pay(BODY, "m" * 16)


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
def test_a_fault_damages_one_exchange_and_the_next_is_fine(
    server: Serving, fault: dict[str, Any], expected: bytes, made: int
) -> None:
    first, after_first, again = answer_to(server, fault)
    assert first[9:12] == expected
    assert after_first == made
    assert again.startswith(b"HTTP/1.1 200")


def test_an_answer_can_be_cut_in_its_middle(server: Serving) -> None:
    first, made, again = answer_to(server, {"when": TOPUP, "times": 1, "then": {"disconnect": "body"}})
    head, _, body = first.partition(b"\r\n\r\n")
    promised = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))[15:])
    assert (made, 0 < len(body) < promised) == (1, True)
    assert again.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "more", [{}, {"drip": {"bytes_per_second": 10_000}}, {"malformed": True}, {"disconnect": "body"}]
)
def test_a_gateways_page_has_its_own_type_and_headers_however_it_is_sent(server: Serving, more: dict[str, Any]) -> None:
    page = {"status": 502, "body": "<h1>Bad Gateway</h1>", "headers": {"Server": "nginx", "Retry-After": "5"}}
    first, _, _ = answer_to(server, {"when": TOPUP, "times": 1, "then": page | more})
    head, _, body = first.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")[1:]]
    assert {b"server: nginx", b"retry-after: 5", b"content-type: text/html; charset=utf-8"} <= set(lines)
    names = [line.partition(b":")[0] for line in lines]
    assert [names.count(name) for name in (b"content-type", b"content-length", b"date", b"server")] == [1, 1, 1, 1]
    assert body == b"<h1>Bad Gateway</h1>" if "drip" in more or not more else b"<h1>Bad Ga"


def test_an_inbox_closes_the_connection_and_the_next_request_is_answered(server: Serving) -> None:
    sandbox = sandbox_with(server, [])
    control = f"http://127.0.0.1:{sandbox.port}/_sim/sandboxes/{sandbox.id}/inbox/mine"
    program = {"replies": [{"disconnect": True}, {"status": 202, "headers": {"X-Pot": "1"}}], "repeat": True}
    assert ask(control, "PUT", json.dumps(program).encode()).status == 200
    message = (
        b"POST /_sim/inbox/%b/mine HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
    ) % sandbox.id.encode()
    answers = [asyncio.run(sandbox.exchange(message)) for _ in range(4)]
    assert [answer[9:12] for answer in answers] == [b"", b"202", b"", b"202"]
    assert b"\r\nx-pot: 1\r\n" in answers[1].lower()
    assert [item["status"] for item in ask(control).json["items"]] == [0, 202, 0, 202]


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("body", [{"oops": 1}, "text"])
@pytest.mark.parametrize("more", [{}, {"drip": {"bytes_per_second": 1000}}, {"malformed": True}])
@pytest.mark.parametrize("together", [True, False])
def test_a_fault_with_a_bodyless_status_sends_only_its_head(
    server: Serving, status: int, body: Any, more: dict[str, Any], together: bool
) -> None:
    """On a connection that is kept, a body would be read as the beginning of the next answer."""
    fault = {"when": TOPUP, "times": 1, "then": {"status": status, "body": body, **more}}
    sandbox = sandbox_with(server, [fault])

    async def main() -> tuple[bytes, bytes]:
        kept = sandbox.request("POST", "/v2/topup", BODY).replace(b"Connection: close\r\n", b"")
        last = sandbox.request("GET", "/v2/balance", nonce="m" * 16)
        async with connected(sandbox.port) as (reader, writer):
            writer.write(kept + last if together else kept)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            if not together:
                writer.write(last)
            return head, await asyncio.wait_for(reader.read(), PATIENCE_S)

    head, rest = asyncio.run(main())
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-length" not in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("method", "path", "then"),
    [
        ("POST", "/v2/topup", {"status": 204}),
        ("POST", "/v2/topup", {"status": 304, "body": "text"}),
        ("POST", "/v2/topup", {"status": 500, "body": "text"}),
        ("DELETE", "/v2/balance-webhook", {"malformed": True}),
        ("HEAD", "/v2/balance", {"status": 500}),
    ],
)
def test_the_journal_shows_the_response_that_was_sent(
    server: Serving, method: str, path: str, then: dict[str, Any]
) -> None:
    sandbox = sandbox_with(server, [{"then": then}])
    head, _, body = asyncio.run(sandbox.exchange(sandbox.request(method, path))).partition(b"\r\n\r\n")
    sent = {tuple(line.decode().split(": ", 1)) for line in head.split(b"\r\n")[1:]}
    shown = ask(f"{server.ready['url']}/_sim/sandboxes/{sandbox.id}/requests/1").json["response"]
    assert (shown["body"], shown["body_bytes"]) == (body.decode(), len(body))
    assert {name for name, _ in sent ^ set(map(tuple, shown["headers"]))} == {"date", "connection"}


@pytest.mark.parametrize("together", [True, False])
def test_blanks_and_tabs_around_a_credential_are_stripped(server: Serving, together: bool) -> None:
    sandbox = sandbox_with(server)
    key = sandbox.key.encode()
    spaced = sandbox.request("GET", "/v2/balance").replace(key, b" \t" + key + b" \t")
    kept = spaced.replace(b"Connection: close\r\n", b"") if together else spaced
    answer = asyncio.run(sandbox.exchange(kept + b"\x00" if together else kept))  # the rubbish ends the connection
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


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
def test_an_answer_can_be_no_json(
    server: Serving, when: dict[str, Any], then: dict[str, Any], status: bytes, made: int
) -> None:
    first, after_first, again = answer_to(server, {"when": when, "times": 1, "then": then})
    head, body = parted(first)
    assert (head[9:12], after_first) == (status, made)
    with pytest.raises(json.JSONDecodeError):
        json.loads(body)
    assert again.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("when", [TOPUP, {"product": "RELOAD"}])
def test_an_answer_can_drip(server: Serving, when: dict[str, Any]) -> None:
    """The head has come before the body is whole; a fast clock makes the drops larger."""

    fault = {"when": when, "times": 1, "then": {"drip": {"bytes_per_second": 1}}}
    sandbox = sandbox_with(server, [fault], clock="x200")

    async def main() -> tuple[bytes, bytes, bytes]:
        async with connected(sandbox.port) as (reader, writer):
            writer.write(sandbox.request("POST", "/v2/topup", BODY))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            begun = reader._buffer[:]  # type: ignore[attr-defined]  # what has come with the head
            return head, bytes(begun), await asyncio.wait_for(reader.read(), PATIENCE_S)

    head, begun, body = asyncio.run(main())
    assert head.startswith(b"HTTP/1.1 200")
    assert len(begun) < len(body)
    assert json.loads(body)["data"]["refid"] == "lost"


@pytest.mark.parametrize(("after_commit", "made"), [(False, 0), (True, 1)])
def test_the_service_gives_up_after_29_seconds(server: Serving, after_commit: bool, made: int) -> None:
    """Seconds of the sandbox's time: a clock of x1000 shortens them to 29 ms."""

    then = {"status": 504, "delay": "29s", "after_commit": after_commit}
    sandbox = sandbox_with(server, [{"when": TOPUP, "times": 1, "then": then}], clock="x1000")
    assert sandbox.pay(BODY).startswith(b"HTTP/1.1 504")
    assert sandbox.payments == made


def test_a_504_says_what_it_is(server: Serving) -> None:
    first, _, _ = answer_to(server, {"when": TOPUP, "times": 1, "then": {"status": 504}})
    assert json.loads(first.partition(b"\r\n\r\n")[2])["error"] == "integration_timeout"


def test_a_body_that_grows_over_ten_megabytes_is_refused_while_it_is_read(server: Serving) -> None:
    sandbox = sandbox_with(server)

    async def main() -> bytes:
        head = sandbox.request("POST", "/v2/topup").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        chunk = b"%x\r\n%b\r\n" % (1024 * 1024, b" " * 1024 * 1024)
        async with connected(sandbox.port) as (reader, writer):
            writer.write(head.replace(b"Connection: close\r\n", b""))
            for _ in range(12):  # it never ends by itself
                writer.write(chunk)
                await asyncio.wait_for(writer.drain(), PATIENCE_S)
            return await asyncio.wait_for(reader.readuntil(b"10 MB"), PATIENCE_S)

    answer = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"body_too_large" in answer


def test_a_declared_body_over_the_limit_is_refused_without_reading_it(server: Serving) -> None:
    sandbox = sandbox_with(server)
    head = sandbox.request("POST", "/v2/topup").replace(b"Content-Length: 0", b"Content-Length: 99999999999")
    assert b"body_too_large" in asyncio.run(sandbox.exchange(head))
