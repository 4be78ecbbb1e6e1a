"""What all connections together may hold, how long a body may take, and when memory is returned."""

import asyncio
import ctypes
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from simulator.server import intake, memory
from simulator.server.intake import SMALL_BODY_BYTES, TRIM_BYTES, Intake
from simulator.server.limits import HttpLimits, HttpRefusal
from simulator.server.message import HttpRequest
from simulator.server.protocol import HttpProtocol
from simulator.server.turn import Turn
from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import Client, Echo, Served, request, serving

BUDGET = 1_000_000
LARGE = 600_000  # one fits, two do not
HEAD = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
GOOD = request("POST", "/", body=b"g" * LARGE)


@pytest.fixture(scope="module", params=[Echo, EchoAtOnce])
def bounded(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server with a small budget."""
    with serving(limits=HttpLimits(bodies_bytes=BUDGET), app=request.param()) as server:
        yield server


@pytest.fixture(scope="module", params=[Echo, EchoAtOnce])
def hasty(request: pytest.FixtureRequest) -> Iterator[Served]:
    """One that waits for little, too."""
    limits = HttpLimits(bodies_bytes=BUDGET, body_timeout_s=0.5, body_total_s=1.0)
    with serving(limits=limits, app=request.param(late_s=1.2)) as server:
        yield server


def stalled(path: bytes = b"/") -> bytes:
    """A request whose last byte does not come."""
    return HEAD % (path, LARGE + 1) + b"s" * LARGE


async def holding(served: Served, client: Client) -> None:
    """Let a client hold most of the budget."""
    served.app.seen.clear()
    await client.send(stalled(b"/counted"))
    assert await served.saw(f"came {LARGE}")


# The budget


def test_a_body_that_does_not_fit_is_refused_at_once_and_the_one_before_it_goes_on(bounded: Served) -> None:
    async def main() -> None:
        async with await bounded.connect() as first, await bounded.connect() as second:
            await holding(bounded, first)
            await second.send(GOOD[:-1])  # it is refused although it is still being sent
            refused = await second.answer()
            assert (refused.status, refused.json["error"]) == (503, "too_many_bodies")
            assert (refused.headers["retry-after"], refused.headers["connection"]) == ("5", "close")
            assert refused.headers["x-sim-request-id"].startswith("server-")
            assert await second.at_end()
            await first.send(b"s")
            assert (await first.answer()).status == 200

    asyncio.run(main())


def test_small_bodies_are_read_while_the_budget_is_used_up(bounded: Served) -> None:
    body = b"b" * (SMALL_BODY_BYTES - 200)

    async def main() -> None:
        async with await bounded.connect() as first, await bounded.connect() as small:
            await holding(bounded, first)
            raw = request("POST", "/counted", body=body)
            await small.send(raw[:-10])
            assert await bounded.saw(f"came {len(body) - 10}")
            await small.send(raw[-10:])
            assert (await small.answer()).body == b"counted"

    asyncio.run(main())


def test_a_declared_length_reserves_nothing(bounded: Served) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            for _ in range(5):
                client = await stack.enter_async_context(await bounded.connect())
                await client.send(HEAD % (b"/", 10_000_000))
            assert (await bounded.talk(request("POST", "/", "Connection: close", body=b"g" * LARGE)))[0].status == 200

    asyncio.run(main())


CLOSING = request("POST", "/", "Connection: close", body=b"c" * LARGE)
ENDINGS: dict[str, bytes] = {
    "an answer": CLOSING,
    "an answer to a whole body behind another request": request("GET", "/slow") + CLOSING,
    "an answer before the body": stalled(b"/unread"),
    "an abort": stalled(b"/abort"),
    "half an answer": stalled(b"/cut-unread"),
    "a time-out": stalled(),
    "a malformed body": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % LARGE
    + b"c" * LARGE
    + b"\r\nno",
}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_releases_what_a_body_held(hasty: Served, ending: str) -> None:
    async def main() -> None:
        for _ in range(3):
            async with await hasty.connect() as client:
                await client.send(ENDINGS[ending])
                with suppress(ConnectionError):
                    await client.to_end()
        answers = await hasty.talk(CLOSING)
        assert [answer.status for answer in answers] == [200]

    asyncio.run(main())


def test_a_client_that_leaves_releases_what_its_body_held(bounded: Served) -> None:
    async def main() -> None:
        for _ in range(3):
            async with await bounded.connect() as client:
                await holding(bounded, client)
        for _ in range(100):  # until the server has noticed
            (answer,) = await bounded.talk(CLOSING)
            if answer.status == 200:
                return
        raise AssertionError("the budget is still used up")

    asyncio.run(main())


class Deaf(asyncio.Transport):
    """A client's side that reads nothing."""

    def is_closing(self) -> bool:
        return False

    def is_reading(self) -> bool:
        return True

    def write(self, data: Any) -> None: ...
    def close(self) -> None: ...
    def pause_reading(self) -> None: ...


@asynccontextmanager
async def fed(*packets: bytes) -> AsyncIterator[tuple[HttpProtocol, Intake]]:
    """A connection that got these packets, each in a turn of its own, and what its server holds."""
    app, one = EchoAtOnce(), Intake(HttpLimits(), lambda: None)
    config = uvicorn.Config(app, interface="asgi3", log_config=None)
    state = ServerState()
    protocol = HttpProtocol(app, one, Turn(), config=config, server_state=state)
    protocol.connection_made(Deaf())
    for packet in packets:
        protocol.data_received(packet)
        await turns()
    yield protocol, one
    for task in state.tasks:
        task.cancel()
    await asyncio.gather(*state.tasks, return_exceptions=True)


CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8000\r\n" + b"c" * 0x8000
BEHIND = (request("GET", "/sleep"), CHUNKED)


def test_a_body_behind_a_request_that_is_being_answered_is_released_when_it_is_refused_or_dropped() -> None:
    async def main() -> None:
        async with fed(*BEHIND) as (protocol, one):
            assert one.used == len(CHUNKED)
            protocol.data_received(b"no chunk")
            assert one.used == 0, "it was refused"
        ends: list[Callable[[HttpProtocol], None]] = [lambda one: one.connection_lost(None), HttpProtocol.close]
        for end in ends:
            async with fed(*BEHIND) as (protocol, one):
                end(protocol)
                assert one.used == 0

    asyncio.run(main())


def test_a_long_head_whose_body_comes_in_the_same_turn_is_released() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nx-fill: " + b"f" * 20_000 + b"\r\nContent-Length: 3\r\n\r\n"

    async def main() -> None:
        async with fed() as (protocol, one):
            protocol.data_received(head)
            assert one.used == len(head)
            protocol.data_received(b"abc")
            await turns()
            assert one.used == 0

    asyncio.run(main())


# Connections


def test_a_connection_too_many_is_refused_and_the_others_are_answered() -> None:
    with serving(limits=HttpLimits(connections=2)) as served:

        async def main() -> None:
            async with await served.connect() as first:
                async with await served.connect() as second, await served.connect() as third:
                    refused = await third.answer()
                    assert (refused.status, refused.json["error"]) == (503, "too_many_connections")
                    assert refused.headers["retry-after"] == "5"
                    assert await third.at_end()
                    for client in (first, second):
                        await client.send(request("GET", "/"))
                        assert (await client.answer()).status == 200
                for _ in range(100):  # until the server has noticed that they left
                    async with await served.connect() as fourth:
                        await fourth.send(request("GET", "/"))
                        if (await fourth.answer()).status == 200:
                            return
                raise AssertionError("a free place was not given away")

        asyncio.run(main())


# Deadlines


@pytest.mark.slow
def test_a_byte_now_and_then_does_not_prolong_a_body(hasty: Served) -> None:
    drip: list[bytes | float] = [HEAD % (b"/", 1000)]
    for _ in range(30):
        drip += [b"d", 0.05]
    chunks: list[bytes | float] = [b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"]
    for _ in range(30):
        chunks += [b"1\r\nd\r\n", 0.05]
    for talk in (drip, chunks):
        (answer,) = asyncio.run(hasty.talk(*talk))
        assert (answer.status, answer.json["error"]) == (408, "body_too_slow")
        assert "within 1 seconds" in answer.json["message"]


@pytest.mark.slow
def test_a_body_that_was_answered_already_ends_at_its_deadline_without_a_second_answer(hasty: Served) -> None:
    drip: list[bytes | float] = [HEAD % (b"/unread", 1000)]
    for _ in range(30):
        drip += [b"d", 0.05]
    (answer,) = asyncio.run(hasty.talk(*drip))
    assert (answer.status, answer.body) == (200, b"early")


@pytest.mark.slow
def test_the_time_in_which_we_do_not_read_does_not_count(hasty: Served) -> None:
    """The application asks for the body after more time than a body has."""
    raw = request("POST", "/late-reader", "Connection: close", body=b"l" * LARGE)
    (answer,) = asyncio.run(hasty.talk(raw[:-10], 1.4, raw[-10:]))
    assert (answer.status, answer.body) == (200, b"read %d" % LARGE)


@pytest.mark.slow
def test_each_body_of_a_connection_has_its_own_time(hasty: Served) -> None:
    talk: list[bytes | float] = []
    for _ in range(4):
        talk += [HEAD % (b"/", 4), b"a", 0.15, b"b", 0.15, b"cd", 0.1]
    answers = asyncio.run(hasty.talk(*talk, request("GET", "/", "Connection: close")))
    assert [answer.status for answer in answers] == [200] * 5


# Memory


def a_request() -> HttpRequest:
    return HttpRequest("POST", b"/", [], {})


def flooded(one: Intake, sizes: list[int]) -> None:
    for size in sizes:
        body = a_request()
        one.take(body, size)
        one.release(body)


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Memory is returned in the next turn of the loop; each time is noted here."""
    monkeypatch.setattr(intake, "TRIM_DELAY_S", 0)
    return []


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_memory_is_returned_once_when_the_last_of_many_bodies_is_answered(trims: list[str]) -> None:
    async def main() -> None:
        one = Intake(HttpLimits(), lambda: trims.append("trim"))
        last = a_request()
        one.take(last, 100_000)
        flooded(one, [9_900_000] * 5)
        await turns()
        assert trims == [], "a body is still being read"
        one.release(last)
        flooded(one, [9_900_000] * 5)
        await turns()
        assert (trims, one.used) == (["trim"], 0)
        flooded(one, [9_900_000] * 5)
        await turns()
        assert trims == ["trim"] * 2

    asyncio.run(main())


@pytest.mark.parametrize("sizes", [[SMALL_BODY_BYTES] * 5000, [TRIM_BYTES // 2] * 2, []])
def test_memory_is_not_returned_after_little(trims: list[str], sizes: list[int]) -> None:
    async def main() -> None:
        flooded(Intake(HttpLimits(), lambda: trims.append("trim")), sizes)
        await turns()
        assert trims == []

    asyncio.run(main())


def test_memory_is_not_returned_while_the_next_bodies_come(trims: list[str]) -> None:
    async def main() -> None:
        one = Intake(HttpLimits(), lambda: trims.append("trim"))
        flooded(one, [9_900_000] * 5)
        following = a_request()
        one.take(following, 100_000)
        await turns()
        assert trims == []
        one.release(following)
        await turns()
        assert trims == ["trim"]

    asyncio.run(main())


def test_a_request_is_charged_for_what_came_and_releases_it_once() -> None:
    one, body, other = Intake(HttpLimits(bodies_bytes=50_000), lambda: None), a_request(), a_request()
    for arrived, used in ((SMALL_BODY_BYTES, 0), (1, SMALL_BODY_BYTES + 1), (10_000, SMALL_BODY_BYTES + 10_001)):
        one.take(body, arrived)
        assert one.used == used
    with pytest.raises(HttpRefusal):
        one.take(other, 40_000)
    one.release(other)
    assert one.used == SMALL_BODY_BYTES + 10_001, "what was refused is not released"
    for _ in range(2):
        one.release(body)
        assert one.used == 0


def test_memory_is_returned_by_the_c_library_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int] = []

    class Library:
        def __init__(self, name: None) -> None:
            self.malloc_trim = called.append

    monkeypatch.setattr(ctypes, "CDLL", Library)
    memory.trim_memory()
    assert called == [0]


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def missing(name: None) -> Any:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    memory.trim_memory()
