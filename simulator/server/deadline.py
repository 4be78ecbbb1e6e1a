"""One timer for all the deadlines of a connection, which move with every request and seldom come."""

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """Calls `on_due` when the time that was set last has come.

    To set a later time moves no timer: the old one fires, finds that the deadline has moved on, and is set again. The
    event loop's own timers cost twenty times as much to cancel and make anew.
    """

    __slots__ = ("_at", "_fires_at", "_now", "_on_due", "_timer", "_timer_at")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_due: Callable[[], None]) -> None:
        self._now = loop.time
        self._timer_at = loop.call_at
        self._on_due = on_due
        self._at = self._fires_at = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Replace the deadline by one so many seconds from now."""
        self.set_at(self._now() + seconds)

    def set_at(self, at: float) -> None:
        """Replace the deadline by this time of the loop's clock."""
        self._at = at
        if at < self._fires_at:
            self._arm()

    def end(self) -> None:
        """Never call again, and let go of the callback."""
        if self._timer is not None:
            self._timer.cancel()
        self._on_due = lambda: None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._timer_at(self._at, self._fire)

    def _fire(self) -> None:
        self._timer, self._fires_at = None, math.inf
        if self._now() < self._at:
            self._arm()
        else:
            self._on_due()
