"""A world: the application in a loop of virtual time, with clients, receivers and a network that lie, one step after the
other, and what must be true looked at after each.

Two seams are for what a sandbox keeps beside its memory: `begin` builds the process and `crash` throws it away, so that
whatever outlives it is what `begin` finds; and `proofs` are looked at after the run, with the world as it ended.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from unittest.mock import patch

from simulator.app import App, build_app
from simulator.domain.errors import DomainError
from simulator.options import Options
from simulator.runtime import driver, lanes
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.simulation.answers import Answers
from tests.support.simulation.background import LoopWorker, beside_nothing
from tests.support.simulation.clients import Clients
from tests.support.simulation.invariants import Invariants
from tests.support.simulation.loop import Stalled, VirtualLoop
from tests.support.simulation.memory import Life
from tests.support.simulation.network import Network
from tests.support.simulation.scenarios import VARIANTS, variant
from tests.support.simulation.steps import Step, run_step

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
ALL_CHECKED_EVERY = 100
"""All records are walked after so many steps, and at the end."""
QUIET_S = 6 * 3600.0
"""How long a world may take to come to rest, by its own time."""


class Broken(AssertionError):
    """What must be true was not, after the step with this `place`."""

    def __init__(self, place: int, problems: Sequence[str]) -> None:
        super().__init__(f"after step {place}: " + "; ".join(problems[:5]))
        self.place = place


@dataclass(frozen=True)
class Setting:
    """How a world begins, drawn from its seed: the variant of the scenario, the mode of the clock, and how much the
    application does in one turn, which is little in some worlds so that turns are many."""

    variant: int
    mode: str
    items_per_turn: int
    started_per_turn: int
    mood: str


def setting_of(seed: int) -> Setting:
    """The setting of a seed."""
    random = Random(f"setting of {seed}")  # noqa: S311  # it can be repeated
    return Setting(
        variant=random.randrange(VARIANTS),
        mode=random.choice(("real", "real", "manual", "manual", "xN")),
        items_per_turn=random.choice((1, 2, 5, driver.ITEMS_PER_TURN_MAX)),
        started_per_turn=random.choice((1, 2, lanes.STARTED_PER_TURN_MAX)),
        mood=random.choice(("fine", "mixed", "mixed", "mixed", "lying")),
    )


class World:
    """One world. `digest` is of every byte that left the application, to clients and to receivers."""

    def __init__(self, seed: int, setting: Setting, *, keeps_bytes: bool = False) -> None:
        self.seed = seed
        self.setting = setting
        self.random = Random(f"ties of {seed}")  # noqa: S311  # it can be repeated
        self.loop = VirtualLoop(self.random)
        self.worker = LoopWorker(self.loop, lambda: self.random.choice((0.0, 0.0, 0.02, 1.5)))
        self.lives: dict[str, Life] = {}
        self.renewed: set[str] = set()
        self.bytes: list[tuple[str, bytes]] | None = [] if keeps_bytes else None
        self._digest = hashlib.blake2b()
        self.network = Network(seed, lambda owner: self.app.sandboxes.find(owner))
        self.network.usual_mood = setting.mood
        self.network.log = self.log
        self.invariants = Invariants(self.network)
        self.answers = Answers(self.loop, self.life, self.log, seed)
        self.begin()

    # The process

    def begin(self) -> None:
        """Start the process: the application, with what outlived an earlier one, which is nothing."""
        options = Options(mode=None if self.setting.mode == "xN" else self.setting.mode)
        first = variant(self.setting.variant, self.setting.mode)
        self.app: App = build_app(options, self.wall, self.network, scenario=first)
        self.clients = Clients(self.loop, self.app, self.wall_s, self.answers.judge)
        self.lives.clear()
        self.renewed = {"default"}
        self.loop.call_soon(self.app.sandboxes.start, self.loop.time)
        self.loop.settle()
        self.look()

    def crash(self) -> None:
        """End the process as `kill -9` does: nothing that it would have done happens any more."""
        self.loop.forget()
        self.network.in_air = 0
        self.worker.waiting = 0

    def wall(self) -> datetime:
        """The time of the wall."""
        return START + timedelta(microseconds=self.loop.now_us)

    def wall_s(self) -> float:
        """The same as Unix time, in seconds."""
        return self.wall().timestamp()

    def moment(self, unix_s: float) -> datetime:
        """A moment as others write it."""
        return datetime.fromtimestamp(unix_s, UTC)

    def control(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something to the application that comes from no request; a refusal is its answer."""

        async def refusable() -> None:
            with suppress(DomainError):
                await work

        task = self.loop.create_task(refusable())
        self.clients.tasks.add(task)
        task.add_done_callback(self.clients.tasks.discard)

    # What is seen of it

    def log(self, what: str, content: bytes) -> None:
        """Write down bytes that left the application."""
        if self.bytes is not None:
            self.bytes.append((what, content))
        self._digest.update(what.encode())
        self._digest.update(content)

    @property
    def digest(self) -> str:
        """Of all bytes until now."""
        return self._digest.hexdigest()

    def find(self, box: str) -> LiveSandbox | None:
        """The sandbox of this name, if there is one."""
        return self.app.sandboxes.find(box)

    def life(self, box: str) -> Life | None:
        """The present life of a sandbox; one that is being reset has its new journal, and its old core."""
        live = self.find(box)
        if live is None:
            return None
        known = self.lives.get(box)
        if known is None or known.live is not live or (known.core is not live.core and not live.is_closed):
            if box not in self.renewed:
                self.answers.problems.append(f"{box} begins anew, and nobody asked for it")
            self.renewed.discard(box)
            answers = known.answers if known is not None and known.journal is live.journal else 0
            known = self.lives[box] = Life(live, live.core, live.journal, answers=answers)
            known.products = {code: one.is_active for code, one in live.core.state.catalog.products.items()}
        if known.journal is not live.journal:
            known.journal, known.answers = live.journal, 0
        return known

    def look(self) -> None:
        """Check what must be true after each step."""
        for live in self.app.sandboxes:
            life = self.life(live.id)
            if life is not None and not live.is_closed:
                self.invariants.check(life)

    def look_at_all(self) -> None:
        """Check all records."""
        for live in self.app.sandboxes:
            life = self.life(live.id)
            if life is not None and not live.is_closed:
                self.invariants.check_all(life)

    def problems(self) -> list[str]:
        """What was not true until now."""
        return [*self.invariants.problems, *self.answers.problems, *self.network.problems, *self.loop.errors]


