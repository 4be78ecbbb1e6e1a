"""Clocks: of a sandbox, and of the machine.

A sandbox's clock is `real` and follows the wall, `xN` and runs N times as fast, or `manual` and moves only on request.
All modes can be moved forward, none backward; all stop at `LATEST`, since a tape has no later times. The wall clock is
injected, so that tests can control it.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import LATEST
from simulator.domain.model.money import SERVICE_ZONE

Wall = Callable[[], datetime]
wall_clock: Wall = partial(datetime.now, UTC)  # the current time
RATE_MIN = 0.01
RATE_MAX = 100_000.0
NEVER_S: Final = 1e9


class Clock:
    """Sandbox time is `origin` plus the wall time since `anchor`, times `rate`; a manual clock has the rate 0.

    `behind` is how far a real clock has to catch up with the wall since `anchor`, after the machine's clock was set. It
    runs twice as fast until then, or half as fast when it is ahead, so that it neither leaps nor goes back.
    """

    def __init__(self, wall: Wall, mode: str, rate: float, start: datetime | None) -> None:
        self.wall = wall  # the wall's time
        self._anchor = self.latest = wall()  # `latest` is the wall time that was read last
        self._origin = start or self._anchor
        self.mode = mode
        self.rate = effective_rate(mode, rate)
        self.behind = timedelta()

    @property
    def runs(self) -> bool:
        """Return whether it runs by itself; False for a manual clock."""
        return self.rate > 0

    def now(self) -> datetime:
        """Return the sandbox's time."""
        return self.at(self.wall())

    def at(self, wall: datetime) -> datetime:
        """Return the sandbox's time at wall time `wall`."""
        self.latest = wall
        rate = self.rate
        if not rate:
            return self._origin
        passed = wall - self._anchor
        if self.behind:
            passed += self._caught_up(passed)
        elif rate != 1.0:
            passed *= rate
        # Later times may be none of Python's.
        return self._origin + passed if passed < LATEST - self._origin else LATEST

    def _caught_up(self, passed: timedelta) -> timedelta:
        """Return how far it has caught up with the wall in this time; negative when it was ahead."""
        return min(self.behind, passed) if self.behind > timedelta() else max(self.behind, -passed / 2)

    def wall_was_set(self, step: timedelta) -> None:
        """Adjust to a step of the wall time: the clock continues from its present time, and a real clock returns to its
        distance from the wall time."""
        wall = self.wall()
        now = self.at(wall - step)
        behind = self.behind - self._caught_up(wall - step - self._anchor)
        self._anchor, self._origin, self.latest = wall, now, wall
        self.behind = behind + step if self.mode == "real" else timedelta()

    def wall_seconds(self, span: timedelta) -> float:
        """Return the seconds of wall time for a real wait of `span`: less under a fast clock, never more."""
        return span.total_seconds() / max(1.0, self.rate)

    def seconds_between(self, now: datetime, due: datetime) -> float:
        """Return the wall seconds from sandbox time `now` until `due`, or fewer while it catches up; only for running
        clocks."""
        if due > LATEST:
            return NEVER_S
        rate = 2.0 if self.behind > timedelta() else self.rate
        return max(0.0, (due - now).total_seconds() / rate)

    def move_to(self, now: datetime) -> None:
        """Move forward to `now`; an earlier time is ignored."""
        if now > self.now():
            self._anchor, self._origin, self.behind = self.wall(), now, timedelta()

    def set(self, mode: str | None = None, rate: float | None = None, now: datetime | None = None) -> None:
        """Change mode, rate or time atomically. Raises `Unacceptable` before any change."""
        current = self.now()
        if now is not None and now < current:
            shown = current.astimezone(SERVICE_ZONE).isoformat()
            text = f"the clock cannot go back: it is {shown}; reset the sandbox to begin again"
            raise Unacceptable("clock_goes_back", text, "now")
        new_mode = mode or self.mode
        new_rate = effective_rate(new_mode, rate if rate is not None else (self.rate or 1.0))
        self._anchor, self._origin, self.behind = self.wall(), now or current, timedelta()
        self.mode, self.rate = new_mode, new_rate


def effective_rate(mode: str, rate: float) -> float:
    """Return the rate of a mode. Raises `Unacceptable` for an invalid mode or rate."""
    if mode == "manual":
        return 0.0
    if mode == "real":
        return 1.0
    if mode != "xN":
        raise Unacceptable("unknown_clock_mode", f"clock mode {mode!r} is not one of real, manual, xN", "mode")
    if not RATE_MIN <= rate <= RATE_MAX:
        text = f"the rate of an xN clock is from {RATE_MIN:g} to {RATE_MAX:.0f}"
        raise Unacceptable("bad_clock_rate", text, "rate")
    return rate


def parse_mode(text: str) -> tuple[str, float]:
    """Parse `real`, `manual` or `x60` into mode and rate. Raises `Unacceptable`."""
    if text in ("real", "manual"):
        return text, 1.0
    if text.startswith("x") and text[1:].replace(".", "", 1).isdecimal() and text.isascii():
        rate = float(text[1:])
        effective_rate("xN", rate)
        return "xN", rate
    raise Unacceptable("unknown_clock_mode", f"clock {text!r} is not one of real, manual, x60 (any number)", "mode")


DIFFERENCE_MAX: Final = timedelta(seconds=5)
COMPARED_EVERY_S: Final = 60.0


class MachineTime:
    """The wall time by the monotonic clock, which runs evenly even when the machine's clock is set. The time advances
    by whole milliseconds: inputs that arrive together have the same time, and what they make due is processed together.

    `compare` is called once a minute, and with each request. When the machine's clock was set, this clock adopts the
    new time and calls `on_step` with the difference.
    """

    def __init__(self, wall: Wall, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic_s = monotonic_s
        self._set(wall(), int(monotonic_s() * 1000))
        self.on_step: Callable[[timedelta], None] = lambda step: None
        self.is_running = False  # between `start` and `close`
        self._timer: asyncio.TimerHandle | None = None

    def _set(self, wall: datetime, now_ms: int) -> None:
        self._offset_s = wall.timestamp() - now_ms / 1000
        self._latest = now_ms, wall  # the last time that was read

    def __call__(self) -> datetime:
        now_ms, (latest_ms, latest) = int(self._monotonic_s() * 1000), self._latest
        if now_ms != latest_ms:
            latest = datetime.fromtimestamp(self._offset_s + now_ms / 1000, UTC)
            self._latest = now_ms, latest
        return latest

    def compare(self) -> None:
        """Adopt the machine's time when it differs by more than `DIFFERENCE_MAX`."""
        wall = self._wall()
        step = wall - self()
        if abs(step) > DIFFERENCE_MAX:
            self._set(wall, self._latest[0])
            self.on_step(step)

    def start(self) -> None:
        """Compare now and every minute; needs a running event loop."""
        self.compare()
        self.is_running = True
        self._timer = asyncio.get_running_loop().call_later(COMPARED_EVERY_S, self.start)

    def close(self) -> None:
        """Stop comparing."""
        self.is_running = False
        if self._timer is not None:
            self._timer.cancel()
