"""A world: the application in a loop of virtual time, with clients, receivers and an unreliable network.

`begin` starts the process from what is on disk, `crash` throws the process away.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import msgspec

from simulator.api import pipeline
from simulator.app import App, build_app
from simulator.domain.errors import DomainError
from simulator.options import Options
from simulator.runtime import courier, driver, lanes
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import SandboxSpec
from simulator.runtime.operations import reported
from tools.worlds.answers import Answers
from tools.worlds.background import LoopWorker, beside_nothing
from tools.worlds.clients import Answered, Clients, Then, nobody
from tools.worlds.disk import Disk, Killed
from tools.worlds.invariants import Invariants
from tools.worlds.loop import Stalled, virtual_loop
from tools.worlds.memory import Awaited, Life
from tools.worlds.network import Network
from tools.worlds.randomness import drawn_for
from tools.worlds.restarts import go_on
from tools.worlds.scenarios import VARIANTS, variant
from tools.worlds.snapshots import taken_here

PATIENCE_S = 6 * 3600.0
"""The timeout of any operation, in the world's time."""
KEPT_EVERY = 10
"""A process has a disk in 1 of this number of worlds."""
START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Setting:
    """The setting of a world, drawn from its seed: variant of the scenario, clock mode, work per turn of the loop
    (small in some worlds), idle time after which sandboxes are deleted, whether the process is stopped in the middle of
    its work, and whether it has a disk."""

    variant: int
    mode: str
    items_per_turn: int
    started_per_turn: int
    mood: str
    sandbox_ttl_s: float | None = None
    is_hurried: bool = False
    is_kept: bool = False


def setting_of(seed: int) -> Setting:
    """Return the setting of a seed."""
    random = drawn_for("setting", seed)
    return Setting(
        variant=random.randrange(VARIANTS),
        mode=random.choice(("real", "real", "manual", "manual", "xN")),
        items_per_turn=random.choice((1, 2, 5, driver.ITEMS_PER_TURN_MAX)),
        started_per_turn=random.choice((1, 2, lanes.STARTED_PER_TURN_MAX)),
        mood=random.choice(("fine", "mixed", "mixed", "mixed", "lying")),
        sandbox_ttl_s=random.choice((None, None, 400.0)),
        is_hurried=random.random() < 0.2,
        is_kept=seed % KEPT_EVERY == 8,
    )


