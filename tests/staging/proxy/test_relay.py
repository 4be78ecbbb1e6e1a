"""The proxy passes every byte unchanged, except the fields of a single connection."""

import asyncio

import pytest

from tests.support.broken_receivers import OK, RUNNERS, Exchange, Run, says
from tests.support.connections import connected
from tests.support.proxies import Proxied, parts, proxied

pytestmark = pytest.mark.parametrize("run", RUNNERS)

TARGETS = [
    "/v2/balance",
    "/v2/balance?",
    "/v2/options?b=2&a=1&a=0&c&d=",
    "/v2/options?q=%7e%7E~%2f/%2F+%20&x=[1]|{}",
    "//double//slash/../dots/./here?a=b?c=d",
    "/a%20b%C3%A9/%00?%zz=%",
    "/v2/transactions?date=2026-11-01%20-%202026-11-02&status=FAILED&status=PENDING",
]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_target_arrives_unchanged(run: Run, target: str) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            await one.get(target)
            assert one.upstream.requests[0].head[0] == f"GET {target} HTTP/1.1"

    run(main())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_the_method_and_the_body_arrive_as_they_were_sent(run: Run, method: str) -> None:
    body = bytes(range(256)) * 40

    async def main() -> None:
        async with proxied(says(OK)) as one:
            assert (await one.get("/x", method=method, body=body)).endswith(b"\r\n\r\nok")
            assert one.upstream.requests[0].head[0] == f"{method} /x HTTP/1.1"
            assert one.upstream.requests[0].body == body

    run(main())


BODIES = [b"{}\n", b"{}\r\n", b"{}\r\n\r\n", b"\n{} ", b" ", b"\n", b"\t\n\n", b"\x00", b'\xef\xbb\xbf{"a":1}\n']


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_blanks_and_newlines_of_a_body_which_are_signed_arrive_in_both_directions(run: Run, body: bytes) -> None:
    async def main() -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        async with proxied(says(answer), says(answer)) as one:
            for target in ("/v2/topup", "/_sim/callbacks"):
                assert (await one.get(target, method="POST", body=body)).partition(b"\r\n\r\n")[2] == body
            for got in (one.upstream, one.receiver):
                assert got.requests[0].body == body
                assert f"content-length: {len(body)}" in got.requests[0].head

    run(main())


@pytest.mark.slow
def test_every_field_that_clients_usually_send_arrives(run: Run) -> None:
    fields = [
        "user-agent: shop/1.2 (python-httpx/0.27)",
        "accept: */*",
        "accept-encoding: gzip, deflate, br, zstd",
        "accept-language: ms-MY, en;q=0.5",
        "content-type: application/json; charset=utf-8",
        "content-encoding: identity",
        "authorization: Bearer b",
        "cookie: a=b; c=d",
        "cache-control: no-cache",
        "pragma: no-cache",
        "origin: https://shop.example.com",
        "referer: https://shop.example.com/a",
        "date: Sat, 21 Nov 2026 04:00:00 GMT",
        'if-none-match: "a"',
        "if-modified-since: Sat, 21 Nov 2026 04:00:00 GMT",
        "range: bytes=0-1",
        "from: a@example.com",
        "via: 1.1 other",
        "forwarded: for=192.0.2.1",
        "x-forwarded-for: 192.0.2.1",
        "x-request-id: 1",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "idempotency-key: a1",
        "priority: u=1",
        "x-api-key: k",
        "x-api-version: 2026-09-16",
        "x-timestamp: 1700000000",
        "x-nonce: nnnnnnnnnnnnnnnn",
        "x-signature: s=",
        "x-sim-rule: none",
    ]

    async def main() -> None:
        async with proxied(says(OK)) as one:
            await one.get("/x", *fields, method="POST", body=b"{}")
            host, *arrived = one.upstream.requests[0].head[1:]
            assert host == f"host: 127.0.0.1:{one.upstream.port}"
            assert arrived == [*fields, "content-length: 2"]

    run(main())


