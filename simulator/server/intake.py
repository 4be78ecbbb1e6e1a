"""The memory of bodies that are being read: one budget for all connections, and its return to the system afterwards."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from simulator.server.limits import HttpLimits, HttpRefusal
from simulator.server.message import HttpRequest

SMALL_BODY_BYTES: Final = 16 * 1024
TRIM_BYTES: Final = 16 * 1024 * 1024
TRIM_DELAY_S: Final = 1.0


class Intake:
    """What all connections of a server read: their limits, and the bytes in `used` of requests whose bodies come in
    several packets, until each is answered. They are charged as they arrive, with their heads, so that a declared
    length reserves nothing.

    A request of at most `SMALL_BODY_BYTES` is not charged: large bodies cannot keep it out, and the number of
    connections bounds these. `trim` is called when nothing is used any more after `TRIM_BYTES` were, at most once in
    `TRIM_DELAY_S`, so that the applications have released the last body.
    """

    def __init__(self, limits: HttpLimits, trim: Callable[[], None]) -> None:
        self.limits = limits
        self.used = 0
        self._trim = trim
        self._since_trim = 0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, request: HttpRequest, count: int) -> None:
        """Charge `count` more bytes of a request. Raises HttpRefusal (503) if they do not fit."""
        held, total = request.held, request.held + count
        if total > SMALL_BODY_BYTES:
            added = total if held <= SMALL_BODY_BYTES else count
            if self.used + added > self.limits.bodies_bytes:
                raise HttpRefusal("too_many_bodies", self.limits.bodies_bytes)
            self.used += added
            self._since_trim += added
        request.held = total

    def release(self, request: HttpRequest) -> None:
        """Release what a request holds, if anything."""
        held, request.held = request.held, 0
        if held > SMALL_BODY_BYTES:
            self.used -= held
            if not self.used and self._since_trim > TRIM_BYTES and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(TRIM_DELAY_S, self._on_quiet)

    def drop(self, requests: deque[HttpRequest]) -> None:
        """Drop requests that will not be answered."""
        while requests:
            self.release(requests.popleft())

    def _on_quiet(self) -> None:
        self._timer = None
        if not self.used:  # else the release of the last one sets the timer again
            self._since_trim = 0
            self._trim()
