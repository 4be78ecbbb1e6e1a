"""A setting that acts some time after it was changed (SPEC 5.3), as if it were read from a cache."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DelayedSwitch:
    """On or off since ever, then whatever each change says from its own time on.

    `changes` are in order of time and hold the one that acts, if any, and those that do not act yet.
    """

    first: bool = False
    changes: tuple[tuple[datetime, bool], ...] = ()

    def is_on(self, now: datetime) -> bool:
        """Whether it is on at `now`."""
        return next((on for at, on in reversed(self.changes) if at <= now), self.first)

    def turned(self, on: bool, now: datetime, acts_at: datetime) -> "DelayedSwitch":
        """The switch after a change that acts at `acts_at`; what acted before `now` is forgotten."""
        waiting = tuple((at, to) for at, to in self.changes if now < at < acts_at)
        return DelayedSwitch(self.is_on(now), (*waiting, (acts_at, on)))
