"""The disk of a world: a real folder that keeps the sandboxes, and copies of it as killed processes would leave it.

The folder is copied just before and just after some commits. At the end some copies are opened, and must have the
sandboxes as of the commit before. The world continues from other copies, see `restarts`.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from simulator.domain.sandbox import Sandbox as Core
from simulator.persistence import data_folder as folders
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.errors import StoreError
from simulator.persistence.replay.player import Player
from simulator.persistence.replay.rebuilding import resume_after_restart
from simulator.persistence.restoration import CannotResume, Restorer
from simulator.persistence.store import Store
from simulator.runtime.courier import Sender
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.stores import as_killed
from tools.worlds.randomness import drawn_for
from tools.worlds.sandbox_view import stored_view_of
from tools.worlds.snapshots import take

if TYPE_CHECKING:
    from tools.worlds.world import World

COMMITS = 1_500
"""The folder is copied, and snapshots are taken, at some of the first commits up to this number."""
FIRST = 20
"""The number of commits before the first snapshot."""
COPIES = 2
SNAPSHOTS = 12


class Sandbox(NamedTuple):
    """A running sandbox, and the view of it at a commit."""

    live: LiveSandbox
    core: Core
    seen: dict[str, Any]


@dataclass(frozen=True)
class Killed:
    """The folder that a killed process left, and its running sandboxes at that moment."""

    folder: Path
    when: str
    sandboxes: dict[str, Sandbox]


class ProcessKilled(KeyboardInterrupt):
    """The process was killed; the loop does not catch this."""

    def __init__(self, left: Killed) -> None:
        super().__init__(left.when)
        self.left = left


def kept(made: "World") -> list[str]:
    """Return what a restart would lack, now or at an earlier kill. This is a proof of a run."""
    return [problem for disk in made.disks for problem in disk.problems(is_in_use=disk is made.disks[-1])]


class Disk:
    """Keeps the sandboxes of a process of a world in a folder, which is new or left by an earlier process."""

    def __init__(self, world: "World", name: str, found: Killed | None) -> None:
        random = drawn_for(f"disk {name}", world.seed)
        self._world = world
        self._own = Path(tempfile.mkdtemp())
        self._folder = self._own / "data" if found is None else found.folder
        self._kept = DataFolder(self._folder, "process", self._failed, self._told)
        self._commits = 0
        self._copies = set(random.sample(range(2, COMMITS), COPIES))
        self._snapshots = set(random.sample(range(FIRST, COMMITS), SNAPSHOTS))
        self._before: dict[str, Sandbox] = {}
        self.kill_at: tuple[int, bool] | None = None  # the number of a commit, and whether just before it
        self.killed: list[Killed] = []
        self.went_on: dict[str, dict[str, Any]] = {}  # the view of sandboxes before they continued
        self._store: Store = self._kept._store
        self._request = self._store.request_commit
        self._store.request_commit = self._commit  # type: ignore[method-assign]
        world.network.is_durable = self._is_durable

    def keep(self) -> None:
        """Restore the application from the folder, then keep its sandboxes."""
        with patch.object(folders, "resume_after_restart", self._resume):
            self._kept.keep(self._world.app)
        self._world.loop.call_soon(self._kept.start)

    def gated(self, sender: Sender) -> Sender:
        """Return a sender that waits for commits."""
        return self._kept.gated(sender)

    def commit(self) -> None:
        """Commit everything written so far."""
        self._kept.gate.commit()

    def kill_in(self, commits: int, *, is_before: bool) -> None:
        """Raise `ProcessKilled` around a commit, after so many others."""
        if self.kill_at is None:
            self.kill_at = self._commits + 1 + commits, is_before
            self._before = self._sandboxes()  # all that happened is on the disk between two steps

    def left_now(self) -> Killed:
        """Return the state that a kill would leave now."""
        self.kill_at = None
        return self._copy("between two steps", self._sandboxes())

    def remove(self) -> None:
        """Close the store and delete the folder."""
        self._kept.close()
        shutil.rmtree(self._own)

    def problems(self, *, is_in_use: bool) -> list[str]:
        """Return what the copies lack, and what the folder lacks now if the process still runs."""
        if is_in_use:
            self.commit()
            self.killed.append(self._copy("at the end", self._sandboxes()))
        return [problem for one in self.killed for problem in self._problems(one)]

    def _is_durable(self) -> bool:
        gate = self._kept.gate
        return not gate._has_new and gate._durable == gate._requested

    def _resume(self, player: Player, *arguments: Any) -> LiveSandbox:
        player.end()
        self.went_on[player.live.id] = stored_view_of(player.live)
        return resume_after_restart(player, *arguments)

    def _commit(self, on_commit: Callable[[StoreError | None], object]) -> None:
        self._commits += 1
        kill_at, is_before = self.kill_at or (0, False)
        if self._commits == kill_at and is_before:
            self.kill_at = None
            raise ProcessKilled(self._copy(f"before commit {kill_at}", self._before))
        is_copied = self._commits in self._copies
        if is_copied:
            self.killed.append(self._copy(f"before commit {self._commits}", self._before))
        self._request(on_commit)
        if self._commits == kill_at:
            self.kill_at = None
            raise ProcessKilled(self._copy(f"after commit {kill_at}", self._sandboxes()))
        if is_copied:
            self.killed.append(self._copy(f"after commit {self._commits}", self._sandboxes()))
        if self._commits + 1 in self._copies or self._commits + 1 == kill_at:
            self._before = self._sandboxes()
        if self._commits in self._snapshots:
            self._world.loop.call_soon(self._take_snapshots)

    def _copy(self, when: str, sandboxes: dict[str, Sandbox]) -> Killed:
        target = Path(tempfile.mkdtemp(dir=self._own)) / "killed"
        return Killed(as_killed(self._folder, target), when, sandboxes)

    def _sandboxes(self) -> dict[str, Sandbox]:
        running = (live for live in self._world.app.sandboxes if not live.is_closed)
        return {live.id: Sandbox(live, live.core, stored_view_of(live)) for live in running}

    def _take_snapshots(self) -> None:
        saver = self._kept._schedule
        assert saver is not None, "the application is kept"
        self._world.loop.create_task(take(saver, list(self._world.app.sandboxes)))

    def _problems(self, one: Killed) -> list[str]:
        app = self._world.app
        with Store(one.folder, version="simulated") as store:
            resuming = Restorer(store.reader, app.replayer, app.sandboxes.surroundings, app.scenario)
            found = {}
            for kept in store.reader.lives():
                try:
                    resumed = resuming.restore(kept)
                except CannotResume as error:
                    return [f"killed {one.when}: {error}"]
                resumed.player.end()
                found[kept.sandbox] = stored_view_of(resumed.player.live)
        return lacking(one, found)

    def _failed(self, error: StoreError) -> None:
        self._world.answers.problems.append(f"the disk failed: {error}")

    def _told(self, line: str) -> None:
        if "passed over" in line:
            self._world.answers.problems.append(line)


def lacking(left: Killed, found: dict[str, dict[str, Any]]) -> list[str]:
    """Return the differences between the `found` sandboxes and those at the time of the kill."""
    return [
        f"killed {left.when}: {box}: {name}: {was} was {found.get(box, {}).get(name)} after a restart"
        for box, one in left.sandboxes.items()
        for name, was in one.seen.items()
        if found.get(box, {}).get(name) != was
    ]
