"""The memory of requests that are read or wait: one budget for all connections, and its return to the system."""

import asyncio
from collections.abc import Callable
from typing import Final

from simulator.server.evictions import Evictions
from simulator.server.limits import HttpLimits, HttpRefusal

SMALL_BODY_BYTES: Final = 16 * 1024
TRIM_BYTES: Final = 16 * 1024 * 1024
TRIM_DELAY_S: Final = 1.0


class Intake:
    """What all connections of a server hold of requests: their limits, and the bytes in `used`. Charged is what is at
    rest: unfinished heads and bodies as they arrive, so that a declared length reserves nothing; requests that wait or
    are waited for, with their bodies; and packets that are large, until they are answered.

    A connection that holds at most `SMALL_BODY_BYTES` is counted, but always fits: large bodies cannot keep it out, and
    the number of connections bounds these. `trim` is called when less than `TRIM_BYTES` is used after more was, at most
    once in `TRIM_DELAY_S`, so that the applications have released the last body.
    """

    def __init__(self, limits: HttpLimits, trim: Callable[[], None]) -> None:
        self.limits = limits
        self.evictions = Evictions(limits.unsent_bytes)
        self.used = 0
        self._trim = trim
        self._since_trim = 0
        self._timer: asyncio.TimerHandle | None = None

    def charge(self, held: int, total: int) -> None:
        """Let a connection hold `total` bytes in place of `held`. Raises HttpRefusal (503) if more do not fit."""
        added, is_large = total - held, total > SMALL_BODY_BYTES
        if added > 0 and is_large:
            if self.used + added > self.limits.bodies_bytes:
                raise HttpRefusal("too_many_bodies", self.limits.bodies_bytes)
            self._since_trim += added
        self.used += added
        if added < 0:
            self.released(0)
        elif self.used > self._since_trim:
            self._since_trim = self.used

    def released(self, count: int) -> None:
        """Note that `count` bytes were released that were not charged, or some that were. Memory is returned later."""
        self._since_trim += count
        if self._since_trim > TRIM_BYTES > self.used and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TRIM_DELAY_S, self._on_quiet)

    def _on_quiet(self) -> None:
        self._timer = None
        if self.used < TRIM_BYTES:  # else the next release sets the timer again
            self._since_trim = 0
            self._trim()
