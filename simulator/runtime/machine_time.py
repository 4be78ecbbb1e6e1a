"""The wall's time by the monotonic clock: it runs evenly, however the machine's clock is set meanwhile.

`compare` looks once a minute, and with each request, whether the machine's clock was set. Then this one follows it, and
the clocks of sandboxes are told by how much, so that none leaps.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from simulator.runtime.clock import Wall

DIFFERENCE_MAX: Final = timedelta(seconds=5)
COMPARED_EVERY_S: Final = 60.0

wall_clock: Wall = partial(datetime.now, UTC)  # the current time


class Boot(NamedTuple):
    """A start of the machine: its id, and when it was by the wall."""

    id: str
    at: datetime


def since_boot() -> tuple[str, float] | None:
    """The id of the machine's last start and the seconds since, its suspensions included; None where it has none."""
    try:
        id_ = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return id_, time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError):
        return None


class MachineTime:
    """A wall clock. `on_step` is called with each difference by which the machine's own was set."""

    def __init__(
        self,
        wall: Wall,
        monotonic_s: Callable[[], float] = time.monotonic,
        since_boot: Callable[[], tuple[str, float] | None] = since_boot,
    ) -> None:
        self._wall = wall
        self._since_boot = since_boot
        self._monotonic_s = monotonic_s
        self._base, self._began_s = wall(), monotonic_s()
        self.on_step: Callable[[timedelta], None] = lambda step: None
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> datetime:
        return self._base + timedelta(seconds=self._monotonic_s() - self._began_s)

    def boot(self) -> Boot | None:
        """The machine's last start by this clock: it changes when the clock is set, and only then."""
        found = self._since_boot()
        return None if found is None else Boot(found[0], self() - timedelta(seconds=found[1]))

    def compare(self) -> None:
        """Follow the machine's clock when it was set by more than `DIFFERENCE_MAX`."""
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
        """True from `start` to `close`."""
        return self._timer is not None

    def close(self) -> None:
        """Compare no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
