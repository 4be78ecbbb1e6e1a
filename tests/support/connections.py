"""Connections that are closed at the end of their test, even with unsent data, and a port where nothing listens."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Drop the connection and its unsent data, and wait until its transport is closed.

    `close()` would first send the buffered data, which never ends if the server has stopped reading.
    """
    writer.transport.abort()
    with suppress(OSError):  # how the connection ended, when that was not our doing
        await writer.wait_closed()


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to `port` of this machine."""
    # connect: it closes what it opened
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        await hang_up(writer)


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of this machine where connections are refused: it is taken by a socket that does not listen."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
