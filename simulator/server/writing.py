"""The writing side of a connection: answers are gathered until the end of a turn, and wait for a slow client."""

import asyncio
from typing import Final

HIGH_WATER_BYTES: Final = 65536  # of a body, or of answers, that are held before the other side has to take some


class WritingSide(asyncio.Protocol):
    """What a connection writes. `writable` is cleared while the client does not read our answers."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self.writable = asyncio.Event()
        self.writable.set()
        self._unsent = b""  # written at the end of the turn

    def write(self, data: bytes) -> None:
        """Write after what is buffered until the end of the turn."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Write what is buffered until the end of the turn."""
        unsent, self._unsent = self._unsent, b""
        if unsent and not self._transport.is_closing():
            self._transport.write(unsent)

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """Resume answers."""
        self.writable.set()
