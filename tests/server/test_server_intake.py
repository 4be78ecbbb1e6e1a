"""The memory of all connections together, the time for a body, and the release of memory."""

import asyncio
import gc
import resource
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any
from weakref import ref

import pytest

from simulator.server.message import HttpLimits, RequestMemoryBudget
from simulator.server.protocol import HttpProtocol
from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import Client, Echo, Served, request, serving
from tests.support.fed_connections import MovedLoop, fed_server, pass_time, turns

SMALL = HttpLimits().small_body_bytes
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


@pytest.mark.slow
def test_a_body_that_does_not_fit_is_refused_at_once_and_the_body_before_it_continues(bounded: Served) -> None:
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
    body = b"b" * (SMALL - 200)

    async def main() -> None:
        async with await bounded.connect() as first, await bounded.connect() as small:
            await holding(bounded, first)
            raw = request("POST", "/counted", body=body)
            await small.send(raw[:-10])
            assert await bounded.saw(f"came {len(body) - 10}")
            await small.send(raw[-10:])
            assert (await small.answer()).body == b"counted"

    asyncio.run(main())


def test_a_declared_length_reserves_no_memory(bounded: Served) -> None:
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
    "an answer to a whole body after another request": request("GET", "/slow") + CLOSING,
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


CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8000\r\n" + b"c" * 0x8000
ENDS: list[Callable[[HttpProtocol], None]] = [
    lambda one: one.connection_lost(None),
    HttpProtocol.close,
    lambda one: one.data_received(b"no chunk"),
]


@pytest.mark.parametrize("end", ENDS, ids=["lost", "closed", "refused"])
def test_a_body_after_a_request_in_progress_is_released_when_it_is_refused_or_dropped(
    end: Callable[[HttpProtocol], None],
) -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, _ = server.connect(request("GET", "/sleep"))
            await turns()
            before = server.budget.used
            assert 0 < before < 100
            protocol.data_received(CHUNKED)
            assert server.budget.used - before >= 0x8000
            end(protocol)
            assert server.budget.used <= before

    asyncio.run(main())


def test_a_stored_body_is_charged_until_it_is_answered_also_when_it_came_in_a_single_packet() -> None:
    async def main() -> None:
        async with fed_server(Echo(late_s=0)) as server:
            _, client = server.connect(request("POST", "/late-reader", body=b"b" * 60_000))
            assert server.budget.used >= 60_000
            await asyncio.sleep(0)
            assert server.budget.used >= 60_000, "it waits"
            await turns(20)
            assert (client.answers, server.budget.used) == (1, 0)

    asyncio.run(main())


def test_the_body_of_a_task_is_charged_until_the_task_is_over_though_its_client_has_left() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, _ = server.connect(request("POST", "/sleep", body=b"b" * 60_000))
            await turns()
            protocol.connection_lost(None)
            assert server.budget.used >= 60_000
            for task in server.state.tasks:
                task.cancel()
            await turns()
            assert server.budget.used == 0

    asyncio.run(main())


WHOLE = request("POST", "/sleep", body=b"b" * 60_000)
UNFINISHED = b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"x-%d: %b\r\n" % (n, b"h" * 600) for n in range(90))


@pytest.mark.parametrize("packet", [WHOLE, WHOLE[:-1], UNFINISHED, UNFINISHED + b"x-last: " + b"h" * 9000])
def test_requests_at_rest_share_a_budget_and_further_requests_are_refused(packet: bytes) -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(bodies_bytes=1_000_000)) as server:
            clients = [server.connect(packet) for _ in range(40)]
            await turns()
            refused = [client for _, client in clients if b'"too_many_bodies"' in client.written]
            assert 0 < 1_000_000 - server.budget.used < 2 * len(packet)
            assert len(refused) == 40 - 1_000_000 // len(packet)
            _, small = server.connect(request("GET", "/x"))
            await turns()
            assert small.answers == 1
            for protocol, _ in clients:
                protocol.connection_lost(None)
            for task in server.state.tasks:
                task.cancel()
            await turns()
            assert server.budget.used == 0

    asyncio.run(main())


