"""The time that a request may take to arrive, and an idle connection to stay."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from simulator.server.message import HttpLimits
from tests.support.client import Response
from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import Echo, Served, request, serving

pytestmark = pytest.mark.slow  # real waits

SMALL = HttpLimits(head_timeout_s=0.25, body_timeout_s=0.25)


@pytest.fixture(scope="module", params=[Echo, EchoAtOnce])
def hasty(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server that waits for little, with an app that takes its time and one that answers at once."""
    with serving(limits=SMALL, keep_alive_s=0.6, app=request.param(late_s=0.6)) as server:
        yield server


def at_once(served: Served, *talks: Sequence[bytes | float]) -> list[list[Response]]:
    """Hold several conversations at the same time."""

    async def main() -> list[list[Response]]:
        return await asyncio.gather(*(served.talk(*talk) for talk in talks))

    return asyncio.run(main())


def test_a_head_that_never_comes_times_out_from_the_opening(hasty: Served) -> None:
    (answer,) = asyncio.run(hasty.talk())
    assert (answer.status, answer.json["error"]) == (408, "head_timeout")
    assert "0.25 seconds" in answer.json["message"]


def test_a_head_that_stops_times_out(hasty: Served) -> None:
    starts = [b"G", b"GET /", b"GET / HTTP/1.1\r\nHost: a\r\nx-"]
    for (answer,) in at_once(hasty, *([start] for start in starts)):
        assert (answer.status, answer.json["error"]) == (408, "head_timeout")


def test_dripping_bytes_do_not_prolong_a_head(hasty: Served) -> None:
    drip: list[bytes | float] = [b"GET / HTTP/1.1\r\n"]
    for number in range(9):
        drip += [f"x-{number}: 1\r\n".encode(), 0.05]
    (answer,) = asyncio.run(hasty.talk(*drip, b"\r\n"))
    assert (answer.status, answer.json["error"]) == (408, "head_timeout")


def test_a_second_head_has_its_own_time(hasty: Served) -> None:
    first = request("GET", "/first")
    starts = [b"G", b"GET / HTTP/1.1\r\nHost: a\r\nx-"]
    joined = [[first + start] for start in starts]
    apart: list[list[bytes | float]] = [[first, 0.1, start] for start in starts]
    for answers in at_once(hasty, *joined, *apart):
        assert [answer.status for answer in answers] == [200, 408]


def test_a_slow_head_within_its_time_is_answered(hasty: Served) -> None:
    raw = request("GET", "/", "Connection: close")
    (answer,) = asyncio.run(hasty.talk(raw[:10], 0.05, raw[10:30], 0.05, raw[30:]))
    assert answer.status == 200


def test_a_body_that_stops_times_out(hasty: Served) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\n"
    sized = head + b"Content-Length: 10\r\n\r\nabc"
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    for (answer,) in at_once(hasty, [sized], [chunked], [sized[:-3]]):
        assert (answer.status, answer.json["error"]) == (408, "body_timeout")


def test_a_slow_body_that_keeps_moving_is_answered(hasty: Served) -> None:
    raw = request("POST", "/", "Connection: close", body=b"abcdefgh")
    pieces: list[bytes | float] = [raw[:-8]]
    for index in range(8):
        pieces += [0.06, raw[len(raw) - 8 + index : len(raw) - 7 + index]]
    (answer,) = asyncio.run(hasty.talk(*pieces))
    assert (answer.status, answer.json["body"]) == (200, "abcdefgh")


def test_a_stalled_body_that_was_answered_already_is_closed_without_a_second_answer(hasty: Served) -> None:
    (answer,) = asyncio.run(hasty.talk(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"))
    assert (answer.status, answer.body) == (200, b"early")


def test_a_stalled_body_waits_for_the_answer_before_it(hasty: Served) -> None:
    stalled = b"POST /stalled HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
    answers = asyncio.run(hasty.talk(request("GET", "/slow") + stalled))
    assert [answer.status for answer in answers] == [200, 408]


@pytest.mark.slow
def test_a_client_that_waits_for_100_continue_is_not_held_to_the_time_of_its_body(hasty: Served) -> None:
    async def main() -> tuple[int, int, bytes]:
        async with await hasty.connect() as client:
            await client.send(
                b"POST /late-reader HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
            )
            interim = await client.answer()
            # sleep: clients that pause, against the server's own times
            await asyncio.sleep(0.1)
            await client.send(b"abc")
            final = await client.answer()
            return interim.status, final.status, final.body

    assert asyncio.run(main()) == (100, 200, b"read 3")


def test_a_client_whose_body_we_do_not_read_is_not_held_to_its_time(hasty: Served) -> None:
    body = b"b" * 6_000_000
    raw = request("POST", "/late-reader", "Connection: close", body=body)

    async def main() -> bytes:
        async with await hasty.connect() as client:
            client.writer.write(raw)
            return (await client.answer()).body

    assert asyncio.run(main()) == b"read 6000000"


@pytest.mark.slow
def test_a_silent_connection_is_closed_after_the_keep_alive_time(hasty: Served) -> None:
    async def main() -> tuple[bool, bytes]:
        async with await hasty.connect() as client:
            await client.send(request("GET", "/a"))
            await client.answer()
            await asyncio.sleep(0.35)
            await client.send(request("GET", "/b"))
            await client.answer()
            still_open = await client.is_open(0.35)
            return still_open, await client.to_end()

    assert asyncio.run(main()) == (True, b"")


def test_a_long_answer_is_not_cut_short_by_any_time(hasty: Served) -> None:
    async def main() -> list[int]:
        async with await hasty.connect() as client:
            await client.send(request("GET", "/drip"))
            drip = await client.answer()
            await client.send(request("GET", "/late-reader", "Connection: close"))
            return [drip.status, *(answer.status for answer in await client.answers_to_end())]

    assert asyncio.run(main()) == [201, 200]
