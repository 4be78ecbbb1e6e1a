"""Which connections are kept without an attempt, and which are closed so that there are not too many."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from simulator.http_client import client as client_module
from simulator.http_client.answers import AnswerReader
from simulator.http_client.client import Client
from simulator.http_client.connection import Connection
from simulator.http_client.dialer import Dialer, Origin
from tests.support.broken_receivers import OK, RUNNERS, Exchange, Receiver, Run, post, says, sender, until

HERE, THERE = Origin(False, "here.test", 80), Origin(False, "there.test", 80)


class Kept:
    """A connection as its client sees it. Within TLS a receiver may be slow to say farewell: it is no longer open then,
    and not closed yet."""

    def __init__(self, its: Client, origin: Origin, *, is_open: bool = True) -> None:
        self.idle_since = 0.0
        self.is_open = self.is_quiet = is_open
        self.is_closed = False
        self._its = its
        its._opened[cast(Connection, self)] = origin

    def abort(self) -> None:
        self.is_open, self.is_closed = False, True
        self._its._discard(cast(Connection, self))

    close = abort


def with_client(test: Callable[[Client, Callable[..., Any]], None]) -> None:
    """Let `test` have a client that keeps three connections, and what makes connections in it."""

    async def main() -> None:
        made = Client(cast(Dialer, None))
        test(made, lambda origin, **given: Kept(made, origin, **given))
        await made.close()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client_module, "TOTAL", 3)
        asyncio.run(main())


def test_the_oldest_idle_connection_is_closed_when_there_are_too_many() -> None:
    def check(made: Client, new: Callable[..., Any]) -> None:
        kept = [new(origin) for origin in (HERE, THERE, HERE, THERE, HERE)]
        for connection in kept:
            made.give_back(connection)
        assert [connection.is_closed for connection in kept] == [True, True, False, False, False]
        assert [made.take(HERE), made.take(HERE), made.take(HERE)] == [kept[4], kept[2], None]
        assert [made.take(THERE), made.take(THERE)] == [kept[3], None]

    with_client(check)


def test_a_connection_in_use_or_closed_by_its_receiver_takes_the_place_of_no_other() -> None:
    def check(made: Client, new: Callable[..., Any]) -> None:
        first = new(HERE)
        made.give_back(first)
        for _ in range(5):
            lost = new(THERE)
            made.give_back(lost)
            lost.abort()
        used = [new(THERE) for _ in range(3)]
        for connection in used:
            made.give_back(connection)
            assert made.take(THERE) is connection
        assert made.take(HERE) is first

    with_client(check)


def test_connections_that_are_being_closed_count_and_are_not_used() -> None:
    def check(made: Client, new: Callable[..., Any]) -> None:
        parting = [new(HERE, is_open=False) for _ in range(4)]
        for connection in parting:
            made.give_back(connection)
        assert [connection.is_closed for connection in parting] == [True, False, False, False]
        assert made.take(HERE) is None

    with_client(check)


def test_a_connection_that_is_closed_already_is_not_kept() -> None:
    def check(made: Client, new: Callable[..., Any]) -> None:
        first = new(HERE)
        made.give_back(first)
        for _ in range(3):
            closed = new(HERE)
            closed.abort()
            made.give_back(closed)
        assert [made.take(HERE), made.take(HERE)] == [first, None]

    with_client(check)


def test_a_closed_client_keeps_no_connections() -> None:
    async def main() -> None:
        made = Client(cast(Dialer, None))
        await made.close()
        late = Kept(made, HERE)
        made.give_back(cast(Connection, late))
        assert made.take(HERE) is None

    asyncio.run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_idle_connections_to_many_receivers_are_bounded_together(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "TOTAL", 2)

    async def answer(exchange: Exchange) -> None:
        exchange.write(OK)
        if "/close" in exchange.head[0]:
            exchange.close()

    async def main() -> None:
        async with (
            sender() as http,
            Receiver(says(OK)) as one,
            Receiver(answer) as two,
            Receiver(says(OK)) as three,
            Receiver(says(OK)) as four,
        ):
            for url in (one.url, two.url.replace("callback", "close"), three.url):
                assert (await http.send(post(url), 10)).status == 200
                await until(lambda: two.open_connections == 0)
            assert (one.open_connections, three.open_connections) == (1, 1)
            assert (await http.send(post(four.url), 10)).status == 200
            await until(lambda: one.open_connections == 0)
            assert (three.open_connections, four.open_connections) == (1, 1)
            assert (await http.send(post(one.url), 10)).status == 200
            assert one.connections == 2

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_requests_of_one_turn_are_sent_together(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a receiver is woken once for all of them."""
    order: list[str] = []
    begin, start = Connection.begin, Connection.start

    def begun(connection: Connection, reader: AnswerReader) -> None:
        order.append("begun")
        begin(connection, reader)

    def sent(connection: Connection, request: bytes) -> None:
        order.append("sent")
        start(connection, request)

    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:

            async def send_three() -> None:
                outcomes = await asyncio.gather(*[http.send(post(receiver.url), 5) for _ in range(3)])
                assert [outcome.status for outcome in outcomes] == [200] * 3

            await send_three()
            monkeypatch.setattr(Connection, "begin", begun)
            monkeypatch.setattr(Connection, "start", sent)
            await send_three()  # on open connections
            assert order == ["begun"] * 3 + ["sent"] * 3

    run(main())
