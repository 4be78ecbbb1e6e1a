"""What a server does when its machine's clock was set: it says so, and lets no sandbox leap."""

import sys
from datetime import timedelta
from functools import partial

from simulator.persistence.tape.entries import ClockSet
from simulator.runtime.clock import Wall
from simulator.runtime.event_items import Action
from simulator.runtime.keepers import Kept
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.machine_time import MachineTime
from simulator.runtime.operations import Operations
from simulator.runtime.sandboxes import Sandboxes


def follow_machine(wall: Wall, sandboxes: Sandboxes, operations: Operations, kept: Kept | None) -> None:
    """Compare the machine's clocks from now on, if the wall is the machine's; needs a running event loop."""
    if isinstance(wall, MachineTime):
        wall.on_step = partial(_wall_was_set, sandboxes, operations, kept)
        wall.start()


def compare_machine(wall: Wall) -> None:
    """Compare them now, if they are followed."""
    if isinstance(wall, MachineTime) and wall.is_followed:
        wall.compare()


def leave_machine(wall: Wall) -> None:
    """Compare them no more."""
    if isinstance(wall, MachineTime):
        wall.close()


def note_clock(live: LiveSandbox) -> None:
    """Put on the tape where a fast clock is by the wall, from which a restart counts."""
    if live.clock.mode == "xN":
        live.tape.add(ClockSet(live.clock.now(), live.clock.mode, live.clock.rate))


def _wall_was_set(sandboxes: Sandboxes, operations: Operations, kept: Kept | None, step: timedelta) -> None:
    operations.wall_steps += 1
    text = f"the machine's clock was set by {step.total_seconds():+.1f} s"
    for live in sandboxes:
        live.clock.wall_was_set(step)
        live.driver.caught_up_at = None
        live.driver.rearm(live.clock.now(), is_anew=True)
        note_clock(live)
        live.events.note(Action("wall_set", live.clock.now(), text))
    if kept is not None:
        kept.wall_was_set()
    print(f"{text}: no sandbox leaps; see docs/time.md", file=sys.stderr, flush=True)
