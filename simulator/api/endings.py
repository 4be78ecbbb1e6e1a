"""How the answer to a request ends, if not as usual, whole and at once. The server calls `send` of an ending.

The `name` is the one of coverage; it is empty where the whole answer goes out.
"""

from typing import ClassVar, Final, Protocol

import msgspec

from simulator.domain.model.outcomes import ConnectionEnd


class ConnectionFaults(Protocol):
    """What our server can do to a connection, and ASGI cannot. `lines` are header lines with their ends."""

    def abort(self) -> None: ...
    async def cut(self, status: int, lines: bytes, body: bytes, after_bytes: int) -> None: ...
    async def drip(self, status: int, lines: bytes, body: bytes, bytes_per_second: float) -> None: ...


class Abort(msgspec.Struct, frozen=True):
    """The connection is closed without a byte."""

    name: ClassVar[ConnectionEnd] = ConnectionEnd.ABORTED

    async def send(self, connection: ConnectionFaults, status: int, lines: bytes, body: bytes) -> None:
        """Close the connection."""
        connection.abort()

    def __str__(self) -> str:
        return str(self.name)


class Gone(Abort, frozen=True):
    """The client had left, and nothing is sent."""

    name: ClassVar[ConnectionEnd] = ConnectionEnd.GONE


class Cut(msgspec.Struct, frozen=True):
    """The connection is closed in the middle of the body."""

    name: ClassVar[ConnectionEnd] = ConnectionEnd.CUT

    async def send(self, connection: ConnectionFaults, status: int, lines: bytes, body: bytes) -> None:
        """Send the head and half of the body."""
        await connection.cut(status, lines, body, len(body) // 2)

    def __str__(self) -> str:
        return str(self.name)


class Drip(msgspec.Struct, frozen=True):
    """The head is sent at once and the body at this pace."""

    bytes_per_second: float
    name: ClassVar[ConnectionEnd] = ConnectionEnd.WHOLE

    async def send(self, connection: ConnectionFaults, status: int, lines: bytes, body: bytes) -> None:
        """Send the whole answer slowly."""
        await connection.drip(status, lines, body, self.bytes_per_second)

    def __str__(self) -> str:
        return f"{self.bytes_per_second:g} bytes a second"


Ending = Abort | Cut | Drip
ABORT: Final = Abort()
CUT: Final = Cut()
GONE: Final = Gone()
