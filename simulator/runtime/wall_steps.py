"""What a server does when its machine's clock was set: it says so, and lets no sandbox leap."""

import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from simulator.runtime.clock import Wall
from simulator.runtime.event_items import Action
from simulator.runtime.machine_time import MachineTime
from simulator.runtime.operations import Operations
from simulator.runtime.sandboxes import Sandboxes


def follow_machine(wall: Wall, sandboxes: Sandboxes, operations: Operations, then: Callable[[], None]) -> None:
    """Compare the machine's clocks from now on, if the wall is the machine's; needs a running event loop. `then` is
    called after each step."""
    if isinstance(wall, MachineTime):
        wall.on_step = partial(_wall_was_set, sandboxes, operations, then)
        wall.start()


def leave_machine(wall: Wall) -> None:
    """Compare them no more."""
    if isinstance(wall, MachineTime):
        wall.close()


def _wall_was_set(sandboxes: Sandboxes, operations: Operations, then: Callable[[], None], step: timedelta) -> None:
    operations.wall_steps += 1
    text = f"the machine's clock was set by {step.total_seconds():+.1f} s"
    for live in sandboxes:
        live.clock.wall_was_set(step)
        live.driver.caught_up_at = None
        live.driver.rearm(live.clock.now(), is_anew=True)
        if live.clock.mode == "xN":
            live.driver.note_clock()
        live.events.note(Action("wall_set", live.clock.now(), text))
    then()
    print(f"{text}: no sandbox leaps; see docs/time.md", file=sys.stderr, flush=True)
