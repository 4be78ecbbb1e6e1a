"""The bounds of a line of a tape, and of a file of tapes: without them a file that somebody changed would take the
simulator down.

A line is counted before it is decoded, by the values that its text can have: empty lists of two letters take thirty
times their text. What became bytes and texts is counted by its length afterwards. That a tape was changed within its
bounds is seen when it is played.
"""

from datetime import datetime
from math import isfinite
from typing import Final

from simulator.domain.errors import DomainError
from simulator.domain.model.instants import EARLIEST, LATEST
from simulator.persistence.replay import lines
from simulator.persistence.replay.head import End, Head
from simulator.runtime.clock import effective_rate
from simulator.runtime.sandboxes import is_sandbox_id

_NUMBER_MAX: Final = 2**62
_STATUS_MAX: Final = 999


class OutOfBounds(Exception):
    """A line says something that no sandbox has; the text says what."""


def check_head(head: Head) -> None:
    """Raise `OutOfBounds` for a head that is none."""
    if not is_sandbox_id(head.sandbox):
        raise OutOfBounds(f"sandbox: {head.sandbox[:80]!r} is the id of no sandbox")
    _check_time("started", head.started)
    _check_time("clock.start", head.clock.start)
    _check_clock("clock.", head.clock.mode, head.clock.rate)


def check_line(line: lines.Line) -> None:
    """Raise `OutOfBounds` for an entry that is none."""
    for name in ("now", "wall"):
        _check_time(name, getattr(line, name, None))
    if isinstance(line, lines.ClockLine):
        _check_clock("", line.mode, line.rate)
    if isinstance(line, lines.RequestLine):
        _check_number("replay_of", line.replay_of)
    if isinstance(line, lines.RequestLine | lines.AnsweredLine) and line.answer is not None:
        _check_number("answer.n", line.answer.n)
        _check_number("answer.status", line.answer.status, _STATUS_MAX)
        _check_number("answer.duration_us", line.answer.duration_us)


def check_end(end: End) -> None:
    """Raise `OutOfBounds` for an end that is none."""
    _check_time("now", end.now)
    _check_number("left_out", end.left_out)
    if end.left_out and end.state:
        raise OutOfBounds(f"left_out: a tape that lacks {end.left_out} inputs has no digest of the state")


def _check_time(name: str, at: datetime | None) -> None:
    if at is not None and at.tzinfo is None:
        raise OutOfBounds(f"{name}: {at.isoformat()} has no offset, such as Z")
    if at is not None and not EARLIEST <= at <= LATEST:
        text = f"a sandbox has no such time: they are from {EARLIEST.year} to {LATEST.year}"
        raise OutOfBounds(f"{name}: {at.isoformat()}: {text}")


def _check_clock(where: str, mode: str, rate: float) -> None:
    if not isfinite(rate):
        raise OutOfBounds(f"{where}rate: {rate!r} is no rate")
    try:
        effective_rate(mode[:40], rate)
    except DomainError as error:
        raise OutOfBounds(f"{where}{error.path}: {error.message}") from None


def _check_number(name: str, number: int, most: int = _NUMBER_MAX) -> None:
    if not 0 <= number <= most:
        raise OutOfBounds(f"{name}: the number is not from 0 to {most}")


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
