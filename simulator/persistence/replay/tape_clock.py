"""The clock of a sandbox that is rebuilt: it stands where the tape says."""

from datetime import datetime

from simulator.runtime.clock import Clock


class TapeClock(Clock):
    """A clock that is set to the time of each entry. Its mode and rate are those that the tape says."""

    def __init__(self, mode: str, rate: float, now: datetime) -> None:
        self._now = self._wall = now
        super().__init__(lambda: self._wall, mode, rate, now)

    def stand_at(self, now: datetime, wall: datetime) -> None:
        """Show these times until the next entry."""
        self._now, self._wall = now, wall

    def at(self, wall: datetime) -> datetime:
        """The sandbox's time, whatever the wall's is."""
        self.latest = wall
        return self._now
