"""Answers that HTTP allows no body, and what stands around a header's value, byte by byte."""

import asyncio

import pytest

from tests.support.echo_server import Served, request


@pytest.mark.slow
@pytest.mark.parametrize("status", [204, 304])
def test_a_bodyless_status_ends_with_its_head_and_keeps_the_connection(served: Served, status: int) -> None:
    async def main() -> tuple[bytes, str]:
        async with await served.connect() as client:
            await client.send(request("GET", f"/status-{status}"))
            head = await client.reader.readuntil(b"\r\n\r\n")
            await client.send(request("GET", "/next"))
            return head, (await client.answer()).json["path"]

    head, following = asyncio.run(main())
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-length" not in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert following == "/next"


@pytest.mark.parametrize("status", [200, 204, 304, 404])
def test_an_answer_to_head_ends_with_its_head(served: Served, status: int) -> None:
    async def main() -> tuple[int, str]:
        async with await served.connect() as client:
            await client.send(request("HEAD", f"/status-{status}"))
            answer = await client.answer(to_head=True)
            await client.send(request("GET", "/next"))
            return answer.status, (await client.answer()).json["path"]

    assert asyncio.run(main()) == (status, "/next")


@pytest.mark.parametrize("path", ["/spaced", "/asgi", "/escaped%20path"])
@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"X-Spaced: key", "key"),
        (b"X-Spaced:key", "key"),
        (b"X-Spaced: \t key \t ", "key"),
        (b"X-Spaced: a \t b\t", "a \t b"),
        (b"X-Spaced: \t ", ""),
        (b"X-Spaced: \xa0key\xa0 ", "\xa0key\xa0"),
    ],
)
def test_blanks_and_tabs_around_a_value_are_stripped(served: Served, path: str, line: bytes, value: str) -> None:
    raw = b"GET %b HTTP/1.1\r\nHost: a\r\n%b\r\nConnection: close \r\n\r\n" % (path.encode(), line)
    (answer,) = asyncio.run(served.talk(raw))
    assert answer.json["spaced"] == [value]


@pytest.mark.slow
def test_a_spaced_length_is_the_length_of_the_body(served: Served) -> None:
    raw = b"POST / HTTP/1.1\r\nHost: a \r\nContent-Length: \t3 \t\r\n\r\nabc" + request(
        "GET", "/next", "Connection: close"
    )
    first, following = asyncio.run(served.talk(raw))
    assert (first.json["body"], following.json["path"]) == ("abc", "/next")
