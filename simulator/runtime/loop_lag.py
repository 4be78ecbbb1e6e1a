"""How late an event loop gets to its timers: measured while somebody looks, since a timer wakes an idle process."""

import asyncio
from typing import Final

from simulator.runtime.served import add_duration, no_durations

TICK_S: Final = 0.25
IDLE_S: Final = 300.0
"""Without a look for so long it is not measured any more."""


class LoopLag:
    """`lags` are counted as durations are. One loop at a time."""

    def __init__(self) -> None:
        self.lags = no_durations()
        self._timer: asyncio.TimerHandle | None = None
        self._until = 0.0

    def look(self) -> None:
        """Measure from now on, or go on with it. Needs a running loop."""
        loop = asyncio.get_running_loop()
        self._until = loop.time() + IDLE_S
        if self._timer is None:
            self._arm(loop)

    def close(self) -> None:
        """Measure no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + TICK_S
        self._timer = loop.call_at(due, self._tick, loop, due)

    def _tick(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now = loop.time()
        add_duration(self.lags, int(max(0.0, now - due) * 1e6))
        self._timer = None
        if now < self._until:
            self._arm(loop)
