"""The faults of a connection, as a client sees them on the wire."""

import asyncio
import time

import pytest

from simulator.server.responder import responder_of as connection_of
from tests.support.client import Response
from tests.support.echo_server import LETTERS, PATIENCE_S, Served, request
from tests.support.fed_connections import close_sending_side, fed_server, turns


def raw_answer(served: Served, *pieces: bytes) -> bytes:
    """Send and return every byte that comes back."""

    async def main() -> bytes:
        async with await served.connect() as client:
            for piece in pieces:
                await client.send(piece)
            try:
                return await client.to_end()
            except ConnectionResetError:
                return b""

    return asyncio.run(main())


@pytest.mark.slow
def test_abort_sends_no_bytes(served: Served) -> None:
    assert raw_answer(served, request("GET", "/abort")) == b""
    assert raw_answer(served, request("POST", "/abort", body=b"unread")) == b""


@pytest.mark.slow
def test_abort_spares_the_answers_before_it_and_drops_the_requests_after_it(served: Served) -> None:
    raw = request("GET", "/slow") + request("GET", "/abort") + request("GET", "/after-abort")
    (answer,) = asyncio.run(served.talk(raw))
    assert answer.body == b"slow"
    assert "/after-abort" not in served.app.seen


@pytest.mark.slow
def test_abort_ends_an_answer_that_has_begun(served: Served) -> None:
    raw = raw_answer(served, request("GET", "/abort-in-body"))
    assert raw.endswith(b"\r\n\r\nhalf")
    assert b"content-length: 10" in raw


def test_a_cut_answer_promises_more_than_it_sends(served: Served) -> None:
    head, _, body = raw_answer(served, request("POST", "/cut", body=b"read")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: 104" in head
    assert b"transfer-encoding" not in head
    assert body == LETTERS[:26]


def test_a_cut_answer_arrives_though_the_request_was_not_read(served: Served) -> None:
    big = request("POST", "/cut-unread", body=b"b" * 2_000_000)
    head, _, body = raw_answer(served, big).partition(b"\r\n\r\n")
    assert head.count(b"content-length") == 1
    assert body == LETTERS[:-1], "a cut answer always lacks its end"


@pytest.mark.parametrize("raw", [request("GET", "/cut-nothing"), request("HEAD", "/cut")])
def test_without_a_body_to_cut_there_is_no_answer(served: Served, raw: bytes) -> None:
    assert raw_answer(served, raw) == b""


@pytest.mark.slow
def test_a_dripping_answer_is_slow_whole_and_keeps_the_connection(served: Served) -> None:
    async def main() -> tuple[float, bytes, str]:
        async with await served.connect() as client:
            # clock: that an answer drips is seen by its time alone
            began = time.monotonic()
            await client.send(request("GET", "/drip") + request("GET", "/after-drip"))
            body = (await client.answer()).body
            return time.monotonic() - began, body, (await client.answer()).json["path"]

    took_s, body, after = asyncio.run(main())
    assert took_s > 0.15, "104 bytes at 400 a second"
    assert (body, after) == (LETTERS, "/after-drip")


def test_a_dripping_answer_begins_at_once(served: Served) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(request("GET", "/drip-for-long"))  # ten seconds
            await asyncio.wait_for(client.reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            return await asyncio.wait_for(client.reader.read(len(LETTERS)), PATIENCE_S)

    begun = asyncio.run(main())
    assert begun
    assert begun != LETTERS
    assert LETTERS.startswith(begun)


def test_a_dripping_answer_to_head_has_no_body(served: Served) -> None:
    raw = raw_answer(served, request("HEAD", "/drip", "Connection: close"))
    assert raw.startswith(b"HTTP/1.1 201 Created\r\n")
    assert b"content-length: 104" in raw
    assert raw.endswith(b"\r\n\r\n")


def half_closed_answers(served: Served, raw: bytes) -> list[Response]:
    """Send, close the client's sending side, and return the answers that come all the same."""

    async def main() -> list[Response]:
        async with await served.connect() as client:
            client.writer.write(raw)
            client.writer.write_eof()
            return await client.answers_to_end()

    return asyncio.run(main())


@pytest.mark.slow
def test_a_client_that_closed_its_sending_side_gets_a_dripping_answer_whole(served: Served) -> None:
    first, second = half_closed_answers(served, request("GET", "/drip") + request("GET", "/drip"))
    assert (first.body, second.body) == (LETTERS, LETTERS)


@pytest.mark.slow
def test_a_client_that_closes_its_sending_side_in_the_middle_of_a_drip_gets_the_rest(served: Served) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            await client.send(request("GET", "/drip"))
            await client.reader.readuntil(b"\r\n\r\n")
            body = await client.reader.readexactly(1)
            client.writer.write_eof()
            return body + await client.to_end()

    assert asyncio.run(main()) == LETTERS


@pytest.mark.slow
def test_a_client_that_leaves_ends_a_drip_that_writes_to_it(served: Served) -> None:
    async def main() -> None:
        async with await served.connect() as client:
            await client.send(request("GET", "/drip-for-long"))
            await client.reader.readuntil(b"\r\n\r\n")
        assert await served.saw("left /drip-for-long")

    served.app.seen.clear()
    asyncio.run(main())


def test_a_client_that_closed_its_sending_side_does_not_wait_for_ever(served: Served) -> None:
    async def main() -> bytes:
        async with await served.connect() as client:
            client.writer.write(request("GET", "/drip-for-ever"))
            client.writer.write_eof()
            return await client.to_end()

    served.app.seen.clear()
    body = asyncio.run(main()).partition(b"\r\n\r\n")[2]
    assert body in (b"", LETTERS[:1])
    assert "left /drip-for-ever" in served.app.seen


@pytest.mark.slow
def test_a_client_that_leaves_ends_the_wait(served: Served) -> None:
    async def main() -> None:
        async with await served.connect() as client:
            await client.send(request("GET", "/drip-for-ever"))
            # sleep: a client that leaves in the middle of an answer
            await asyncio.sleep(0.1)
        assert await served.saw("left /drip-for-ever")

    served.app.seen.clear()
    asyncio.run(main())


@pytest.mark.slow
def test_a_fault_after_the_answer_affects_no_other_request(served: Served) -> None:
    raw = request("GET", "/fault-after-answer") + request("GET", "/slow") + request("GET", "/c", "Connection: close")
    answers = asyncio.run(served.talk(raw))
    assert [answer.body for answer in answers[:2]] == [b"answered", b"slow"]
    assert len(answers) == 3


def test_an_answer_that_has_begun_cannot_be_replaced(served: Served) -> None:
    (answer,) = asyncio.run(served.talk(request("GET", "/fault-within-answer", "Connection: close")))
    assert answer.body == b"refused"


@pytest.mark.slow
@pytest.mark.parametrize("scope", [{}, {"extensions": {}}, {"extensions": None}, {"extensions": {"http.trailers": {}}}])
def test_another_server_offers_no_connection(scope: dict[str, object]) -> None:
    assert connection_of(scope) is None


@pytest.mark.parametrize("headers", [(), ("Connection: close",)])
def test_a_client_has_time_to_read_a_cut_answer_after_its_last_request_too(headers: tuple[str, ...]) -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(request("GET", "/cut-unread", *headers))
            await turns()
            assert client.written.endswith(LETTERS[:-1])
            assert not client.is_closed
            close_sending_side(protocol, client)
            assert client.is_closed
            assert protocol.reader.queue == []

    asyncio.run(main())