@contextmanager
def world(seed: int, setting: Setting, *, keeps_bytes: bool = False) -> Iterator[World]:
    """A world that is taken down afterwards, whatever happened in it."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(driver, "ITEMS_PER_TURN_MAX", setting.items_per_turn))
        stack.enter_context(patch.object(lanes, "STARTED_PER_TURN_MAX", setting.started_per_turn))
        made = World(seed, setting, keeps_bytes=keeps_bytes)
        stack.enter_context(beside_nothing(made.worker))
        try:
            yield made
        finally:
            logging.disable()
            with suppress(Stalled):
                made.loop.bury()
            logging.disable(logging.NOTSET)


Proof = Callable[[World], list[str]]


def live_through(
    seed: int,
    steps: Sequence[Step],
    setting: Setting | None = None,
    *,
    proofs: Sequence[Proof] = (),
    keeps_bytes: bool = False,
) -> World:
    """Run these steps in a world of this seed, and bring it to rest. Raises `Broken`."""
    with world(seed, setting or setting_of(seed), keeps_bytes=keeps_bytes) as made:
        for place, one in enumerate(steps):
            _attempt(made, place, lambda one=one: run_step(made, one))  # type: ignore[misc]
            if (place + 1) % ALL_CHECKED_EVERY == 0:
                _attempt(made, place, made.look_at_all)
        _attempt(made, len(steps), lambda: come_to_rest(made))
        for proof in proofs:
            made.answers.problems += proof(made)
        _attempt(made, len(steps), made.loop.settle)
        return made


def _attempt(made: World, place: int, do: Callable[[], None]) -> None:
    """Do something, let all that is ready happen, and look. Raises `Broken`."""
    try:
        do()
        made.loop.settle()
        made.look()
    except Broken:
        raise
    except Exception as error:
        problems = [*made.problems(), f"{type(error).__name__}: {error}"]
        raise Broken(place, problems) from error
    if problems := made.problems():
        raise Broken(place, problems)


def come_to_rest(made: World) -> None:
    """Let receivers be kind and time pass, until nothing is left to do: then everything must be over, and the sandboxes
    end without leaving a task. Raises `Stalled`."""
    made.network.usual_mood = "fine"
    made.network.moods.clear()
    made.loop.pass_time(60.0)  # whoever waits for a body, a fault or a slow receiver
    for _ in range(3):  # what one sandbox does may be due to another's receiver
        for live in made.app.sandboxes:
            made.loop.run(_advance(made, live), QUIET_S)
    made.loop.pass_time(600.0)
    made.look()
    made.look_at_all()
    for live in made.app.sandboxes:
        made.answers.problems += _unrest(live)
    if made.clients.tasks or made.network.in_air or made.worker.waiting:
        what = f"{len(made.clients.tasks)} clients, {made.network.in_air} attempts, {made.worker.waiting} works"
        made.answers.problems.append(f"{what} have not ended")
    made.loop.run(made.app.sandboxes.close(), QUIET_S)
    if left := [task for task in asyncio.all_tasks(made.loop) if not task.done()]:
        raise Stalled(f"tasks are left: {left}")


async def _advance(made: World, live: LiveSandbox) -> None:
    await made.clients.control("POST", f"/sandboxes/{live.id}/clock/advance", b'{"until":"idle"}')


def _unrest(live: LiveSandbox) -> list[str]:
    """What is not over in a sandbox that has come to rest."""
    state, found = live.core.state, []
    if live.driver.is_busy or state.in_flight:
        found.append(f"{live.id} is busy")
    if len(state.agenda):
        found.append(f"{live.id} has {len(state.agenda)} items on its agenda, the first due {state.agenda.next_due}")
    counts = [*state.callback_counts.values(), *state.webhook_counts.values()]
    if any(one.pending for one in counts):
        found.append(f"{live.id} counts jobs that have not ended: {counts}")
    return found
