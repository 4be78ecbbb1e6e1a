"""What a simulator can have written: lines that say anything else were changed, and are refused before they are played.

See `room` for the bounds of a file, and `order` for the order of times.
"""

from datetime import datetime
from math import isfinite
from typing import Final

from simulator.domain.errors import DomainError
from simulator.domain.model.instants import EARLIEST, LATEST
from simulator.replay import lines
from simulator.replay.head import End, Head
from simulator.runtime.clock import effective_rate
from simulator.runtime.sandboxes import is_sandbox_id
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.sections.inboxes import build_inbox

ENTRIES_MAX: Final = 10_000_000
"""As many as `limits.tape` of a scenario may be."""

_NUMBER_MAX: Final = 2**62
_STATUS_MAX: Final = 999


class NeverWritten(Exception):
    """A line says something that no simulator writes; the text says what, and what to do."""


def check_head(head: Head) -> None:
    """Raise `NeverWritten` for a head that is none."""
    if not is_sandbox_id(head.sandbox):
        raise NeverWritten(f"sandbox: {head.sandbox[:80]!r} is the id of no sandbox")
    _check_time("started", head.started)
    if head.clock.start is not None:
        _check_time("clock.start", head.clock.start)
        if head.clock.mode == "manual" and head.clock.start != head.started:
            raise NeverWritten(f"started: {head.started.isoformat()} is not the time of clock.start")
    _check_clock("clock.", head.clock.mode, head.clock.rate)
    _check_number("entries", head.entries, ENTRIES_MAX)


def check_line(line: lines.Line) -> None:
    """Raise `NeverWritten` for an entry that is none."""
    for name in ("now", "wall"):
        if (at := getattr(line, name, None)) is not None:
            _check_time(name, at)
    if isinstance(line, lines.ClockLine):
        _check_clock("", line.mode, line.rate)
    elif isinstance(line, lines.RequestLine):
        _check_number("replay_of", line.replay_of)
    elif isinstance(line, lines.InboxRepliesLine):
        _check_replies(line)
    if isinstance(line, lines.RequestLine | lines.AnsweredLine) and line.answer is not None:
        _check_number("answer.n", line.answer.n)
        _check_number("answer.status", line.answer.status, _STATUS_MAX)
        _check_number("answer.duration_us", line.answer.duration_us)


def check_end(head: Head, end: End) -> None:
    """Raise `NeverWritten` for the end of another tape."""
    if end.now is not None:
        _check_time("now", end.now)
    _check_number("left_out", end.left_out)
    if end.left_out and end.state:
        raise NeverWritten(f"left_out: a tape that lacks {end.left_out} inputs has no digest of the state")
    if end.end != head.entries:
        raise NeverWritten(f"there are {end.end} entries, and the head of the tape counts {head.entries}")


def check_count(head: Head, place: int) -> None:
    """Raise `NeverWritten` for an entry beyond those that the head counts."""
    if place > head.entries:
        raise NeverWritten(f"this is entry {place}, and the head of the tape counts {head.entries}")


def _check_replies(line: lines.InboxRepliesLine) -> None:
    try:
        build_inbox(line.document)
    except ScenarioError as error:
        first = error.problems[0]
        raise NeverWritten(f"document: {first.path or first.source}: {first.message}") from None


def _check_time(name: str, at: datetime) -> None:
    if at.tzinfo is None:
        raise NeverWritten(f"{name}: {at.isoformat()} has no offset, such as Z")
    if not EARLIEST <= at <= LATEST:
        text = f"a sandbox has no such time: they are from {EARLIEST.year} to {LATEST.year}"
        raise NeverWritten(f"{name}: {at.isoformat()}: {text}")


def _check_clock(where: str, mode: str, rate: float) -> None:
    if not isfinite(rate):
        raise NeverWritten(f"{where}rate: {rate!r} is no rate")
    try:
        effective_rate(mode[:40], rate)
    except DomainError as error:
        raise NeverWritten(f"{where}{error.path}: {error.message}") from None


def _check_number(name: str, number: int, most: int = _NUMBER_MAX) -> None:
    if not 0 <= number <= most:
        raise NeverWritten(f"{name}: the number is not from 0 to {most}")
