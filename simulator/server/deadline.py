"""One timer for all the deadlines of a connection, which move with every request and seldom expire."""

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """Calls `on_due` at the time that was set last, first `seconds` from now.

    Setting a later time does not touch the timer: the old one fires, finds that the deadline has moved, and is set
    again. Cancelling and creating a timer of the event loop costs twenty times as much.
    """

    __slots__ = ("_at", "_fires_at", "_loop", "_on_due", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_due: Callable[[], None], seconds: float) -> None:
        self._loop, self._on_due = loop, on_due
        self._at = self._fires_at = loop.time() + seconds
        self._timer = loop.call_at(self._at, self._fire)

    def set(self, seconds: float) -> None:
        """Move the deadline to `seconds` from now."""
        self.set_at(self._loop.time() + seconds)

    def set_at(self, at: float) -> None:
        """Move the deadline to `at`, a time of the loop's clock."""
        self._at = at
        if at < self._fires_at:
            self._arm()

    def end(self) -> None:
        """Cancel the timer and release the callback."""
        self._timer.cancel()
        self._on_due = lambda: None

    def _arm(self) -> None:
        self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_at(self._at, self._fire)

    def _fire(self) -> None:
        self._fires_at = math.inf
        if self._loop.time() < self._at:
            self._arm()
        else:
            self._on_due()
