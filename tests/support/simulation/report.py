"""What is said of a seed that fails: what was not true, the shortest steps that lead there, and how to do it again."""

from collections.abc import Sequence

from tests.support.simulation.runs import Broken, live_through
from tests.support.simulation.shrinking import shortest
from tests.support.simulation.steps import Step, draw_steps, written
from tests.support.simulation.world import Setting, setting_of


def failure_of(seed: int, count: int) -> Broken | None:
    """How a seed fails with so many steps; None when all is well."""
    return failure(seed, draw_steps(seed, count), setting_of(seed))


def failure(seed: int, steps: Sequence[Step], setting: Setting) -> Broken | None:
    """How these steps fail in a world; None when they do not."""
    try:
        live_through(seed, steps, setting)
    except Broken as broken:
        return broken
    return None


def explained(seed: int, count: int, broken: Broken) -> str:
    """A report on a seed that failed with so many steps."""
    setting = setting_of(seed)
    steps = draw_steps(seed, count)[: broken.place + 1]
    left = shortest(steps, lambda some: failure(seed, some, setting) is not None)
    again = failure(seed, left, setting) or broken
    return (
        f"seed {seed} of {count} steps fails {broken}\n"
        f"{len(left)} of its steps suffice, and fail {again}:\n{written(left)}\n"
        f"in {setting}\n"
        f"again: make simulate ARGS='--first {seed} --seeds 1 --steps {count}'"
    )
