"""Ordinary HTTP through the server: order, reuse, framing, versions, upgrades."""

import asyncio

import pytest

from tests.support.client import Response
from tests.support.echo_server import Served, request


@pytest.mark.slow
def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    raw = request("GET", "/slow") + request("POST", "/b", body=b"two") + request("GET", "/c", "Connection: close")
    slow, second, third = asyncio.run(served.talk(raw))
    assert slow.body == b"slow"
    assert (second.json["path"], second.json["body"]) == ("/b", "two")
    assert third.json["path"] == "/c"


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad",
    [
        b"rubbish\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_requests_before_a_bad_request_are_answered_first_and_later_requests_are_not(
    served: Served, bad: bytes, together: bool
) -> None:
    good = request("GET", "/slow") + request("GET", "/second")
    never = request("GET", "/never")
    answers = asyncio.run(served.talk(good + bad + never) if together else served.talk(good, 0.05, bad, 0.05, never))
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert answers[0].body == b"slow"
    assert "/never" not in served.app.seen


@pytest.mark.slow
def test_a_bad_request_after_the_last_one_is_not_answered(served: Served) -> None:
    raw = request("GET", "/slow", "Connection: close") + b"rubbish\r\n\r\n"
    (answer,) = asyncio.run(served.talk(raw))
    assert answer.body == b"slow"


