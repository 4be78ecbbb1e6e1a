"""Upstreams and clients that break off, stall, flood or speak nonsense: the proxy says what failed, and stays up."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from simulator.server.message import HttpLimits
from simulator.staging.proxy import relay
from tests.support.broken_receivers import OK, RUNNERS, Answer, Exchange, Run, says, silent, until
from tests.support.connections import closed_port, connected
from tests.support.proxies import Proxied, parts, proxied

pytestmark = pytest.mark.parametrize("run", RUNNERS)


async def failure(one: Proxied) -> tuple[int, str, str]:
    """Status, code and message of what the proxy answers itself; the journal has the same."""
    status, lines, body = parts(await one.get("/v2/balance"))
    assert b"content-type: application/json" in lines
    said = json.loads(body)
    row = (await one.sim("/requests"))["requests"][0]
    assert (row["status"], row["error"]) == (status, said["error"])
    assert row["diagnosis"] in said["message"]
    assert said["message"].startswith("reseller-sim proxy, not the service: ")
    return status, said["error"], said["message"]


@pytest.mark.slow
def test_an_upstream_without_a_server_is_a_502(run: Run) -> None:
    async def main() -> None:
        with closed_port() as port:
            async with proxied(silent, upstream=f"http://127.0.0.1:{port}") as one:
                status, code, message = await failure(one)
                assert (status, code) == (502, "upstream_unreachable")
                assert f"the service at http://127.0.0.1:{port} cannot be reached: Connection refused" in message

    run(main())


@pytest.mark.slow
def test_a_name_that_does_not_resolve_is_a_502(run: Run) -> None:
    async def main() -> None:
        async with proxied(silent, upstream="http://nowhere.invalid") as one:
            status, code, message = await failure(one)
            assert (status, code) == (502, "upstream_unreachable")
            assert "the name nowhere.invalid does not resolve" in message

    run(main())


@pytest.mark.slow
def test_an_upstream_that_speaks_no_tls_is_a_502(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as plain, proxied(silent, upstream=f"https://127.0.0.1:{plain.port}") as one:
            assert (await failure(one))[:2] == (502, "upstream_unreachable")

    run(main())


@pytest.mark.slow
def test_an_upstream_that_does_not_answer_is_a_504(run: Run) -> None:
    async def main() -> None:
        async with proxied(silent, timeout_s=0.3) as one:
            status, code, message = await failure(one)
            assert (status, code) == (504, "upstream_timeout")
            assert "the service did not answer within 0.3 s" in message
            await until(lambda: one.upstream.open_connections == 0)

    run(main())


BAD_HEADS = {
    "nothing": (b"", "upstream_broke_off", "before an answer came"),
    "half a head": (b"HTTP/1.1 200 OK\r\nX: ", "upstream_broke_off", "in the middle of the head"),
    "no HTTP": (b"SSH-2.0-OpenSSH\r\n\r\n", "upstream_not_http", "is not HTTP"),
    "HTTP/3": (b"HTTP/3.0 200 OK\r\n\r\n", "upstream_not_http", "is not HTTP"),
    "no status": (b"HTTP/1.1 twohundred\r\n\r\n", "upstream_not_http", "is not HTTP"),
    "a low status": (b"HTTP/1.1 099 Low\r\n\r\n", "upstream_not_http", "has the status 99"),
    "another protocol": (
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "upstream_not_http",
        "has the status 101",
    ),
    "a control character": (b"HTTP/1.1 200 OK\r\nX: a\x01\r\n\r\n", "upstream_not_http", "is not HTTP"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", "upstream_not_http", "HTTP"),
    "a length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "upstream_not_http",
        "HTTP",
    ),
    "a huge head": (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 60_000, "upstream_not_http", "a head over"),
    "a huge head that ends": (
        b"HTTP/1.1 200 OK\r\n" + b"X: %b\r\n" % (b"y" * 60_000) * 5 + b"Content-Length: 0\r\n\r\n",
        "upstream_not_http",
        "a head over",
    ),
    "one huge line": (b"HTTP/1.1 200 " + b"x" * 400_000, "upstream_not_http", "a head over"),
    "interim answers": (b"HTTP/1.1 102 Wait\r\n\r\n" * 20_000, "upstream_not_http", "a head over"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "code", "words"), BAD_HEADS.values(), ids=BAD_HEADS)
def test_an_invalid_answer_is_a_502(run: Run, data: bytes, code: str, words: str) -> None:
    async def main() -> None:
        async with proxied(says(data, close=True)) as one:
            status, found, message = await failure(one)
            assert (status, found) == (502, code)
            assert words in message

    run(main())


def _then(data: bytes, what: Callable[[Exchange], None]) -> Answer:
    async def answer(exchange: Exchange) -> None:
        exchange.write(data)
        await exchange.writer.drain()
        what(exchange)

    return answer


BROKEN = {
    "a huge trailer": _then(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: " + b"y" * 600_000, lambda _: None
    ),
    "closed": _then(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Exchange.close),
    "reset": _then(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Exchange.reset),
    "closed within chunks": _then(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Exchange.close),
    "nonsense within chunks": _then(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", Exchange.close
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_breaks_off_is_cut_for_the_client_too(run: Run, answer: Answer) -> None:
    async def main() -> None:
        async with proxied(answer) as one:
            got = await one.get("/v2/balance")
            assert not got.endswith(b"0\r\n\r\n")
            row = (await one.sim("/requests"))["requests"][0]
            assert row["status"] == 200
            assert row["error"] in ("upstream_broke_off", "upstream_not_http")
            assert (await one.sim("/departures"))["departures"] == []

    run(main())


@pytest.mark.slow
def test_an_answer_that_pauses_too_long_is_cut(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), timeout_s=0.5) as one:
            assert (await one.get("/x")).endswith(b"\r\n\r\nabc")
            assert (await one.sim("/requests"))["requests"][0]["error"] == "upstream_timeout"

    run(main())


@pytest.mark.slow
def test_an_answer_that_drips_without_end_is_cut(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "BODY_TIMEOUTS_MAX", 1)

    async def drips(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not exchange.writer.is_closing():
            exchange.write(b"x")
            await exchange.writer.drain()
            # sleep: an upstream that drips, slower than it could
            await asyncio.sleep(0.01)

    async def main() -> None:
        async with proxied(drips, timeout_s=0.5) as one:
            assert b"\r\nx\r\n" in await one.get("/x")
            assert (await one.sim("/requests"))["requests"][0]["error"] == "upstream_timeout"

    run(main())


@pytest.mark.slow
def test_an_endless_answer_is_held_back_by_a_client_that_does_not_read_and_ends_with_it(run: Run) -> None:
    sent = 0

    async def floods(exchange: Exchange) -> None:
        nonlocal sent
        exchange.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            exchange.write(b"x" * 65536)
            await exchange.writer.drain()
            sent += 65536

    async def main() -> None:
        async with proxied(floods, limits=HttpLimits(write_timeout_s=0.3)) as one, connected(one.port) as (_, writer):
            writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")  # its answer is never read
            row = (await one.sim("/requests?wait_for=1"))["requests"][0]
            assert row["error"] == "client_left"
            await until(lambda: one.upstream.open_connections == 0)
            assert sent < 64 * 1024 * 1024

    run(main())


@pytest.mark.slow
def test_an_answer_that_comes_before_the_request_is_complete_is_passed_on(run: Run) -> None:
    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(refuses, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, proxied(silent, upstream=address) as one, connected(one.port) as (reader, writer):
            writer.write(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 413 Too Large\r\n")
            assert (await one.sim("/requests"))["requests"][0]["status"] == 413

    run(main())


@pytest.mark.slow
def test_a_client_that_leaves_in_the_middle_of_its_request_is_journaled(run: Run) -> None:
    async def main() -> None:
        async with proxied(silent) as one:
            async with connected(one.port) as (_, writer):
                writer.write(b"POST /v2/topup HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
                await until(lambda: one.upstream.open_connections == 1)
            row = (await one.sim("/requests?wait_for=1"))["requests"][0]
            assert (row["status"], row["error"]) == (0, "client_left")
            await until(lambda: one.upstream.open_connections == 0)

    run(main())


@pytest.mark.slow
def test_a_payment_is_passed_on_to_its_end_though_the_client_left(run: Run) -> None:
    go_on = asyncio.Event()

    async def waits(exchange: Exchange) -> None:
        await go_on.wait()
        exchange.write(OK)

    async def main() -> None:
        async with proxied(waits) as one:
            async with connected(one.port) as (_, writer):
                writer.write(b"POST /v2/topup HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
                await until(lambda: len(one.upstream.requests) == 1)
            go_on.set()
            assert (await one.sim("/requests?wait_for=1"))["requests"][0]["status"] == 200

    run(main())


@pytest.mark.slow
def test_no_request_is_sent_twice_when_a_kept_connection_breaks(run: Run) -> None:
    async def once(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.write(OK)
        else:
            exchange.reset()

    async def main() -> None:
        async with proxied(once) as one:
            assert parts(await one.get("/x"))[0] == 200
            assert (await failure(one))[:2] == (502, "upstream_broke_off")
            assert len(one.upstream.requests) == 2

    run(main())


@pytest.mark.slow
def test_many_clients_share_a_bounded_number_of_connections(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            answers = await asyncio.gather(*(one.get(f"/{n}") for n in range(300)))
            assert {parts(answer)[0] for answer in answers} == {200}
            assert one.upstream.connections <= 128
            assert (await one.sim("/requests?limit=1"))["requests"][0]["n"] == 300

    run(main())


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v2/topup", "/_sim/callbacks"])
def test_requests_whose_bodies_do_not_come_take_no_connection_from_others(run: Run, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n".encode()

    async def main() -> None:
        async with proxied(says(OK), says(OK), timeout_s=0.3) as one, AsyncExitStack() as stack:
            for _ in range(130):
                _, writer = await stack.enter_async_context(connected(one.port))
                writer.write(head)
            assert parts(await one.get(path, method="POST", body=b"{}"))[0] == 200

    run(main())


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_", [b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n"]
)
def test_an_invalid_request_is_refused_and_not_passed_on(run: Run, request_: bytes) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            assert (await one.raw(request_)).startswith(b"HTTP/1.1 400 ")
            assert one.upstream.requests == []

    run(main())


@pytest.mark.slow
def test_a_request_in_progress_is_journaled_when_the_proxy_stops(run: Run) -> None:
    async def main() -> None:
        async with proxied(silent) as one, connected(one.port) as (_, writer):
            writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: len(one.upstream.requests) == 1)
        (seen,) = one.proxy.watcher.log.calls
        assert (seen.call.status, seen.error) == (0, "proxy_stopped")

    run(main())
