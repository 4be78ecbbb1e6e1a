"""The wall time by the monotonic clock, which runs evenly even when the machine's clock is set.

`compare` checks once a minute, and with each request, whether the machine's clock was set. If so, this clock adopts the
new time, the server logs the step, and the sandboxes' clocks are adjusted by it, so that their time does not jump.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from simulator.persistence.tape.entries import ClockSet
from simulator.runtime.clock import Wall
from simulator.runtime.event_items import Action
from simulator.runtime.operations import Operations
from simulator.runtime.sandboxes import Sandboxes

DIFFERENCE_MAX: Final = timedelta(seconds=5)
COMPARED_EVERY_S: Final = 60.0

wall_clock: Wall = partial(datetime.now, UTC)  # the current time


class MachineTime:
    """A wall clock. `on_step` is called with each difference when the machine's clock was set."""

    def __init__(
        self,
        wall: Wall,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall = wall
        self._monotonic_s = monotonic_s
        self._base, self._began_s = wall(), monotonic_s()
        self.on_step: Callable[[timedelta], None] = lambda step: None
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> datetime:
        return self._base + timedelta(seconds=self._monotonic_s() - self._began_s)

    def compare(self) -> None:
        """Adopt the machine's time when it differs by more than `DIFFERENCE_MAX`."""
        wall = self._wall()
        step = wall - self()
        if abs(step) > DIFFERENCE_MAX:
            self._base, self._began_s = wall, self._monotonic_s()
            self.on_step(step)

    def start(self) -> None:
        """Compare now and every minute; needs a running event loop."""
        self.compare()
        self._timer = asyncio.get_running_loop().call_later(COMPARED_EVERY_S, self.start)

    @property
    def is_followed(self) -> bool:
        """Return whether it is between `start` and `close`."""
        return self._timer is not None

    def close(self) -> None:
        """Stop comparing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def follow_machine(wall: Wall, sandboxes: Sandboxes, operations: Operations) -> None:
    """Compare the machine's clocks from now on, if the wall is the machine's; needs a running event loop."""
    if isinstance(wall, MachineTime):
        wall.on_step = partial(_wall_was_set, sandboxes, operations)
        wall.start()


def compare_machine(wall: Wall) -> None:
    """Compare now with the machine's clock, if it is followed."""
    if isinstance(wall, MachineTime) and wall.is_followed:
        wall.compare()


def leave_machine(wall: Wall) -> None:
    """Stop following the machine's clock."""
    if isinstance(wall, MachineTime):
        wall.close()


def _wall_was_set(sandboxes: Sandboxes, operations: Operations, step: timedelta) -> None:
    operations.wall_steps += 1
    text = f"the machine's clock was set by {step.total_seconds():+.1f} s"
    for live in sandboxes:
        live.clock.wall_was_set(step)
        live.driver.caught_up_at = None
        live.driver.rearm(live.clock.now(), is_anew=True)
        if live.clock.mode == "xN":  # a restart counts from here
            live.tape.add(ClockSet(live.clock.now(), live.clock.mode, live.clock.rate))
        live.events.note(Action("wall_set", live.clock.now(), text))
    print(f"{text}: no sandbox leaps; see docs/time.md", file=sys.stderr, flush=True)