class World:
    """A world. `digest` covers every byte that left the application, to clients and to receivers."""

    def __init__(self, seed: int, setting: Setting, *, keeps_bytes: bool = False) -> None:
        self.seed = seed
        self.setting = setting
        self.loop = virtual_loop(seed)
        delays = drawn_for("delays", seed)
        self.worker = LoopWorker(self.loop, lambda: delays.choice((0.0, 0.0, 0.02, 1.5)))
        self.lives: dict[str, Life] = {}
        self.awaited: list[Awaited] = []
        self.renewed: Counter[str] = Counter()
        self.bytes: list[tuple[str, bytes]] | None = [] if keeps_bytes else None
        self.disks: list[Disk] = []  # the last disk belongs to the running process
        self._digest = hashlib.blake2b()
        self._mistakes = reported()
        self.network = Network(seed, lambda owner: self.app.sandboxes.find(owner))
        self.network.usual_mood = setting.mood
        self.network.log = self.log
        self.invariants = Invariants(self.network)
        self.answers = Answers(self.loop, self.life, self.check_clocks, self.log, seed)
        self.begin()

    # The process

    def begin(self, found: Killed | None = None) -> None:
        """Start the process from what an earlier process left, if any."""
        mode = None if self.setting.mode == "xN" else self.setting.mode
        options = Options(mode=mode, sandbox_ttl_s=self.setting.sandbox_ttl_s)
        first = variant(self.setting.variant, self.setting.mode)
        disk = Disk(self, str(len(self.disks)), found) if self.setting.is_kept else None
        wrap_sender = None if disk is None else disk.gated
        self.app: App = build_app(options, self.wall, self.network, scenario=first, wrap_sender=wrap_sender)
        self.app.sandboxes.events.boot = "00000000"  # the one thing that is drawn without a seed
        before: Clients | None = getattr(self, "clients", None)
        self.clients = Clients(self.loop, self.app, self.wall_s, self.answers.judge, self._when_durable)
        if found is None:
            self.lives.clear()
            self.renewed = Counter({"default": 1, "box-a": 1})
            second = variant((self.setting.variant + 3) % VARIANTS, "manual")
            self.app.sandboxes.create(SandboxSpec(second, "box-a"))
        elif before is not None:
            self.clients.go_on(before)
        if disk is not None:
            self.disks.append(disk)
            disk.keep()
        if found is not None:
            go_on(self, found)
        self.loop.call_soon(self.app.sandboxes.start, self.loop.time)
        self.loop.settle()
        self.look()

    def crash(self) -> None:
        """End the process as `kill -9` does."""
        self.loop.forget()
        self.loop.errors.clear()
        self.network.in_air = 0
        self.worker.waiting = 0
        self.awaited.clear()

    def killed(self, found: Killed) -> None:
        """Continue from what a killed process left."""
        self.crash()
        self.begin(found)

    def spare(self) -> None:
        """Stop killing the process."""
        for disk in self.disks:
            disk.kill_at = None

    def _when_durable(self) -> None:
        """Commit before an answer is sent. The server waits for the commit; here it is made at once."""
        if self.disks:
            self.disks[-1].commit()

    def wall(self) -> datetime:
        """Return the wall-clock time."""
        return START + timedelta(microseconds=self.loop.now_us)

    def wall_s(self) -> float:
        """Return the wall-clock time as Unix time in seconds."""
        return self.wall().timestamp()

    def moment(self, unix_s: float) -> datetime:
        """Format a moment for requests."""
        return datetime.fromtimestamp(unix_s, UTC)

    def to(self, box: str, method: str, path: str, body: Any = None, then: Then = nobody) -> None:
        """Send a request to a sandbox's control API; `then` gets the answer."""
        content = b"" if body is None else msgspec.json.encode(body)
        self.clients.control(method, f"/sandboxes/{box}{path}", content, then)

    def control(self, work: Coroutine[Any, Any, Any]) -> None:
        """Change the application without a request; a refusal counts as an answer."""

        async def refusable() -> None:
            with suppress(DomainError):
                await work

        task = self.loop.create_task(refusable())
        self.clients.tasks.add(task)
        task.add_done_callback(self.clients.tasks.discard)

    def wait_for(self, task: "asyncio.Task[Answered]") -> Answered:
        """Return the answer to a request, however long it takes. Raise `Stalled`."""

        async def answer() -> Answered:
            return await task

        answered: Answered = self.loop.run(answer(), PATIENCE_S)
        return answered

    # Observation

    def log(self, what: str, content: bytes) -> None:
        """Add bytes that left the application to the digest."""
        if self.bytes is not None:
            self.bytes.append((what, content))
        self._digest.update(what.encode())
        self._digest.update(content)

    @property
    def digest(self) -> str:
        """The digest of all bytes so far."""
        return self._digest.hexdigest()

    def find(self, box: str) -> LiveSandbox | None:
        """Return the sandbox of this name, or None."""
        return self.app.sandboxes.find(box)

    def life(self, box: str) -> Life | None:
        """Return the current life of a sandbox. During a reset, the journal is new and the core is old."""
        live = self.find(box)
        if live is None:
            return None
        known = self.lives.get(box)
        if known is None or known.live is not live or (known.core is not live.core and not live.is_closed):
            if not self.renewed[box]:
                self.answers.problems.append(f"{box} begins anew, and nobody asked for it")
            self.renewed[box] -= 1
            answers = known.answers if known is not None and known.journal is live.journal else 0
            known = self.lives[box] = Life(live, live.core, live.journal, answers=answers)
            known.products = {code: one.is_active for code, one in live.core.state.catalog.products.items()}
        if known.journal is not live.journal:
            known.journal, known.answers = live.journal, 0
        return known

    def check_clocks(self) -> None:
        """Check the time of every sandbox."""
        for life in self.lives.values():
            if life.live.core is life.core and not life.live.is_closed:
                self.invariants.check_clock(life)

    def look(self) -> None:
        """Check the invariants that hold after each step."""
        for live in self.app.sandboxes:
            life = self.life(live.id)
            if life is not None and not live.is_closed:
                self.invariants.check(life)
        for one in [one for one in self.awaited if one.is_over()]:
            self.awaited.remove(one)
            self.answers.problems += one.problem()

    def look_at_all(self) -> None:
        """Check all records."""
        for live in self.app.sandboxes:
            life = self.life(live.id)
            if life is not None and not live.is_closed:
                self.invariants.check_all(life)

    def problems(self) -> list[str]:
        """Return the broken invariants so far."""
        mistakes = reported() - self._mistakes
        told = [f"nothing foresaw {mistakes} exceptions, which the log has"] if mistakes else []
        return [*self.invariants.problems, *self.answers.problems, *self.network.problems, *self.loop.errors, *told]


@contextmanager
def world(seed: int, setting: Setting, *, keeps_bytes: bool = False) -> Iterator[World]:
    """Create a world and remove it afterwards."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(driver, "ITEMS_PER_TURN_MAX", setting.items_per_turn))
        stack.enter_context(patch.object(lanes, "STARTED_PER_TURN_MAX", setting.started_per_turn))
        made = World(seed, setting, keeps_bytes=keeps_bytes)
        for measuring in (pipeline, courier):  # its duration by the only clock
            stack.enter_context(patch.object(measuring, "perf_counter", made.loop.time))
        stack.enter_context(beside_nothing(made.worker))
        delays = drawn_for("snapshots", seed)
        stack.enter_context(taken_here(lambda: delays.choice((0.0, 0.0, 0.02, 5.0)), made.answers.problems.append))
        try:
            yield made
        finally:
            before = logging.root.manager.disable
            logging.disable()
            made.spare()
            with suppress(Stalled):
                made.loop.bury()
            for disk in reversed(made.disks):  # a later disk uses the folder of an earlier disk
                disk.remove()
            logging.disable(before)
