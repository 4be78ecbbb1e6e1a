"""The disk of a world: a real folder in which its sandboxes are kept, and what a killed process leaves of it.

The process is killed, in effect, just before and just after some of the commits: each time the folder is copied as it
is then. When the world is over, each copy is opened, and has to have what the sandboxes were at the commit before.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.keeping.folder import DataFolder
from simulator.keeping.resuming import CannotGoOn, Resuming
from simulator.runtime.courier import Sender
from simulator.tape.store.errors import StoreError
from simulator.tape.store.store import Store
from tests.support.simulation.randomness import drawn_for
from tests.support.simulation.seen import seen_of
from tests.support.simulation.snapshots import take
from tests.support.stores import as_killed

if TYPE_CHECKING:
    from tests.support.simulation.world import World

COMMITS = 1_500
"""Of the first so many, some are those around which the process is killed."""
KILLS = 4
SNAPSHOTS = 12


def kept(made: "World") -> list[str]:
    """A proof of a run: what a restart would lack, or would have lacked on the way."""
    return [problem for disk in made.disks for problem in disk.problems(is_in_use=disk is made.disks[-1])]


@dataclass(frozen=True)
class Killed:
    """What a process left that was killed, and what its sandboxes were then, those that ran."""

    folder: Path
    when: str
    sandboxes: dict[str, dict[str, Any]]


class Disk:
    """Keeps the sandboxes of one process of a world, from its beginning on."""

    def __init__(self, world: "World", name: str) -> None:
        random = drawn_for(f"disk {name}", world.seed)
        self._world = world
        self._folder = Path(tempfile.mkdtemp())
        self._kept = DataFolder(self._folder / "data", "process", self._failed, lambda line: None)
        self._commits = 0
        self._kills = set(random.sample(range(2, COMMITS), KILLS))
        self._snapshots = set(random.sample(range(COMMITS), SNAPSHOTS))
        self._before: dict[str, dict[str, Any]] = {}
        self._is_busy = False
        self.killed: list[Killed] = []
        self._store: Store = self._kept._store
        self._request = self._store.request_commit
        self._store.request_commit = self._commit  # type: ignore[method-assign]

    def keep(self) -> None:
        """Keep what the application has."""
        self._kept.keep(self._world.app)
        self._world.loop.call_soon(self._kept.start)

    def gated(self, sender: Sender) -> Sender:
        """A sender that waits for the disk."""
        return self._kept.gated(sender)

    def remove(self) -> None:
        """Take it down."""
        self._kept.close()
        shutil.rmtree(self._folder)

    def problems(self, *, is_in_use: bool) -> list[str]:
        """What copies of the folder lacked, and what it lacks now, if the process still runs."""
        if is_in_use:
            self._kept.gate.commit()
            self._kill("at the end", self._seen())
        return [problem for one in self.killed for problem in self._problems(one)]

    def _commit(self, done: Callable[[StoreError | None], object]) -> None:
        self._commits += 1
        is_killed = self._commits in self._kills
        if is_killed:
            self._kill(f"before commit {self._commits}", self._before)
        self._request(done)
        if is_killed:
            self._kill(f"after commit {self._commits}", self._seen())
        if self._commits + 1 in self._kills:
            self._before = self._seen()
        if self._commits in self._snapshots:
            self._world.loop.call_soon(self._take_snapshots)

    def _kill(self, when: str, sandboxes: dict[str, dict[str, Any]]) -> None:
        target = self._folder / f"killed-{len(self.killed)}"
        self.killed.append(Killed(as_killed(self._folder / "data", target), when, sandboxes))

    def _seen(self) -> dict[str, dict[str, Any]]:
        return {live.id: seen_of(live) for live in self._world.app.sandboxes if not live.is_closed}

    def _take_snapshots(self) -> None:
        saver = self._kept._saving
        assert saver is not None, "the application is kept"
        self._world.loop.create_task(take(saver, list(self._world.app.sandboxes)))

    def _problems(self, one: Killed) -> list[str]:
        app = self._world.app
        with Store.open(one.folder, version="simulated") as store:
            resuming = Resuming(store.reading, app.again, app.surroundings(), app.scenario)
            found = {}
            for kept in store.reading.sandboxes():
                try:
                    player = resuming.resumed(kept).player
                except CannotGoOn as error:
                    return [f"killed {one.when}: {error}"]
                player.end()
                found[kept.name] = seen_of(player.live)
        return [
            f"killed {one.when}: {box}: {name}: {was} was {found.get(box, {}).get(name)} after a restart"
            for box, before in one.sandboxes.items()
            for name, was in before.items()
            if found.get(box, {}).get(name) != was
        ]

    def _failed(self, error: StoreError) -> None:
        self._world.answers.problems.append(f"the disk failed: {error}")
