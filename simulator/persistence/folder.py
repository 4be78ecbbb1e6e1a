"""A data folder of a server: opened, read, and written from then on."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from simulator import __version__
from simulator.app import App
from simulator.domain.errors import DomainError
from simulator.persistence.errors import StoreError
from simulator.persistence.gate import Gate
from simulator.persistence.ignored import ignored_flags
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.resuming import CannotGoOn, Resuming
from simulator.persistence.saving import Saving
from simulator.persistence.sending import GatedSender
from simulator.persistence.store import Durability, Store
from simulator.replay.continuing import go_on
from simulator.runtime.courier import Sender
from simulator.runtime.sandboxes import DEFAULT


class DataFolder:
    """An open folder. `gate` is closed while something is not durable yet. `sandboxes` are those that were in it."""

    def __init__(
        self,
        folder: Path,
        durability: Durability,
        on_failure: Callable[[StoreError], None],
        tell: Callable[[str], None],
    ) -> None:
        """Open a folder, or make one; `tell` gets lines about what is done with what is in it. Raises `StoreError`."""
        self.path = folder
        self._store = Store(folder, durability, version=__version__)
        self.gate = Gate(self._store, on_failure)
        self.sandboxes: list[str] = []
        self._tell = tell
        self._follows_scenario = False
        self._saving: Saving | None = None
        self._app: App | None = None
        self._indexing: asyncio.Task[None] | None = None

    @property
    def reads_ahead(self) -> bool:
        """Whether snapshots have been put off for too long by requests that wait for their bodies."""
        return self._saving is not None and self._saving.is_put_off

    def keep(self, app: App, *, follows_scenario: bool = False) -> None:
        """Let the application have the sandboxes of the folder, each as it was, and keep all that it has from now on.
        With `follows_scenario` the default sandbox loads the application's. Raises `CannotGoOn` and `StoreError`."""
        self._follows_scenario = follows_scenario
        keeper = StoreKeeper(self._store, self.gate)
        self._saving = saving = Saving(self._store, self.gate, app.sandboxes, self._tell)
        resuming = Resuming(self._store.reading, app.again, app.surroundings(), app.scenario)
        for one in self._store.reading.sandboxes():
            try:
                found = resuming.resumed(one)
            except CannotGoOn as error:
                raise CannotGoOn(f"{self.path}: {error}") from None
            keeper.follow(found.player.live, found.marks, found.last_serial)
            saving.note(found.player.live.core, found.saved)
            app.adopt(go_on(found.player, app.wall, left_at=found.left_at))
            self.sandboxes.append(one.name)
            for line in found.passed_over:
                self._tell(f"{self.path}: a snapshot was passed over: {line}")
        if DEFAULT in self.sandboxes:
            self._tell_ignored(app)
        app.sandboxes.keeper = keeper
        for live in app.sandboxes:
            live.keeper = keeper
            if live.id not in self.sandboxes:
                keeper.begin(live)
        app.kept, self._app = self, app

    def _tell_ignored(self, app: App) -> None:
        flags = ignored_flags(app, follows_scenario=self._follows_scenario)
        if flags:
            own = "its own" if len(flags) == 1 else "its own of each"
            self._tell(f"{', '.join(flags)}: ignored, since {self.path} has the sandbox {DEFAULT} already, with {own}")

    def start(self) -> None:
        """Commit at the end of each turn; needs a running event loop."""
        self.gate.start()

    async def go_on(self) -> None:
        """Take snapshots, and follow the scenario that the server was given, if it was given one; the time of the
        sandboxes has started."""
        if self._saving is not None:
            self._saving.start()
        if self._app is not None:
            self._indexing = asyncio.create_task(_index(self._app))
        if self._app is not None and DEFAULT in self.sandboxes and self._follows_scenario:
            await self._follow(self._app)

    async def _follow(self, app: App) -> None:
        """Load the scenario into the default sandbox, if it is another one than it has."""
        scenario, live = app.scenario, app.sandboxes.get(DEFAULT)
        if scenario.document == live.spec.scenario.document:
            return
        try:
            deferred = await app.load(scenario)
        except DomainError as error:
            self._tell(f"{app.options.scenario}: not loaded; the previous scenario stays active: {error.message}")
            return
        self._tell(f"{app.options.scenario}: loaded, since it is not what {self.path} has")
        for line in deferred:
            self._tell(f"{app.options.scenario}: {line}")

    async def rest(self) -> None:
        """Take the last snapshots, as long as the sandboxes are there."""
        if self._indexing is not None:
            self._indexing.cancel()
        if self._saving is not None:
            await self._saving.end()

    def close(self) -> None:
        """Commit the last, and let go of the folder. Raises `StoreError`."""
        self.gate.close()
        self._store.close()

    def gated(self, sender: Sender) -> Sender:
        """A sender that waits for the gate."""
        return GatedSender(sender, self.gate)


async def _index(app: App) -> None:
    """Index what was restored, a little in each turn."""
    for live in app.sandboxes:
        for _ in live.core.index_in_slices():
            await asyncio.sleep(0)