@pytest.mark.slow
def test_a_body_that_breaks_after_its_answer_closes_the_connection(served: Served) -> None:
    async def main() -> tuple[Response, bytes]:
        async with await served.connect() as client:
            await client.send(b"POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            answer = await client.answer()
            await client.send(b"xyz\r\n")
            return answer, await client.to_end()

    answer, rest = asyncio.run(main())
    assert (answer.body, rest) == (b"early", b"")


def test_a_body_that_breaks_ends_the_application_as_a_disconnect(served: Served) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(b"POST /until-disconnect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            await client.reader.readuntil(b"\r\n\r\n")
            await client.send(b"xyz\r\n")
            rest = await client.to_end()
            assert await served.saw("left /until-disconnect")
            return rest

    served.app.seen.clear()
    assert asyncio.run(main()) == b""


def test_a_connection_serves_many_requests(served: Served) -> None:
    async def main() -> list[str]:
        async with await served.connect() as client:
            paths = []
            for number in range(50):
                await client.send(request("GET", f"/{number}"))
                paths.append((await client.answer()).json["path"])
            return paths

    assert asyncio.run(main()) == [f"/{number}" for number in range(50)]


def test_a_body_may_come_in_many_packets(served: Served) -> None:
    raw = request("POST", "/", "Connection: close", body=b"abcdefghij")
    pieces: list[bytes | float] = []
    for index in range(len(raw)):
        pieces += [raw[index : index + 1], 0.0]
    (answer,) = asyncio.run(served.talk(*pieces))
    assert answer.json["body"] == "abcdefghij"


def test_a_chunked_body_is_joined_and_its_trailer_dropped(served: Served) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    (answer,) = asyncio.run(
        served.talk(head, 0.02, b"3;ext=1\r\nabc\r\n", 0.02, b"2\r\nde\r\n0\r\nHost: b\r\nx-trailer: 1\r\n\r\n")
    )
    assert answer.json["body"] == "abcde"
    assert answer.json["headers"] == 3


@pytest.mark.parametrize("expect", [b"Expect: 100-Continue\r\n", b"Expect: 100-continue\r\nExpect: y\r\n"])
def test_100_continue_is_sent_before_the_body(served: Served, expect: bytes) -> None:
    async def main() -> tuple[bytes, Response]:
        async with await served.connect() as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\n" + expect + b"Content-Length: 2\r\n\r\n")
            interim = await client.reader.readuntil(b"\r\n\r\n")
            await client.send(b"ok")
            return interim, await client.answer()

    interim, answer = asyncio.run(main())
    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answer.json["body"] == "ok"


def test_100_continue_is_not_sent_to_a_client_of_http_1_0(served: Served) -> None:
    head = b"POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    (answer,) = asyncio.run(served.talk(head, 0.02, b"ok"))
    assert (answer.status, answer.json["body"]) == (200, "ok")


def test_an_early_answer_is_read_and_the_rest_of_its_body_dropped(served: Served) -> None:
    async def main() -> tuple[bytes, str]:
        async with await served.connect() as client:
            raw = request("POST", "/unread", body=b"b" * 3_000_000)
            await client.send(raw[:1000])
            early = await client.answer()
            await client.send(raw[1000:])
            await client.send(request("GET", "/next"))
            return early.body, (await client.answer()).json["path"]

    assert asyncio.run(main()) == (b"early", "/next")


def test_head_is_answered_without_a_body(served: Served) -> None:
    async def main() -> tuple[Response, Response]:
        async with await served.connect() as client:
            await client.send(request("HEAD", "/a"))
            head = await client.answer(to_head=True)
            await client.send(request("GET", "/b"))
            return head, await client.answer()

    head, after = asyncio.run(main())
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) > 0
    assert after.json["path"] == "/b"


def test_http_1_0_is_answered_and_closed(served: Served) -> None:
    (answer,) = asyncio.run(served.talk(b"GET /old HTTP/1.0\r\n\r\n"))
    assert (answer.status, answer.json["path"], answer.headers["connection"]) == (200, "/old", "close")


@pytest.mark.parametrize(
    ("version", "is_chunked", "body"),
    [("1.1", True, b"2\r\nun\r\n5\r\nsized\r\n0\r\n\r\n"), ("1.0", False, b"unsized")],
)
def test_an_answer_without_a_length_is_chunked_or_to_http_1_0_ends_with_its_connection(
    served: Served, version: str, is_chunked: bool, body: bytes
) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(f"GET /unsized HTTP/{version}\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
            return await client.to_end()

    head, _, rest = asyncio.run(main()).partition(b"\r\n\r\n")
    assert (b"transfer-encoding: chunked" in head) is is_chunked
    assert (b"connection: close" in head, rest) == (True, body)


@pytest.mark.parametrize(
    "headers",
    [
        ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"],
        ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA=="],
    ],
    ids=["h2c", "websocket"],
)
@pytest.mark.parametrize("body", [b"", b"abcdef"])
@pytest.mark.parametrize("packet", [1_000_000, 7, 1])
def test_an_offer_to_upgrade_is_answered_as_an_ordinary_request(
    served: Served, headers: list[str], body: bytes, packet: int
) -> None:
    raw = request("POST", "/up", *headers, body=body) * 2 + request("GET", "/after", "Connection: close")
    pieces: list[bytes | float] = []
    for start in range(0, len(raw), packet):
        pieces += [raw[start : start + packet], 0.0]
    *offers, after = asyncio.run(served.talk(*pieces))
    assert [(answer.status, answer.json["path"], answer.json["body"]) for answer in offers] == [
        (200, "/up", body.decode())
    ] * 2
    assert after.json["path"] == "/after"


@pytest.mark.parametrize("headers", [[], ["Connection: keep-alive"], ["Connection: Upgrade", "Upgrade: h2c"]])
@pytest.mark.parametrize("body", [b"", b"abcdef"])
@pytest.mark.parametrize("packet", [1_000_000, 7, 1])
def test_connect_to_a_path_is_answered_as_an_ordinary_request(
    served: Served, headers: list[str], body: bytes, packet: int
) -> None:
    raw = request("CONNECT", "/tunnel", *headers, body=body) * 2 + request("GET", "/after", "Connection: close")
    pieces: list[bytes | float] = []
    for start in range(0, len(raw), packet):
        pieces += [raw[start : start + packet], 0.0]
    *tunnels, after = asyncio.run(served.talk(*pieces))
    assert [(answer.status, answer.json["path"], answer.json["body"]) for answer in tunnels] == [
        (200, "/tunnel", body.decode())
    ] * 2
    assert after.json["path"] == "/after"


def test_an_offer_to_upgrade_may_have_a_chunked_body(served: Served) -> None:
    raw = request("POST", "/up", "Connection: Upgrade", "Upgrade: h2c", "Transfer-Encoding: chunked")
    rest = b"3\r\nabc\r\n0\r\n\r\n" + request("GET", "/after", "Connection: close")
    offer, after = asyncio.run(served.talk(raw, 0.02, rest))
    assert (offer.json["body"], after.json["path"]) == ("abc", "/after")


@pytest.mark.parametrize(
    ("behind", "error"),
    [
        (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "malformed_request"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "host_repeated"),
    ],
)
def test_a_malformed_request_after_an_upgrade_offer_is_refused_after_it(
    served: Served, behind: bytes, error: str
) -> None:
    raw = request("POST", "/up", "Connection: Upgrade", "Upgrade: h2c", body=b"abc")
    offer, bad = asyncio.run(served.talk(raw + behind))
    assert offer.json["body"] == "abc"
    assert (bad.status, bad.json["error"]) == (400, error)


def test_a_client_that_leaves_ends_every_application_on_its_connection(served: Served) -> None:
    async def main() -> None:
        async with await served.connect() as client:
            await client.send(request("GET", "/until-disconnect") + request("GET", "/dropped"))
            await client.reader.readuntil(b"\r\n\r\n")
        assert await served.saw("left /until-disconnect")

    served.app.seen.clear()
    asyncio.run(main())
    assert "/dropped" not in served.app.seen


@pytest.mark.slow
def test_a_client_that_closes_reads_an_answer_that_came_before_the_end_of_its_body(served: Served) -> None:
    head = b"POST /unread-at-once HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 8000000\r\n\r\n"

    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(head + b"b" * 1_000_000)
            for _ in range(7):
                await client.send(b"b" * 1_000_000)
            assert not client.closed
            return (await client.answer()).body

    assert asyncio.run(main()) == b"early"