@pytest.mark.slow
def test_header_fields_keep_their_order_and_values_without_additions(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            await one.get(
                "/x", "X-Api-Key: k", "accept: a, b", "X-Twice: 1", "X-Other: caf\xe9 =  =", "X-Twice: 2", "X-Empty:"
            )
            lines = [line.rstrip() for line in one.upstream.requests[0].head[1:]]
            authority = f"host: 127.0.0.1:{one.upstream.port}"
            fields = ["x-api-key: k", "accept: a, b", "x-twice: 1", "x-other: caf\xe9 =  =", "x-twice: 2", "x-empty:"]
            assert lines == [authority, *fields]

    run(main())


@pytest.mark.slow
def test_hop_by_hop_fields_and_fields_named_by_connection_are_dropped(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            hop = ["Keep-Alive: 1", "TE: trailers", "Upgrade: h2c", "Proxy-Authorization: x", "X-Mine: 1"]
            await one.get("/x", *hop, "Connection: x-mine, authorization, te", "Authorization: Bearer b")
            names = [line.partition(":")[0] for line in one.upstream.requests[0].head[1:]]
            assert names == ["host", "authorization"]

    run(main())


@pytest.mark.slow
def test_the_base_of_the_upstream_stands_before_each_target(run: Run) -> None:
    async def main() -> None:
        async with (
            proxied(says(OK)) as before,
            proxied(says(OK), upstream=f"http://127.0.0.1:{before.port}/s/a%2Fb/") as one,
        ):
            await one.get("/v2/balance?a=1")
            assert before.upstream.requests[0].head[0] == "GET /s/a%2Fb/v2/balance?a=1 HTTP/1.1"

    run(main())


ANSWERS = [
    b"HTTP/1.1 200 OK\r\nDate: never\r\nX-B: 1\r\nx-a:  two \r\nX-B: 2\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 299 Odd But Fine\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 999 \r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 600 caf\xe9\r\nX: \xe9\xff\r\nContent-Length: 1\r\n\r\n\x00",
    b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
    b'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: "a"\r\n\r\n',
    b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08?",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Long: " + b"l" * 60_000 + b"\r\n\r\nhello",
]


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer[9:30].decode("latin-1"))
def test_the_answer_arrives_byte_for_byte(run: Run, answer: bytes) -> None:
    async def main() -> None:
        async with proxied(says(answer)) as one:
            got = await one.get("/x")
            assert got.replace(b"\r\nconnection: close", b"") == answer.replace(b"x-a:  two ", b"x-a: two ")

    run(main())


@pytest.mark.slow
def test_an_answer_keeps_the_connection_to_the_client_and_to_the_upstream(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one, connected(one.port) as (reader, writer):
            for _ in range(3):
                writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
                assert await reader.readexactly(len(OK)) == OK
            assert one.upstream.connections == 1

    run(main())


@pytest.mark.slow
def test_a_connection_that_the_upstream_closed_meanwhile_is_not_used(run: Run) -> None:
    async def closes(exchange: Exchange) -> None:
        exchange.write(OK)
        exchange.end_at_once()

    async def main() -> None:
        async with proxied(closes) as one:
            for _ in range(3):
                assert parts(await one.get("/x"))[0] == 200
            assert one.upstream.connections == 3

    run(main())


@pytest.mark.slow
def test_bytes_after_an_answer_are_not_taken_for_the_next_answer(run: Run) -> None:
    async def main() -> None:
        async with proxied(says(OK + b"HTTP/1.1 500 Smuggled\r\nContent-Length: 0\r\n\r\n")) as one:
            for _ in range(3):
                assert parts(await one.get("/x"))[0] == 200
            assert one.upstream.connections == 3

    run(main())


@pytest.mark.slow
def test_an_answer_to_head_has_its_length_and_no_body(run: Run) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"

    async def main() -> None:
        async with proxied(says(answer)) as one:
            assert (await one.get("/x", method="HEAD")).replace(b"connection: close\r\n", b"") == answer
            assert one.upstream.requests[0].head[0] == "HEAD /x HTTP/1.1"

    run(main())


@pytest.mark.slow
def test_chunks_and_an_answer_that_ends_with_its_connection_arrive_whole(run: Run) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nT: 1\r\n\r\n"

    async def main() -> None:
        async with proxied(says(chunked)) as one:
            head, _, body = (await one.get("/x")).partition(b"\r\n\r\n")
            assert b"transfer-encoding: chunked" in head
            assert _unchunked(body) == b"abcde"
        async with proxied(says(b"HTTP/1.0 200 OK\r\n\r\nto the end", close=True)) as one:
            assert _unchunked((await one.get("/x")).partition(b"\r\n\r\n")[2]) == b"to the end"
            old = await one.raw(b"GET /x HTTP/1.0\r\n\r\n")
            assert old.endswith(b"\r\n\r\nto the end")

    run(main())


def _unchunked(body: bytes) -> bytes:
    plain = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        plain, body = plain + rest[:length], rest[length + 2 :]
    return plain


@pytest.mark.slow
def test_interim_answers_are_not_taken_for_the_answer(run: Run) -> None:
    async def main() -> None:
        async with proxied(
            says(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + OK)
        ) as one:
            assert (await one.get("/x")).startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 2")

    run(main())


@pytest.mark.slow
def test_a_body_in_chunks_and_one_that_waits_for_continue_arrive(run: Run) -> None:
    async def main() -> None:
        bodies: list[bytes] = []

        async def reads_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            bodies.append(head + await reader.readuntil(b"0\r\n\r\n"))
            writer.write(OK)
            writer.close()

        server = await asyncio.start_server(reads_chunks, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, proxied(says(OK), upstream=address) as one, connected(one.port) as (reader, writer):
            writer.write(b"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"3\r\nabc\r\n")
            writer.write(b"2\r\nde\r\n0\r\n\r\n")
            assert await reader.readexactly(len(OK)) == OK
            head, _, body = bodies[0].partition(b"\r\n\r\n")
            assert b"expect" not in head
            assert head.endswith(b"transfer-encoding: chunked")
            assert _unchunked(body) == b"abcde"
            assert (await one.sim("/requests/1"))["request"]["body"] == "abcde"

    run(main())


@pytest.mark.slow
def test_answers_are_passed_on_while_they_come(run: Run) -> None:
    go_on = asyncio.Event()

    async def slowly(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        await go_on.wait()
        exchange.write(b"cd")

    async def main() -> None:
        async with proxied(slowly) as one, connected(one.port) as (reader, writer):
            writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readuntil(b"ab")).endswith(b"\r\n\r\nab")
            go_on.set()
            assert await reader.readexactly(2) == b"cd"

    run(main())


@pytest.mark.slow
def test_a_long_body_goes_through_though_it_is_not_kept(run: Run) -> None:
    long = b"x" * (17 * 1024 * 1024)

    async def main() -> None:
        async with proxied(says(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(long) + long)) as one:
            assert await _length(one) > len(long)
            shown = await one.sim("/requests/1")
            assert (shown["response"]["body"], shown["response"]["body_bytes"]) == ("", len(long))
            assert "too long to be kept" in shown["diagnosis"]

    run(main())


async def _length(one: Proxied) -> int:
    return len(await one.get("/x"))
