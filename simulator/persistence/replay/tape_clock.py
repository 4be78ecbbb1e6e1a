"""The clock of a sandbox that is rebuilt: it stands where the tape says."""

from datetime import datetime

from simulator.domain.model.instants import EARLIEST, LATEST
from simulator.runtime.clock import Clock, effective_rate


class TapeClock(Clock):
    """A clock that is set to the time of each entry. Its mode and rate are those that the tape says."""

    def __init__(self, mode: str, rate: float, now: datetime) -> None:
        self.stand_at(now, now)
        super().__init__(lambda: self._wall, mode, rate, now)

    def stand_at(self, now: datetime, wall: datetime) -> None:
        """Show these times until the next entry. Raises `ValueError` for times that no sandbox has."""
        for time in (now, wall):
            if not EARLIEST <= time <= LATEST:
                raise ValueError(f"{time.isoformat()} is not from {EARLIEST.year} to {LATEST.year}")
        self._now, self._wall = now, wall

    def follow(self, mode: str, rate: float) -> None:
        """Have another mode and rate. Raises `Unacceptable` for those that no clock has."""
        self.mode, self.rate = mode, effective_rate(mode, rate)

    def at(self, wall: datetime) -> datetime:
        """The sandbox's time, whatever the wall's is."""
        self.latest = wall
        return self._now
