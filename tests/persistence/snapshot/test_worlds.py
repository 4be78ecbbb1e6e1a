"""Whatever happens in a world, the tapes of its sandboxes may be cut by snapshots."""

import pytest

from tests.support.replaying import read_back
from tests.support.snapshots import assert_goes_on
from tools.worlds.runs import live_through
from tools.worlds.steps import draw_steps
from tools.worlds.world import World

STEPS = 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_the_tapes_of_a_world_resume_from_snapshots(seed: int) -> None:
    cut = []

    def goes_on(world: World) -> list[str]:
        for live in world.app.sandboxes:
            tape = read_back(world.app, live, shows_secrets=True)
            count = len(tape.entries)
            cut.append(assert_goes_on(world.app, tape, {count // 7, count // 2, count - 5}))
        return []

    world = live_through(seed, draw_steps(seed, STEPS), proofs=[goes_on])
    assert sum(cut) > 0 or world.setting.is_hurried
