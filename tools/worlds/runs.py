"""Run the steps of a seed: do each step, let its effects happen, and check the invariants.

A `Proof` is a check of the whole world when a run is over.
"""

from collections.abc import Callable, Sequence
from functools import partial

from simulator.runtime.live_sandbox import LiveSandbox
from tools.worlds import client_steps, configured_steps, sandbox_steps, tapes, time_steps, token_steps
from tools.worlds.books import books
from tools.worlds.disk import ProcessKilled
from tools.worlds.loop import Stalled
from tools.worlds.steps import Step, run_step
from tools.worlds.world import PATIENCE_S, Setting, World, setting_of, world

STEPS = (client_steps, configured_steps, sandbox_steps, time_steps, token_steps)  # which register themselves

ALL_CHECKED_EVERY = 100
"""All records are checked after this many steps, and at the end."""
BUSY = 409
ADVANCES_MAX = 200


class Broken(AssertionError):
    """An invariant was broken after the step at `place`. `tape` has the tapes of all sandboxes, if they were
    requested."""

    def __init__(self, place: int, problems: Sequence[str]) -> None:
        super().__init__(f"after step {place}: " + "; ".join(problems[:5]))
        self.place = place
        self.tape = b""


Proof = Callable[[World], list[str]]


def live_through(
    seed: int,
    steps: Sequence[Step],
    setting: Setting | None = None,
    *,
    proofs: Sequence[Proof] = (),
    keeps_bytes: bool = False,
    wants_tape: bool = False,
) -> World:
    """Run steps in a world of this seed until it is idle. Raise `Broken`."""
    with world(seed, setting or setting_of(seed), keeps_bytes=keeps_bytes) as made:
        made.network.on_call = partial(client_steps.call_back, made)
        try:
            _live(made, steps, proofs)
        except Broken as broken:
            broken.tape = tapes.lines(made) if wants_tape else b""
            raise
        return made


def _live(made: World, steps: Sequence[Step], proofs: Sequence[Proof]) -> None:
    for place, one in enumerate(steps):
        _attempt(made, place, partial(run_step, made, one))
        if (place + 1) % ALL_CHECKED_EVERY == 0:
            _attempt(made, place, made.look_at_all)
    made.spare()
    if not made.setting.is_hurried:
        _attempt(made, len(steps), partial(come_to_rest, made))
        _attempt(made, len(steps), partial(_prove, made, books))
    for proof in proofs:
        _attempt(made, len(steps), partial(_prove, made, proof))
    _attempt(made, len(steps), partial(end, made))


def _prove(made: World, proof: Proof) -> None:
    made.answers.problems += proof(made)


def _attempt(made: World, place: int, do: Callable[[], None]) -> None:
    """Do something, run the loop until nothing is ready, and check. Raise `Broken`."""
    try:
        try:
            do()
            made.loop.settle()
        except ProcessKilled as killed:  # the rest of its work does not happen
            made.killed(killed.left)
        made.look()
    except Broken:
        raise
    except Exception as error:
        problems = [*made.problems(), f"{type(error).__name__}: {error}"]
        raise Broken(place, problems) from error
    if problems := made.problems():
        raise Broken(place, problems)


def come_to_rest(made: World) -> None:
    """Make receivers succeed and let time pass until nothing is left to do. Raise `Stalled`."""
    made.network.usual_mood = "fine"
    made.network.moods.clear()
    made.loop.pass_time(400.0)  # ends waits for bodies, faults and slow receivers
    for _ in range(3):  # the work of a sandbox may be due to another sandbox's receiver
        for live in made.app.sandboxes:
            _advance(made, live)
    made.loop.pass_time(600.0)
    made.look()
    made.look_at_all()
    for life in map(made.life, [live.id for live in made.app.sandboxes]):
        if life is not None:
            made.invariants.check_rest(life)
    if made.clients.tasks or made.network.in_air or made.worker.waiting:
        what = f"{len(made.clients.tasks)} clients, {made.network.in_air} attempts, {made.worker.waiting} works"
        made.answers.problems.append(f"{what} have not ended")


def end(made: World) -> None:
    """End the process as SIGTERM does. Raise `Stalled` when a task is left."""
    made.app.sandboxes.end_waits()
    made.loop.settle()
    made.loop.run(made.app.sandboxes.close(), PATIENCE_S)
    made.loop.pass_time(400.0)  # clients who still send; the server would leave them after a while
    if left := made.loop.tasks():
        raise Stalled(f"tasks are left: {left}")


def _advance(made: World, live: LiveSandbox) -> None:
    """Advance until nothing is due, after an advance that may still run."""
    path = f"/sandboxes/{live.id}/clock/advance"
    for _ in range(ADVANCES_MAX):
        if made.wait_for(made.clients.control("POST", path, b'{"until":"idle"}')).status != BUSY:
            return
        made.loop.pass_time(60.0)
