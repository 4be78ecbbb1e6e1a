"""A client that closes its sending side within a body: an answer that needs no more of it is sent, no other."""

import asyncio

import pytest

from tests.support.echo_server import LETTERS, Client, Served, request

HEAD = b"POST %b HTTP/1.%d\r\nHost: a\r\nContent-Length: 9\r\n%b\r\n"
BODY = b"abc"


def begun(path: str, body: bytes = BODY, *, minor: int = 1, headers: bytes = b"") -> bytes:
    """A request whose body lacks its end."""
    return HEAD % (path.encode(), minor, headers) + body


async def half_close(client: Client, *pieces: bytes) -> None:
    """Send the pieces and close the client's sending side at once."""
    for piece in pieces:
        client.writer.write(piece)
    client.writer.write_eof()


def raw_answers(served: Served, *pieces: bytes) -> bytes:
    """Every byte that comes back until the server closes, which it must do by itself."""

    return asyncio.run(araw_answers(served, *pieces))


async def araw_answers(served: Served, *pieces: bytes) -> bytes:
    async with await served.connect() as client:
        await half_close(client, *pieces)
        return await client.to_end()


CHUNKED = b"POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
DECIDED = [
    ("a part of the body", begun("/unread"), b"early"),
    ("nothing of the body", begun("/unread", b""), b"early"),
    ("all in one message", begun("/unread-at-once"), b"early"),
    ("a part of a chunk", CHUNKED + b"5\r\nab", b"early"),
    ("no last chunk", CHUNKED + b"2\r\nab\r\n", b"early"),
    ("HTTP/1.0", begun("/unread", minor=0), b"early"),
    ("an offer to continue", begun("/unread", b"", headers=b"Expect: 100-continue\r\n"), b"early"),
    ("an offer to upgrade", begun("/unread", headers=b"Connection: Upgrade\r\nUpgrade: h2c\r\n"), b"early"),
    ("an answer after a while", begun("/slow"), b"slow"),
    ("a dripping answer", begun("/drip"), LETTERS),
    ("a cut answer", begun("/cut-unread"), LETTERS[:-1]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "raw", "body"), DECIDED, ids=[row[0] for row in DECIDED])
def test_an_answer_that_needs_no_more_of_the_body_is_sent_whole(
    served: Served, what: str, raw: bytes, body: bytes
) -> None:
    async def main() -> list[bytes]:
        return await asyncio.gather(*(araw_answers(served, raw) for _ in range(5)))

    for answer in asyncio.run(main()):  # the end may come before, with, or after the turn that starts the request
        head, _, rest = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 20")
        assert rest == body


def test_an_answer_without_a_body_is_sent(served: Served) -> None:
    assert raw_answers(served, begun("/status-204")).startswith(b"HTTP/1.1 204 No Content\r\n")


def test_an_answer_of_unknown_length_ends_by_closing(served: Served) -> None:
    assert raw_answers(served, begun("/unsized", minor=0)).endswith(b"\r\n\r\nunsized")


@pytest.mark.slow
@pytest.mark.parametrize("body", [BODY, b""])
@pytest.mark.parametrize("path", ["/asgi", "/late-reader"])
def test_a_request_that_needs_its_body_gets_no_answer(served: Served, path: str, body: bytes) -> None:
    assert raw_answers(served, begun(path, body)) == b""


@pytest.mark.slow
def test_a_client_that_cannot_continue_is_not_asked_to(served: Served) -> None:
    assert raw_answers(served, begun("/late-reader", b"", headers=b"Expect: 100-continue\r\n")) == b""


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/asgi", "/late-reader"])
def test_an_application_that_waits_for_the_body_is_disconnected(served: Served, path: str) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(begun(path))
            assert await served.saw(path)
            client.writer.write_eof()
            return await client.to_end()

    served.app.seen.clear()
    assert asyncio.run(main()) == b""


def test_an_answer_that_has_begun_is_not_ended_by_a_disconnect(served: Served) -> None:
    raw = raw_answers(served, begun("/begun-then-read"))
    assert raw.endswith(b"\r\n\r\n2\r\nno\r\n8\r\n more of\r\n0\r\n\r\n")


@pytest.mark.parametrize("path", ["/drip-for-ever", "/until-disconnect"])
def test_no_connection_waits_for_ever(served: Served, path: str) -> None:
    served.app.seen.clear()
    raw_answers(served, begun(path))
    assert f"left {path}" in served.app.seen


@pytest.mark.slow
@pytest.mark.parametrize(("path", "bodies"), [("/unread", [b"slow", b"early"]), ("/asgi", [b"slow"])])
@pytest.mark.parametrize("first", ["/slow", "/drip"])
def test_requests_before_it_are_answered(served: Served, first: str, path: str, bodies: list[bytes]) -> None:
    async def main() -> list[bytes]:
        async with await served.connect() as client:
            await half_close(client, request("GET", first), begun(path))
            return [answer.body for answer in await client.answers_to_end()]

    expected = [LETTERS if first == "/drip" and body == b"slow" else body for body in bodies]
    assert asyncio.run(main()) == expected


@pytest.mark.slow
def test_a_refusal_after_an_answer_in_progress_is_sent(served: Served) -> None:
    async def main() -> list[int]:
        async with await served.connect() as client:
            await half_close(client, request("GET", "/slow"), b"GET / HTTP/1.1\r\n\r\n")
            return [answer.status for answer in await client.answers_to_end()]

    assert asyncio.run(main()) == [200, 400]


@pytest.mark.slow
def test_a_body_that_is_not_read_any_more_ends_the_connection(served: Served) -> None:
    async def main() -> tuple[bytes, bytes]:
        async with await served.connect() as client:
            await client.send(begun("/unread"))
            answer = await client.answer()
            client.writer.write_eof()
            return answer.body, await client.to_end()

    assert asyncio.run(main()) == (b"early", b"")
