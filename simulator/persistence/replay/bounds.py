"""The bounds of what a line of a tape may say: without them a file that somebody changed would take the simulator down.

See `room` for the bounds of a whole file. That a tape was changed within its bounds is seen when it is played.
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
