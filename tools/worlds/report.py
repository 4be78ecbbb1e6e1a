"""Report a failing seed: the broken invariant, the shortest steps that break it, and the command that repeats it."""

from collections.abc import Sequence

from tools.worlds import tapes
from tools.worlds.disk import kept
from tools.worlds.runs import Broken, live_through
from tools.worlds.shrinking import shortest
from tools.worlds.steps import Step, draw_steps, written
from tools.worlds.world import Setting, setting_of

WRITTEN_EVERY = 10
"""The tapes of every tenth seed are written and read, too, which takes as long as the world itself."""


def failure_of(seed: int, count: int) -> Broken | None:
    """Return the failure of a seed with this many steps, or None."""
    return failure(seed, draw_steps(seed, count), setting_of(seed))


def failure(seed: int, steps: Sequence[Step], setting: Setting, *, wants_tape: bool = False) -> Broken | None:
    """Run steps in a world and return the failure, or None. Every sandbox is also rebuilt from its tape, in some
    worlds from a written tape, in some from a folder on disk."""
    proofs = (tapes.tapes, tapes.written_tapes) if seed % WRITTEN_EVERY == 0 else (tapes.tapes, kept)
    try:
        live_through(seed, steps, setting, proofs=proofs, wants_tape=wants_tape)
    except Broken as broken:
        return broken
    return None


def explained(seed: int, count: int, broken: Broken) -> str:
    """Return the report on a seed that failed with this many steps."""
    setting = setting_of(seed)
    steps = draw_steps(seed, count)[: broken.place + 1]
    left, is_certain = shortest(steps, lambda some: failure(seed, some, setting) is not None)
    how = "" if is_certain else ", and perhaps fewer: it was tried for as long as there is time"
    again = failure(seed, left, setting, wants_tape=True)
    if again is None:
        return f"seed {seed} of {count} steps fails {broken}\nbut not again, so that it hangs on more than its seed"
    return (
        f"seed {seed} of {count} steps fails {broken}\n"
        f"{len(left)} of its steps suffice{how}, and fail {again}:\n{written(left)}\n"
        f"in {setting}\n"
        f"its tape, for `reseller-sim replay FILE`:\n{again.tape.decode()}"
        f"again: make simulate ARGS='--first {seed} --seeds 1 --steps {count}'"
    )
