"""Pipelined requests: a connection answers one in a turn, and reads no more while its queue is full."""

import asyncio

import pytest

from simulator.server.request_reader import QUEUED_MAX, SLICE_BYTES
from simulator.server.timing import CONNECTIONS_MAX
from tests.support.echo_server import Echo, request
from tests.support.fed_connections import fed_server, turns

ONE = request("GET", "/x")
MANY = 2000


def test_a_packet_of_many_requests_is_answered_in_shares_and_the_neighbours_are_answered_between_them() -> None:
    async def main() -> None:
        async with fed_server() as server:
            _, greedy = server.connect(ONE * MANY)
            await turns(1)
            assert greedy.answers == 1
            _, neighbour = server.connect(ONE)
            await turns(1)
            assert (neighbour.answers, greedy.answers) == (1, 2)
            await turns(2 * MANY)  # a share is smaller where a slice ends
            assert greedy.answers == MANY

    asyncio.run(main())


@pytest.mark.slow
def test_a_connection_with_a_full_queue_is_not_read_until_it_is_answered() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, greedy = server.connect(ONE * MANY)
            while greedy.answers < MANY:
                assert greedy.is_paused
                assert len(protocol.reader.queue) <= QUEUED_MAX + SLICE_BYTES // len(ONE)
                await turns(1)
            await turns(2)
            assert not greedy.is_paused
            protocol.data_received(ONE)
            await turns(2)
            assert greedy.answers == MANY + 1

    asyncio.run(main())


@pytest.mark.slow
def test_requests_after_a_waiting_request_are_read_up_to_a_full_queue_and_answered_after_it() -> None:
    async def main() -> None:
        async with fed_server(Echo(late_s=0)) as server:
            protocol, greedy = server.connect(request("GET", "/late-reader"), ONE * MANY)
            assert (greedy.answers, greedy.is_paused) == (0, True)
            assert len(protocol.reader.queue) <= QUEUED_MAX + SLICE_BYTES // len(ONE)
            await turns(10 * MANY)
            assert greedy.answers == MANY + 1

    asyncio.run(main())


@pytest.mark.parametrize("body", [1, 4000, 20_000, 60_000])
def test_a_body_after_a_full_queue_is_read_to_its_end(body: int) -> None:
    count = 2 * QUEUED_MAX

    async def main() -> None:
        async with fed_server(Echo()) as server:
            _, client = server.connect(ONE * count + request("POST", "/last", body=b"b" * body) + ONE)
            await turns(20 * count)
            assert (client.answers, client.is_paused) == (count + 2, False)

    asyncio.run(main())


@pytest.mark.parametrize(
    "packet",
    [
        ONE * (QUEUED_MAX - 1) + request("POST", "/unread", body=b"b" * 20_000),  # answered before its body ends
        (ONE * (SLICE_BYTES // len(ONE))).ljust(SLICE_BYTES, b"\n") + b"\r\n",
    ],
)
def test_a_connection_is_read_again_after_a_packet_whose_end_has_no_request(packet: bytes) -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(packet)
            await turns(packet.count(b" HTTP/1.1") + 20)
            before = client.answers
            assert not client.is_paused
            protocol.data_received(ONE)
            await turns(2)
            assert client.answers == before + 1

    asyncio.run(main())


def test_a_turn_answers_a_bounded_number_of_connections_and_each_gets_its_part() -> None:
    count = 3 * CONNECTIONS_MAX

    async def main() -> None:
        async with fed_server() as server:
            clients = [server.connect(ONE * 2)[1] for _ in range(count)]
            for turn in range(1, 4):
                await turns(1)
                assert [client.answers for client in clients].count(1) == turn * CONNECTIONS_MAX
            await turns(4)
            assert {client.answers for client in clients} == {2}

    asyncio.run(main())


def test_packets_of_a_turn_give_a_connection_no_second_share() -> None:
    async def main() -> None:
        async with fed_server() as server:
            _, greedy = server.connect(*[ONE] * 3)
            await turns(1)
            assert greedy.answers == 1

    asyncio.run(main())


def test_a_large_body_in_a_single_packet_is_answered_at_once() -> None:
    async def main() -> None:
        async with fed_server() as server:
            _, client = server.connect(request("POST", "/whole", body=b"b" * 100_000))
            await turns(1)
            assert b'"at_once": true' in client.written
            assert b"b" * 100_000 in client.written

    asyncio.run(main())


def test_a_head_that_begins_in_the_middle_of_a_large_packet_has_its_deadline() -> None:
    async def main() -> None:
        async with fed_server() as server:
            head = b"GET /long HTTP/1.1\r\nHost: a\r\nx-long: " + b"l" * 3 * SLICE_BYTES
            protocol, client = server.connect(ONE + head)
            assert protocol.reader.state.name == "LATE_HEAD"
            protocol.data_received(b"\r\n\r\n")
            await turns(2)
            assert client.answers == 2

    asyncio.run(main())


def test_a_stopping_server_answers_a_part_of_what_is_pipelined_and_drops_the_rest() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, greedy = server.connect(ONE * MANY)
            protocol.shutdown()
            await turns(10)
            assert greedy.is_closed
            assert greedy.answers <= 2 + 1
            assert greedy.written.count(b"connection: close") == 1

    asyncio.run(main())


def test_a_stopping_server_closes_after_the_last_answer_of_a_short_queue() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(ONE * 2)
            protocol.shutdown()
            await turns(10)
            assert (client.answers, client.is_closed) == (2, True)
            assert client.written.count(b"connection: close") == 1

    asyncio.run(main())


def test_a_stopping_server_drops_the_refusal_that_follows_what_it_drops() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(ONE * 3 + b"malformed\r\n\r\n")
            protocol.shutdown()
            await turns(10)
            assert (client.answers, client.is_closed, b" 400 " in client.written) == (2, True, False)

    asyncio.run(main())


def test_requests_that_came_before_their_client_left_are_executed_in_shares() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, _ = server.connect(ONE * 3)
            protocol.connection_lost(None)
            assert server.app.seen.count("/x") == 1
            await turns(5)
            assert server.app.seen.count("/x") == 3
            assert server.open == 0

    asyncio.run(main())
