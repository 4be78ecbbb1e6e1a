"""Leftovers of the tests' own connections."""

import asyncio
import socket

import pytest

from tests.support.connections import closed_port, connected


@pytest.mark.parametrize("error", [None, ValueError])
def test_a_connection_is_gone_though_its_server_reads_nothing(error: type[Exception] | None) -> None:
    async def main(port: int) -> bool:
        try:
            async with connected(port) as (_, writer):
                writer.write(b"x" * 20_000_000)
                assert writer.transport.get_write_buffer_size() > 0
                if error is not None:
                    raise error
        except ValueError:
            pass
        return int(writer.get_extra_info("socket").fileno()) == -1

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert asyncio.run(main(server.getsockname()[1]))


def test_a_connection_that_the_server_has_reset_is_left_without_an_error() -> None:
    async def main(server: socket.socket) -> None:
        async with connected(server.getsockname()[1]) as (_, writer):
            writer.write(b"unread")
            server.accept()[0].close()
            with pytest.raises(ConnectionError):
                await send_until_refused(writer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        asyncio.run(main(server))


async def send_until_refused(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"more")
        await writer.drain()


def test_a_closed_port_is_not_reused() -> None:
    with closed_port() as port:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
        with pytest.raises(OSError, match="in use"):
            socket.create_server(("127.0.0.1", port), reuse_port=False).close()
