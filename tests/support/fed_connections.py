"""Connections of the server without sockets: a test feeds them packets and reads their output, turn by turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from simulator.server.message import HttpLimits, RequestMemoryBudget
from simulator.server.protocol import HttpProtocol
from simulator.server.timing import ResponseBatcher
from simulator.server.transports import OutputGate
from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import Echo


class FedTransport(asyncio.Transport):
    """A client's side of a connection: the written bytes, and whether it is read or closed. A client that `reads` takes
    everything at once."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_paused = self.is_closed = self.is_aborted = False
        self.unread_bytes = 0

    def is_closing(self) -> bool:
        return self.is_closed

    def is_reading(self) -> bool:
        return not self.is_paused

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def write_eof(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    @property
    def answers(self) -> int:
        return self.written.count(b"HTTP/1.1 ")


class FedServer:
    """Connections that share the limits of a server."""

    def __init__(self, app: Echo | None = None, limits: HttpLimits | None = None) -> None:
        self.app = app or EchoAtOnce()
        self.limits = limits or HttpLimits()
        self.budget = RequestMemoryBudget(self.limits)
        self.batcher = ResponseBatcher()
        self.state = ServerState()
        self.gate: OutputGate | None = None  # of later connections
        self.config = uvicorn.Config(self.app, interface="asgi3", log_config=None)

    def connect(self, *packets: bytes) -> tuple[HttpProtocol, FedTransport]:
        """A new connection that got these packets within one turn."""
        transport = FedTransport()
        parts = self.app, self.budget, self.batcher, self.gate
        protocol = HttpProtocol(*parts, config=self.config, server_state=self.state)
        protocol.connection_made(transport)
        for packet in packets:
            protocol.data_received(packet)
        return protocol, transport

    @property
    def open(self) -> int:
        """The number of connections with a slot."""
        return len(self.state.connections)


def close_sending_side(protocol: HttpProtocol, client: FedTransport) -> None:
    """Pass the end of the client's stream, and close as asyncio does unless the protocol keeps the connection."""
    if not protocol.eof_received():
        client.close()


@asynccontextmanager
async def fed_server(app: Echo | None = None, limits: HttpLimits | None = None) -> AsyncIterator[FedServer]:
    """A server without sockets, whose tasks are over in the end."""
    server = FedServer(app, limits)
    yield server
    for connection in list(server.state.connections):
        connection.connection_lost(None)
    for task in server.state.tasks:
        task.cancel()
    await asyncio.gather(*server.state.tasks, return_exceptions=True)


class MovedLoop(asyncio.SelectorEventLoop):
    """A loop whose timers come due when a test says so; `asyncio.Runner(loop_factory=MovedLoop)`."""

    moved_s = 0.0

    def time(self) -> float:
        return super().time() + self.moved_s


async def pass_time(seconds: float) -> None:
    """Advance the time of a `MovedLoop`, and let due callbacks run."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovedLoop)
    loop.moved_s += seconds
    await turns()


async def turns(count: int = 5) -> None:
    """Let the loop run this many turns."""
    for _ in range(count):
        await asyncio.sleep(0)
