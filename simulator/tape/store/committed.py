"""How long the write-ahead log is for certain. The owner notes it in the lock after each commit.

A log that was cut at the end of a frame looks to SQLite as if nothing had ever been behind it. Whoever opens the folder
of a killed process compares the note with the log: what the process wrote is there, whether it was on the disk or not.
"""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple, Self

from simulator.tape.store.layout import DATABASE, PAGE_BYTES

LOG_HEADER_BYTES: Final = 32
FRAME_BYTES: Final = 24 + PAGE_BYTES
SALTS: Final = slice(16, 24)  # of the header
_TEXT: Final = re.compile("log ([0-9a-f]{16}) ([0-9]{10})", re.ASCII)


class Length(NamedTuple):
    """So many frames, of the log that has these salts. When a log begins again, the first salt is the next number."""

    salts: bytes
    frames: int

    @classmethod
    def of_text(cls, text: str) -> Self | None:
        """The length that is noted, if it is."""
        found = _TEXT.fullmatch(text)
        return cls(bytes.fromhex(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        """A text that is always as long."""
        return f"log {self.salts.hex()} {self.frames:010}"

    def missing_of(self, salts: bytes, frames: int, *, is_of_this_boot: bool) -> int:
        """How many of these frames a log lacks of which so many can be read. After another start of the machine an
        earlier note may be beside a later log."""
        if salts == self.salts:
            return max(0, self.frames - frames)
        began_again = (int.from_bytes(self.salts[:4]) + 1) % (1 << 32) == int.from_bytes(salts[:4])
        return self.frames if is_of_this_boot and not began_again else 0


class OpenLog:
    """The log of an open store."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / f"{DATABASE}-wal", os.O_RDONLY)

    def length(self) -> Length:
        """Behind a commit. Raises `OSError`."""
        salts = os.pread(self._descriptor, SALTS.stop - SALTS.start, SALTS.start)
        size = os.fstat(self._descriptor).st_size
        return Length(salts, max(0, size - LOG_HEADER_BYTES) // FRAME_BYTES)

    def close(self) -> None:
        """Once."""
        os.close(self._descriptor)
