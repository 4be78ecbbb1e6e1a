"""The times of a tape, in order: no clock of a sandbox goes back, and a manual one stands until it is moved.

The clock of the machine may be set back a little while a sandbox runs with it. What it is set back by counts as often
as the sandbox's clock is faster.
"""

from datetime import datetime, timedelta
from typing import Final

from simulator.domain.commands import PassTime, RecordTime
from simulator.replay import lines
from simulator.replay.head import End, Head
from simulator.replay.written import NeverWritten
from simulator.runtime.clock import effective_rate

_SET_BACK_MAX: Final = timedelta(hours=1)


class Times:
    """Those of one tape, as far as it is read."""

    def __init__(self, head: Head) -> None:
        self._now = head.started
        self._rate = effective_rate(head.clock.mode, head.clock.rate)

    def check(self, line: lines.Line | End) -> None:
        """Raise `NeverWritten` for a time that cannot be behind those before."""
        now: datetime | None = getattr(line, "now", None)
        if now is None or _is_of_another_sandbox(line):
            return
        if not self._rate and now != self._now and not _moves(line):
            text = f"the clock of the sandbox was manual, and stood at {self._now.isoformat()}"
            raise NeverWritten(f"now: {now.isoformat()}: {text}")
        if now + _SET_BACK_MAX * self._rate_at_least_1 < self._now or (not self._rate and now < self._now):
            raise NeverWritten(f"now: {now.isoformat()} is before {self._now.isoformat()}, which came before")
        self._now = now
        if isinstance(line, lines.ClockLine):
            self._rate = effective_rate(line.mode, line.rate)

    @property
    def _rate_at_least_1(self) -> float:
        return max(1.0, self._rate)


def _moves(line: lines.Line | End) -> bool:
    """Whether a manual clock may have been moved just before this line."""
    if isinstance(line, lines.CommandLine):
        return isinstance(line.command, PassTime | RecordTime)
    return isinstance(line, lines.ClockLine)


def _is_of_another_sandbox(line: lines.Line | End) -> bool:
    return isinstance(line, lines.RequestLine) and line.shown
