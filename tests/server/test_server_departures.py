"""Clients that have left, or perhaps have: what waits for them ends."""

import asyncio

import pytest

from simulator.server.message import HttpLimits
from simulator.server.responder import Responder as Connection
from tests.support.echo_server import LETTERS, Echo, Receive, Send, request, send_text
from tests.support.fed_connections import fed_server, turns

SLEEP = request("GET", "/sleep")


class Waiter(Echo):
    """Has a path that only waits, and says how it ends."""

    async def on_wait(self, connection: Connection, receive: Receive, send: Send) -> None:
        connection.cancel_when_left()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await turns(2)
            self.seen.append("cancelled")
            raise

    async def on_finish(self, connection: Connection, receive: Receive, send: Send) -> None:
        await turns(2)
        self.seen.append("finished")
        await send_text(send, b"late")

    async def on_cut_and_work(self, connection: Connection, receive: Receive, send: Send) -> None:
        await connection.cut(200, b"", LETTERS, 26)
        await asyncio.Event().wait()


def test_connections_beyond_the_limit_are_refused() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(connections=1)) as server:
            _, waiting = server.connect(SLEEP)
            await turns()
            _, client = server.connect()
            await turns()
            assert (waiting.is_closed, b"too_many_connections" in client.written) == (False, True)

    asyncio.run(main())


def test_a_half_closed_client_is_given_up_after_its_time() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(half_closed_s=0)) as server:
            protocol, client = server.connect(SLEEP)
            await turns()
            assert protocol.eof_received()
            await turns()
            assert client.is_aborted

    asyncio.run(main())


def test_a_half_closed_client_that_is_being_answered_is_kept() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(half_closed_s=0)) as server:
            protocol, client = server.connect(request("GET", "/drip-for-long"))
            await turns()
            assert protocol.eof_received()
            await turns()
            assert not client.is_closed

    asyncio.run(main())


def test_a_half_closed_client_that_reads_slowly_is_kept() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(half_closed_s=0)) as server:
            protocol, client = server.connect(request("GET", "/x") * 2)
            protocol.pause_writing()
            assert protocol.eof_received()
            await turns()
            assert not client.is_closed

    asyncio.run(main())


def test_a_client_that_has_read_its_cut_answer_is_closed_although_the_task_is_not_over() -> None:
    async def main() -> None:
        async with fed_server(Waiter()) as server:
            protocol, client = server.connect(request("GET", "/cut-and-work"))
            await turns()
            assert (client.written[-26:], client.is_closed) == (LETTERS[:26], False)
            protocol.eof_received()
            assert client.is_closed

    asyncio.run(main())


def test_a_departure_is_noticed_while_the_last_request_of_a_client_waits() -> None:
    async def main() -> None:
        async with fed_server() as server:
            protocol, client = server.connect(request("GET", "/until-disconnect"))
            await turns()
            protocol.data_received(request("GET", "/x", "Connection: close"))
            assert not client.is_paused
            assert protocol.eof_received()
            await turns()
            assert "left /until-disconnect" in server.app.seen

    asyncio.run(main())


@pytest.mark.parametrize("is_early", [True, False])
def test_a_task_that_only_waits_is_cancelled_when_its_client_has_left(is_early: bool) -> None:
    async def main() -> None:
        async with fed_server(Waiter()) as server:
            protocol, _ = server.connect(request("GET", "/wait"))
            await turns(0 if is_early else 5)
            protocol.connection_lost(None)
            assert server.open == 0
            await turns()
            assert server.app.seen == ["/wait", "cancelled"]
            assert not server.state.tasks

    asyncio.run(main())


def test_a_task_is_cancelled_once_by_a_connection_that_hangs_up_and_is_lost() -> None:
    async def main() -> None:
        async with fed_server(Waiter()) as server:
            protocol, _ = server.connect(request("GET", "/wait"))
            await turns()
            protocol.hang_up()
            await turns(2)
            protocol.connection_lost(None)
            await turns()
            assert server.app.seen == ["/wait", "cancelled"]

    asyncio.run(main())


def test_any_other_task_is_done_to_its_end() -> None:
    async def main() -> None:
        async with fed_server(Waiter()) as server:
            protocol, client = server.connect(request("GET", "/finish"))
            await turns(2)
            protocol.connection_lost(None)
            await turns()
            assert "finished" in server.app.seen
            assert client.written == b""

    asyncio.run(main())
