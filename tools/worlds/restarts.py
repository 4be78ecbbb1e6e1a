"""Continue a world from the disk of a killed process, and check that all acknowledged records are still true.

Only committed inputs are acknowledged, so every acknowledged input must be there. Committed inputs without an
acknowledgement are allowed.
"""

from typing import TYPE_CHECKING

from simulator.persistence.replay.rebuilding import ENDED
from simulator.runtime.live_sandbox import LiveSandbox
from tools.worlds.disk import Killed, lacking
from tools.worlds.memory import Life

if TYPE_CHECKING:
    from tools.worlds.world import World


def go_on(world: "World", left: Killed) -> None:
    """Compare the restored application with the records, and start a new life for each of its sandboxes."""
    world.answers.problems += lacking(left, world.disks[-1].went_on)
    lives = dict(world.lives)
    world.lives.clear()
    for live in world.app.sandboxes:
        known, was = lives.get(live.id), left.sandboxes.get(live.id)
        if was is not None:
            world.network.carry(was.core, live)
            world.answers.problems += _interrupted(live, was.seen["begun"])
        if known is not None and (was is None or known.core is was.core):
            world.lives[live.id] = known.gone_on(live)
        else:  # the sandbox started over, and no check has seen it yet
            world.renewed[live.id] -= 1
            if world.renewed[live.id] < 0:
                world.answers.problems.append(f"{live.id} began anew, and nobody asked for it")
            core = live.core if was is None else was.core
            world.lives[live.id] = Life(live, core, live.journal).gone_on(live)


def _interrupted(live: LiveSandbox, begun: list[tuple[str, int]]) -> list[str]:
    """Check that the attempts that were in flight have ended without success."""
    found = []
    for job, number in begun:
        one = live.core.state.callbacks.find(job) or live.core.state.deliveries.find(job)
        result = None if one is None else one.attempts[number - 1].result
        if one is not None and (result is None or result.error != ENDED):
            found.append(f"{live.id}: attempt {number} of {job} was in the air at the end of the process: {result}")
    return found