class Packet(bytearray):
    """Bytes that allow weak references."""


def test_a_refused_connection_does_not_keep_the_packet() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(bodies_bytes=1000)) as server:
            packet = Packet(UNFINISHED + b"x-last: 1")
            _, client = server.connect(packet)  # type: ignore[arg-type]  # bytes have no weak references
            kept = ref(packet)
            del packet
            await turns()
            assert b" 503 " in client.written
            gc.collect()
            assert kept() is None

    asyncio.run(main())


@pytest.mark.parametrize("malformed", [b"", b"malformed\r\n\r\n"])
def test_queued_requests_that_do_not_fit_are_refused_after_requests_that_do(malformed: bytes) -> None:
    async def main() -> None:
        async with fed_server(Echo(late_s=0), HttpLimits(bodies_bytes=40_000)) as server:
            queue = request("POST", "/x", body=b"b" * 15_000) * 4 + malformed
            _, client = server.connect(request("GET", "/late-reader"))
            await turns(1)
            server.state.connections.copy().pop().data_received(queue)
            await turns(40)
            assert [client.written.count(status) for status in (b" 200 ", b" 503 ")] == [3, 1]
            assert (client.written.endswith(b'retry."}'), server.budget.used) == (True, 0)

    asyncio.run(main())


def test_a_long_head_that_does_not_fit_with_its_last_packet_is_not_executed() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(bodies_bytes=30_000)) as server:
            server.connect(b"GET / HTTP/1.1\r\nHost: a\r\nx-fill: " + b"f" * 5_000)
            protocol, client = server.connect(b"GET /long HTTP/1.1\r\nHost: a\r\nx-fill: " + b"f" * 20_000)
            protocol.data_received(b"f" * 10_000 + b"\r\n\r\n")
            await turns()
            assert (b" 503 " in client.written, server.app.seen) == (True, [])

    asyncio.run(main())


def test_a_refusal_to_head_has_no_body_when_the_head_does_not_fit() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(bodies_bytes=1_000)) as server:
            _, client = server.connect(b"HEAD / HTTP/1.1\r\nHost: a\r\nx-fill: " + b"f" * 20_000 + b"\r\n\r\n")
            await turns()
            assert client.written.startswith(b"HTTP/1.1 503 ")
            assert client.written.endswith(b"\r\n\r\n")

    asyncio.run(main())


def test_a_long_head_whose_body_comes_in_the_same_turn_is_released() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nx-fill: " + b"f" * 20_000 + b"\r\nContent-Length: 3\r\n\r\n"

    async def main() -> None:
        async with fed_server() as server:
            protocol, _ = server.connect(head)
            assert server.budget.used > 20_000
            protocol.data_received(b"abc")
            await turns()
            assert server.budget.used == 0

    asyncio.run(main())


# Connections


@pytest.mark.slow
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


@pytest.mark.slow
def test_connections_leave_half_of_the_files_that_the_process_may_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4, 4))
    with serving() as served:

        async def main() -> None:
            async with await served.connect(), await served.connect(), await served.connect() as third:
                refused = await third.answer()
                assert (refused.status, refused.json["error"]) == (503, "too_many_connections")
                assert "More than 2 connections" in refused.json["message"]

        asyncio.run(main())


# Deadlines


CHUNKED_HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
DRIPS = [(HEAD % (b"/", 1000), b"d"), (CHUNKED_HEAD, b"1\r\nd\r\n")]


def in_moved_time(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=MovedLoop) as runner:
        runner.run(main())


async def drip(protocol: HttpProtocol, piece: bytes, pauses: list[float]) -> None:
    """Send a piece after each of these pauses, in seconds."""
    for pause in pauses:
        await pass_time(pause)
        protocol.data_received(piece)
        await turns()


