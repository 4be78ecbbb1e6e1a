"""Clients that do not read their answers: what they make the server keep is bounded in time and in bytes."""

import asyncio

from simulator.server.message import HttpLimits
from tests.support.echo_server import request
from tests.support.fed_connections import MovedLoop, fed_server, pass_time, turns

ONE = request("GET", "/x")


def test_a_client_that_reads_no_bytes_in_time_is_closed() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(write_timeout_s=0)) as server:
            protocol, client = server.connect(ONE)
            await turns()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            await turns()
            assert client.is_aborted

    asyncio.run(main())


def test_a_client_that_takes_something_is_kept() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(write_timeout_s=0)) as server:
            protocol, client = server.connect(ONE)
            await turns()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            for _ in range(20):
                client.unread_bytes -= 1
                await turns(1)
            assert not client.is_closed
            protocol.resume_writing()
            await turns()
            assert not client.is_closed

    asyncio.run(main())


def test_a_closed_connection_whose_last_bytes_are_not_taken_is_aborted() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(write_timeout_s=0)) as server:
            protocol, client = server.connect(ONE)
            await turns()
            client.unread_bytes = 100
            protocol.close()
            assert not client.is_aborted
            await turns()
            assert client.is_aborted

    asyncio.run(main())


def test_requests_of_a_client_that_does_not_read_wait_until_it_does() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            protocol.data_received(ONE * 20)
            await turns()
            assert server.app.seen == []
            protocol.resume_writing()
            await turns(25)  # one a turn
            assert client.answers == 20

    asyncio.run(main())


def test_requests_of_a_client_that_never_read_are_executed_when_it_has_left() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            protocol.data_received(ONE)
            await turns()
            protocol.connection_lost(None)
            await turns()
            assert server.app.seen.count("/x") == 1

    asyncio.run(main())


def test_clients_with_too_much_unread_output_are_closed() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(unsent_bytes=300_000)) as server:
            clients = [server.connect() for _ in range(5)]
            for protocol, client in clients:
                client.unread_bytes = 100_000
                protocol.pause_writing()
            assert [client.is_aborted for _, client in clients] == [False, False, False, True, True]
            clients[2][0].resume_writing()
            protocol, client = server.connect()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            assert not client.is_aborted

    asyncio.run(main())


def test_a_client_that_stops_in_the_middle_of_the_last_answer_is_closed() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(request("GET", "/x", "Connection: close"))
            await turns()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            client.unread_bytes = 16_000  # the client stops here
            protocol.resume_writing()
            assert (client.is_closed, client.is_aborted) == (True, False)
            await pass_time(server.limits.write_timeout_s)
            assert client.is_aborted

    with asyncio.Runner(loop_factory=MovedLoop) as runner:
        runner.run(main())


def test_a_stopping_server_hangs_up_on_clients_that_do_not_read() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect()
            client.unread_bytes = 100_000
            protocol.pause_writing()
            protocol.data_received(ONE * 20)
            protocol.shutdown()
            await turns()
            assert not client.is_aborted
            protocol.hang_up()
            assert client.is_aborted

    asyncio.run(main())
