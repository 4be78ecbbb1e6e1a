"""The data folder of a server, from opening and reading to continuous writing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from simulator import __version__
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.errors import StoreError
from simulator.persistence.gate import Gate, GatedSender
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.replay.rebuilding import resume_after_restart
from simulator.persistence.restoration import CannotResume, Restorer
from simulator.persistence.snapshot_schedule import SnapshotSchedule
from simulator.persistence.store import Durability, Store
from simulator.runtime.clock import Wall
from simulator.runtime.courier import Sender
from simulator.runtime.operations import Operations
from simulator.runtime.sandboxes import DEFAULT, Sandboxes


class Application(Protocol):
    """The application whose sandboxes are stored."""

    sandboxes: Sandboxes
    scenario: Scenario
    wall: Wall
    store: Any
    replayer: Any

    @property
    def operations(self) -> Operations: ...

    async def load(self, scenario: Scenario) -> tuple[str, ...]: ...


class DataFolder:
    """An open folder. `gate` is closed while something is not durable yet. `sandboxes` are the sandboxes found in
    it."""

    def __init__(
        self,
        folder: Path,
        durability: Durability,
        on_failure: Callable[[StoreError], None],
        tell: Callable[[str], None],
    ) -> None:
        """Open or create a folder; `tell` receives log lines about its contents. Raises `StoreError`."""
        self.path = folder
        self._store = Store(folder, durability, version=__version__)
        self.gate = Gate(self._store, on_failure)
        self.sandboxes: list[str] = []
        self._tell = tell
        self._followed = ""
        self._schedule: SnapshotSchedule | None = None
        self._app: Application | None = None

    def keep(self, app: Application, *, follows: str = "") -> None:
        """Restore the sandboxes of the folder into the application, and store all later changes. With `follows`, the
        name of the application's scenario, the default sandbox loads this scenario. Raises `CannotResume` and
        `StoreError`."""
        self._followed = follows
        keeper = StoreKeeper(self._store, self.gate)
        self._schedule = SnapshotSchedule(self._store, self.gate, app.sandboxes)
        restorer = Restorer(self._store.reader, app.replayer, app.sandboxes.surroundings, app.scenario)
        for life in self._store.reader.lives():
            try:
                found = restorer.restore(life)
            except CannotResume as error:
                raise CannotResume(f"{self.path}: {error}") from None
            keeper.follow(found.player.live)
            app.sandboxes.adopt(resume_after_restart(found.player, app.wall, found.left_at))
            self.sandboxes.append(life.sandbox)
            for line in found.passed_over:
                self._tell(f"{self.path}: a snapshot was passed over: {line}")
        app.sandboxes.keeper = keeper
        for live in app.sandboxes:
            live.keeper = keeper
            if live.id not in self.sandboxes:
                keeper.begin(live)
        app.store, self._app = self, app

    def start(self) -> None:
        """Commit at the end of each turn; needs a running event loop."""
        self.gate.start()

    async def start_snapshots(self) -> None:
        """Take snapshots, and load the scenario that the server was given, if any; the clocks of the sandboxes have
        started."""
        if self._schedule is not None:
            self._schedule.start()
        if self._app is not None and DEFAULT in self.sandboxes and self._followed:
            await follow_scenario(self._app, self._followed, self.path, self._tell)

    async def take_last_snapshots(self) -> None:
        """Take the last snapshots while the sandboxes still exist."""
        if self._schedule is not None:
            await self._schedule.end()

    def close(self) -> None:
        """Make the last commit and release the folder. Raises `StoreError`."""
        self.gate.close()
        self._store.close()

    def gated(self, sender: Sender) -> Sender:
        """Return a sender that waits for the gate."""
        return GatedSender(sender, self.gate.until_durable)


async def follow_scenario(app: Application, name: str, place: object, tell: Callable[[str], None]) -> None:
    """Load the scenario of this name into the default sandbox of a store if it has a different scenario."""
    scenario, live = app.scenario, app.sandboxes.get(DEFAULT)
    if scenario.document == live.spec.scenario.document:
        return
    try:
        deferred = await app.load(scenario)
    except DomainError as error:
        tell(f"{name}: not loaded; the previous scenario stays active: {error.message}")
        return
    tell(f"{name}: loaded, since it differs from the scenario in {place}")
    for line in deferred:
        tell(f"{name}: {line}")
