"""The writing side of a connection: answers are gathered until the end of a turn, and wait for a slow client."""

import asyncio
from abc import abstractmethod
from typing import Final

from simulator.server.intake import Intake

HIGH_WATER_BYTES: Final = 65536  # of a body, or of answers, that are held before the other side has to take some


class WritingSide(asyncio.Protocol):
    """What a connection writes. `writable` is cleared while the client does not read our answers: if it takes nothing
    for `write_timeout_s`, or if too much waits for such clients, the connection is closed."""

    _transport: asyncio.Transport

    def __init__(self, intake: Intake) -> None:
        self.writable = asyncio.Event()
        self.writable.set()
        self._intake, self._limits = intake, intake.limits
        self._evictions = intake.evictions
        self._loop = asyncio.get_running_loop()
        self._unsent = b""  # written at the end of the turn
        self._untaken = 0  # bytes that the client had not taken when they were last counted
        self._stall: asyncio.TimerHandle | None = None

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
        self._watch()
        self._evictions.stall(self, self._untaken)

    def resume_writing(self) -> None:
        """Resume answers."""
        self.writable.set()
        self._end_watch()

    @abstractmethod
    def hang_up(self) -> None:
        """Close now; the application sees that its client has left."""

    def _watch(self) -> None:
        """Close the connection if its client takes nothing of what is unsent."""
        if self._stall is None:
            self._untaken = self._transport.get_write_buffer_size()
            if self._untaken:
                self._stall = self._loop.call_later(self._limits.write_timeout_s, self._on_stall)

    def _on_stall(self) -> None:
        before, self._stall = self._untaken, None
        if self._transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self.hang_up()

    def _end_watch(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        self._evictions.resume(self)
        self._intake.released(self._untaken)
        self._untaken = 0
