"""How much memory what is read of a file of tapes takes, and how many lives it has. Both are bounded.

A line is counted before it is decoded, by the values that its text can have, as if they became objects: empty lists of
two letters take thirty times their text. What became bytes and texts is counted by its length afterwards.
"""

from typing import Final

LIVES_MAX: Final = 10_000
"""As many lives as a file may have; `exec --tape` writes no more."""

FILE_BYTES_MAX: Final = 1024 * 1024 * 1024
"""The memory of all that is read of a file: its lines when they are unpacked, with what each takes beside its text."""

LINE_BYTES: Final = 500
"""What an entry takes beside its text."""

LIFE_BYTES: Final = 2_000
"""What a life takes beside its scenario."""

# Measured, each with what holds it: the values of a list or object, the names of members, lists, objects.
_VALUE, _NAME, _LIST, _OBJECT, _PAIR = 120, 60, 120, 180, 80
_LETTER: Final = 4  # of a text with any letter beyond the basic plane


class TooLarge(Exception):
    """The file is not read any further; the text says why, and what to do."""


class Room:
    """What is left of it while one file is read."""

    def __init__(self, bytes_max: int | None = None, lives_max: int | None = None) -> None:
        self._bytes_max = FILE_BYTES_MAX if bytes_max is None else bytes_max
        self._lives_max = LIVES_MAX if lives_max is None else lives_max
        self._taken = self._lives = self._excess = 0

    def take(self, line: bytes) -> None:
        """Count a line that is about to be decoded. Raises `TooLarge`."""
        flat = LINE_BYTES + len(line) + _PAIR * line.count(b"[")
        decoded = max(flat, LINE_BYTES + _decoded_bytes(line))
        self._taken += decoded
        self._excess = decoded - flat
        if self._taken > self._bytes_max:
            raise TooLarge(
                f"what is read of the file would take more than {self._bytes_max} bytes of memory, which is the limit; "
                "write the tapes of fewer sandboxes into one file"
            )

    def take_life(self) -> None:
        """Count one more life. Raises `TooLarge`."""
        self._lives += 1
        self._taken += LIFE_BYTES
        if self._lives > self._lives_max:
            raise TooLarge(
                f"the file has more than {self._lives_max} lives, which is the limit; write the tapes of fewer "
                "sandboxes into one file"
            )

    def shrink(self) -> None:
        """What the line became is bytes and texts, or is shared with what was read before."""
        self._taken -= self._excess
        self._excess = 0


def _decoded_bytes(line: bytes) -> int:
    count = line.count
    values = count(b",") * _VALUE + count(b":") * _NAME
    return _LETTER * len(line) + values + count(b"[") * _LIST + count(b"{") * _OBJECT
