"""Answers that the gate holds until their inputs are durable: the end of their connection does not lose them."""

import asyncio

import pytest

from simulator.server.message import HttpLimits
from simulator.server.transports import Act
from tests.support.echo_server import request
from tests.support.fed_connections import FedServer, close_sending_side, fed_server, turns

PLAIN = request("GET", "/x")


def close_gate(server: FedServer) -> list[Act]:
    """Hold the output of later connections; return what opens the gate for each piece."""
    held: list[Act] = []

    def hold(act: Act, refuse: Act) -> bool:
        held.append(act)
        return False

    server.gate = hold
    return held


def open_gate(held: list[Act]) -> None:
    while held:
        held.pop(0)()


@pytest.mark.parametrize("is_early", [True, False])
@pytest.mark.parametrize(
    ("raw", "status"), [(PLAIN, b"200"), (request("GET", "/asgi"), b"200"), (b"GET / HTTP/1.1\r\n\r\n", b"400")]
)
def test_a_client_that_closes_its_side_gets_the_answer_that_the_gate_holds(
    raw: bytes, status: bytes, is_early: bool
) -> None:
    async def main() -> None:
        async with fed_server() as server:
            held = close_gate(server)
            protocol, client = server.connect(raw)
            await turns(0 if is_early else 5)
            close_sending_side(protocol, client)
            await turns()
            assert (client.written, client.is_closed) == (b"", False)
            open_gate(held)
            assert client.written.startswith(b"HTTP/1.1 " + status)
            assert client.is_closed

    asyncio.run(main())


def test_the_time_of_a_half_closed_client_does_not_lose_the_answer_that_the_gate_holds() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(half_closed_s=0)) as server:
            held = close_gate(server)
            protocol, client = server.connect(request("GET", "/asgi"))
            close_sending_side(protocol, client)
            await turns()
            assert not client.is_closed
            open_gate(held)
            assert client.written.startswith(b"HTTP/1.1 200")
            assert client.is_closed

    asyncio.run(main())


def test_a_client_that_closes_its_side_without_a_request_is_closed_at_once() -> None:
    async def main() -> None:
        async with fed_server() as server:
            close_gate(server)
            protocol, client = server.connect()
            close_sending_side(protocol, client)
            assert client.is_closed

    asyncio.run(main())


def test_a_last_answer_that_the_gate_holds_is_sent_though_the_time_to_read_it_is_over() -> None:
    async def main() -> None:
        async with fed_server(limits=HttpLimits(linger_s=0)) as server:
            held = close_gate(server)
            _, client = server.connect(b"GET / HTTP/1.1\r\n\r\n")
            await turns()
            assert not client.is_closed
            open_gate(held)
            assert client.written.startswith(b"HTTP/1.1 400")
            assert client.is_closed

    asyncio.run(main())
