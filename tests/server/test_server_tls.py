"""TLS at the server: certificates that change under way, handshakes that never end, and the same answers inside."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest
from uvicorn.server import ServerState

from simulator.cli.certificates import context_of
from simulator.server.foreign_clients import ForeignClients
from simulator.server.message import HttpLimits
from simulator.server.transports import TlsEntry, TlsSettings
from tests.support.certificates import Pair, name_of, pair
from tests.support.connections import connected, hang_up
from tests.support.echo_server import PATIENCE_S, Client, Served, serving
from tests.support.fed_connections import FedTransport, turns

GET = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(params=["uvloop", pytest.param("asyncio", marks=pytest.mark.slow)])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Served, TlsSettings]]:
    tls = TlsSettings(context_of(*pair("first")), handshake_s=1.0)
    with serving(request.param, tls=tls) as server:
        yield server, tls


@asynccontextmanager
async def talking(server: Served, to: Pair) -> Any:
    # connect: closed by the same function, within TLS
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=to.client)
    try:
        yield Client(reader, writer)
    finally:
        await hang_up(writer)


def shown_by(client: Client) -> str:
    return name_of(client.writer.get_extra_info("ssl_object"))


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def within() -> None:
        await asyncio.wait_for(main(), 2 * PATIENCE_S)

    asyncio.run(within())


@pytest.mark.slow
def test_answers_are_the_same_within_tls(served: tuple[Served, TlsSettings]) -> None:
    body = b"x" * 3_000_000

    async def main() -> None:
        async with talking(served[0], pair("first")) as client:
            await client.send(GET * 3)
            for _ in range(3):
                assert (await client.answer()).json["path"] == "/hello"
            await client.send(b"POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            assert len((await client.answer()).json["body"]) == len(body)
            await client.send(GET.replace(b"Host", b"Connection: close\r\nHost"))
            assert [one.status for one in await client.answers_to_end()] == [200]

    run(main)


@pytest.mark.slow
def test_a_refusal_in_the_middle_of_a_body_can_be_read(served: tuple[Served, TlsSettings]) -> None:
    async def main() -> None:
        async with talking(served[0], pair("first")) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 200 + b"\r\n")
            assert [one.status for one in await client.answers_to_end()] == [431]
        async with talking(served[0], pair("first")) as client:
            await client.send(b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000)
            assert (await client.answer()).body == b"early"

    run(main)


@pytest.mark.slow
def test_connections_that_are_cut_are_cut_within_tls(served: tuple[Served, TlsSettings]) -> None:
    async def main() -> None:
        async with talking(served[0], pair("first")) as client:
            await client.send(b"GET /abort HTTP/1.1\r\nHost: x\r\n\r\n")
            assert await client.to_end() == b""
        async with talking(served[0], pair("first")) as client:
            await client.send(b"GET /cut HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await client.to_end()).endswith(b"\r\n\r\nabcdefghijklmnopqrstuvwxyz")

    run(main)


@pytest.mark.slow
def test_new_connections_are_shown_the_new_certificate_and_old_ones_live_on(served: tuple[Served, TlsSettings]) -> None:
    server, tls = served

    async def main() -> None:
        async with talking(server, pair("first")) as old:
            await old.send(GET)
            assert (shown_by(old), (await old.answer()).status) == ("first", 200)
            tls.context = context_of(*pair("second"))
            async with talking(server, pair("second")) as new:
                await new.send(GET)
                assert (shown_by(new), (await new.answer()).status) == ("second", 200)
            await old.send(GET)
            assert (await old.answer()).status == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            async with talking(server, pair("first")):
                pass

    run(main)


@pytest.mark.slow
def test_a_session_is_not_resumed_under_a_certificate_of_before(served: tuple[Served, TlsSettings]) -> None:
    context = pair("first").client
    for _ in range(2):
        with (
            socket.create_connection(("127.0.0.1", served[0].port), PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as inside,
        ):
            inside.sendall(GET)
            assert inside.recv(100).startswith(b"HTTP/1.1 200")
            assert not inside.session_reused
            assert inside.session is None or not inside.session.has_ticket


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent", [b"\xe2\x80\xa6", b"\x00" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 600]
)
def test_bytes_that_are_no_tls_close_the_connection_and_others_are_answered(
    served: tuple[Served, TlsSettings], sent: bytes
) -> None:
    server, _ = served

    async def main() -> None:
        async with connected(server.port) as (reader, writer):
            writer.write(sent)
            answered = await asyncio.wait_for(reader.read(), PATIENCE_S)
            assert b"HTTP" not in answered
        async with talking(server, pair("first")) as client:
            await client.send(GET)
            assert (await client.answer()).status == 200

    run(main)


PLAIN = [
    GET,
    b"OPTIONS * HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\n\r\n" + b"x" * 300_000,
    b"M-SEARCH * HTTP/1.1\r\n\r\n",
    b"get / http/1.0\r\n\r\n",
    b"\r\nGET / HTTP/1.1\r\n\r\n",
    b"G",  # a first packet may have no more
]


@pytest.mark.parametrize("sent", PLAIN)
def test_plain_http_is_answered_without_tls(
    served: tuple[Served, TlsSettings], sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    server, _ = served

    async def main() -> None:
        for _ in range(3):
            async with connected(server.port) as (reader, writer):
                writer.write(sent)
                answered = await asyncio.wait_for(reader.read(), PATIENCE_S)
            assert answered.startswith(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json")
            assert b'"This port speaks TLS: use https:// instead of http:// in the address."' in answered
        async with talking(server, pair("first")) as client:
            await client.send(GET)
            assert (await client.answer()).status == 200

    run(main)
    lines = [record.getMessage() for record in caplog.records if record.name == "simulator.server.foreign_clients"]
    caplog.clear()
    assert lines == ["a client sent plain HTTP to this port, which speaks TLS: use https:// in its address"]


@pytest.mark.slow
def test_a_handshake_that_goes_no_further_ends_and_delays_no_other(served: tuple[Served, TlsSettings]) -> None:
    server, _ = served

    async def main() -> None:
        silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        try:
            async with talking(server, pair("first")) as client:  # however many others shake hands
                await client.send(GET)
                assert (await client.answer()).status == 200
            for reader, _ in silent:
                with_end = await asyncio.wait_for(reader.read(), PATIENCE_S)
                assert with_end == b""
        finally:
            for _, writer in silent:
                await hang_up(writer)

    run(main)


@pytest.mark.slow
def test_a_server_that_stops_waits_for_no_handshake() -> None:
    with serving(tls=TlsSettings(context_of(*pair("first")), handshake_s=1000)) as server:
        silent = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
        with (
            socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as plain,  # which is accepted later
            pair("first").client.wrap_socket(plain, server_hostname="localhost") as inside,
        ):
            inside.sendall(GET)
            assert inside.recv(100).startswith(b"HTTP/1.1 200")
    with silent:
        assert silent.recv(1) == b""


def test_a_handshake_counts_as_a_connection() -> None:
    tls = TlsSettings(context_of(*pair("first")), handshake_s=1000)
    with serving(limits=HttpLimits(connections=2), tls=tls) as server, ExitStack() as opened:
        connect = partial(socket.create_connection, ("127.0.0.1", server.port), PATIENCE_S)
        silent = [opened.enter_context(connect()) for _ in range(3)]
        assert silent[-1].recv(1) == b""


@pytest.mark.parametrize("is_early", [True, False])
def test_a_connection_that_is_lost_before_its_handshake_counts_no_longer(is_early: bool) -> None:
    async def main() -> None:
        state = ServerState()
        settings = TlsSettings(context_of(*pair("first")), handshake_s=1000)
        entry = TlsEntry(settings, asyncio.Protocol, ForeignClients(), HttpLimits(), server_state=state)
        entry.connection_made(FedTransport())
        await turns(0 if is_early else 5)
        assert state.connections == {entry}
        entry.connection_lost(ConnectionResetError())
        await turns()
        assert not state.connections
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