@pytest.mark.parametrize("app", [Echo, EchoAtOnce])
@pytest.mark.parametrize(("head", "piece"), DRIPS, ids=["length", "chunks"])
def test_a_byte_now_and_then_does_not_prolong_a_body(app: type[Echo], head: bytes, piece: bytes) -> None:
    async def main() -> None:
        async with fed_server(app()) as server:
            protocol, client = server.connect(head)
            await drip(protocol, piece, [10.0] * 5 + [9.5])
            assert (client.written, client.is_closed) == (b"", False)
            await pass_time(1)
            assert client.written.startswith(b"HTTP/1.1 408 ")
            assert b'"error": "body_too_slow"' in client.written
            assert b"within 60 seconds" in client.written
            assert client.answers == 1

    in_moved_time(main)


@pytest.mark.slow
def test_a_slow_body_on_a_socket_is_refused_in_its_middle(hasty: Served) -> None:
    talk: list[bytes | float] = [HEAD % (b"/", 1000)]
    for _ in range(24):
        talk += [b"d", 0.05]
    (answer,) = asyncio.run(hasty.talk(*talk))
    assert (answer.status, answer.json["error"]) == (408, "body_too_slow")
    assert "within 1 seconds" in answer.json["message"]


@pytest.mark.parametrize("app", [Echo, EchoAtOnce])
def test_a_body_whose_bytes_stop_coming_is_refused_sooner(app: type[Echo]) -> None:
    async def main() -> None:
        async with fed_server(app()) as server:
            protocol, client = server.connect(HEAD % (b"/", 1000))
            await drip(protocol, b"d", [19.0, 19.0])
            await pass_time(19)
            assert client.written == b""
            await pass_time(1.5)
            assert b'"error": "body_timeout"' in client.written
            assert client.answers == 1

    in_moved_time(main)


@pytest.mark.parametrize("app", [Echo, EchoAtOnce])
def test_a_body_that_was_answered_already_ends_at_its_deadline_without_a_second_answer(app: type[Echo]) -> None:
    async def main() -> None:
        async with fed_server(app()) as server:
            protocol, client = server.connect(HEAD % (b"/unread", 1000))
            await drip(protocol, b"d", [10.0] * 9)
            assert client.answers == 1
            assert client.written.endswith(b"early")
            assert client.is_closed

    in_moved_time(main)


@pytest.mark.slow
def test_time_without_reading_does_not_count(hasty: Served) -> None:
    """The application asks for the body after more time than a body has."""
    raw = request("POST", "/late-reader", "Connection: close", body=b"l" * LARGE)
    (answer,) = asyncio.run(hasty.talk(raw[:-10], 1.4, raw[-10:]))
    assert (answer.status, answer.body) == (200, b"read %d" % LARGE)


@pytest.mark.parametrize("app", [Echo, EchoAtOnce])
def test_each_body_of_a_connection_has_its_own_time(app: type[Echo]) -> None:
    async def main() -> None:
        async with fed_server(app()) as server:
            protocol, client = server.connect()
            for number in range(1, 5):
                protocol.data_received(HEAD % (b"/", 4))
                await drip(protocol, b"b", [15.0] * 3 + [10.0])
                assert client.answers == number
            assert client.written.count(b"HTTP/1.1 200 ") == 4
            assert not client.is_closed

    in_moved_time(main)


# Memory


def test_a_small_connection_always_fits_and_is_counted() -> None:
    one = RequestMemoryBudget(HttpLimits(bodies_bytes=50_000))
    assert one.charge(0, 45_000) is None
    refusal = one.charge(0, SMALL + 1)
    assert refusal is not None
    assert refusal.status == 503
    assert one.charge(0, SMALL) is None
    assert one.used == 45_000 + SMALL
    assert one.charge(SMALL, SMALL + 1) is not None
    assert one.used == 45_000 + SMALL, "what was refused is not counted"
