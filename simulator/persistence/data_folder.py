"""A data folder of a server: opened, read, and written from then on.

A note in the folder says when the machine was started, by its clock, and which real clocks are ahead of the wall. A
server that finds another time for the same start knows how far the clock was set since.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import msgspec

from simulator import __version__
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.errors import StoreError
from simulator.persistence.gate import Gate, GatedSender
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.replay.player import Again
from simulator.persistence.replay.rebuilding import Surroundings, return_to_life
from simulator.persistence.restoration import CannotResume, Restorer
from simulator.persistence.snapshot_schedule import SnapshotSchedule
from simulator.persistence.store import Durability, Store
from simulator.runtime.clock import Wall
from simulator.runtime.courier import Sender
from simulator.runtime.keepers import Kept
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.machine_time import Boot, MachineTime, note_clock
from simulator.runtime.sandboxes import DEFAULT, Sandboxes


class Application(Protocol):
    """The application whose sandboxes are kept."""

    sandboxes: Sandboxes
    scenario: Scenario
    wall: Wall
    kept: Kept | None

    @property
    def again(self) -> Again: ...

    def surroundings(self) -> Surroundings: ...

    def adopt(self, live: LiveSandbox) -> None: ...

    async def load(self, scenario: Scenario) -> tuple[str, ...]: ...


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
        self._followed = ""
        self._schedule: SnapshotSchedule | None = None
        self._app: Application | None = None

    def keep(self, app: Application, *, follows: str = "") -> None:
        """Let the application have the sandboxes of the folder, each as it was, and keep all that it has from now on.
        With `follows`, the name of the application's scenario, the default sandbox loads that. Raises `CannotResume`
        and `StoreError`."""
        self._followed = follows
        keeper = StoreKeeper(self._store, self.gate)
        self._schedule = SnapshotSchedule(self._store, self.gate, app.sandboxes)
        noted = read_note(self.path)
        step = step_since(noted, app.wall)
        restorer = Restorer(self._store.reader, app.again, app.surroundings(), app.scenario)
        for sandbox in self._store.reader.sandboxes():
            try:
                found = restorer.restore(sandbox)
            except CannotResume as error:
                raise CannotResume(f"{self.path}: {error}") from None
            keeper.follow(found.player.live, found.last_serial)
            ahead = still_ahead(noted, sandbox.name, found.player.now)
            app.adopt(live := return_to_life(found.player, app.wall, found.left_at, step, ahead))
            if step:
                note_clock(live)
            self.sandboxes.append(sandbox.name)
            for line in found.passed_over:
                self._tell(f"{self.path}: a snapshot was passed over: {line}")
        app.sandboxes.keeper = keeper
        for live in app.sandboxes:
            live.keeper = keeper
            if live.id not in self.sandboxes:
                keeper.begin(live)
        app.kept, self._app = self, app
        write_note(self.path, app)

    def wall_was_set(self) -> None:
        """Note how the wall and the clocks are now."""
        if self._app is not None:
            write_note(self.path, self._app)

    def start(self) -> None:
        """Commit at the end of each turn; needs a running event loop."""
        self.gate.start()

    async def go_on(self) -> None:
        """Take snapshots, and follow the scenario that the server was given, if it was given one; the time of the
        sandboxes has started."""
        if self._schedule is not None:
            self._schedule.start()
        if self._app is not None and DEFAULT in self.sandboxes and self._followed:
            await self._follow(self._app)

    async def _follow(self, app: Application) -> None:
        """Load the scenario into the default sandbox, if it is another one than it has."""
        scenario, live = app.scenario, app.sandboxes.get(DEFAULT)
        if scenario.document == live.spec.scenario.document:
            return
        try:
            deferred = await app.load(scenario)
        except DomainError as error:
            self._tell(f"{self._followed}: not loaded; the previous scenario stays active: {error.message}")
            return
        self._tell(f"{self._followed}: loaded, since it is not what {self.path} has")
        for line in deferred:
            self._tell(f"{self._followed}: {line}")

    async def rest(self) -> None:
        """Take the last snapshots, as long as the sandboxes are there."""
        if self._schedule is not None:
            await self._schedule.end()

    def close(self) -> None:
        """Commit the last, and let go of the folder. Raises `StoreError`."""
        self.gate.close()
        self._store.close()

    def gated(self, sender: Sender) -> Sender:
        """A sender that waits for the gate."""
        return GatedSender(sender, self.gate)


BOOT_FILE: Final = ".boot"
CLOCK_NOISE: Final = timedelta(milliseconds=10)  # two clocks are read one after the other


class ClockNote(msgspec.Struct):
    """The machine's start, None where it is not known, and how far real clocks are ahead, each with its time then."""

    boot: Boot | None = None
    ahead: dict[str, tuple[timedelta, datetime]] = {}


def read_note(folder: Path) -> ClockNote:
    """Return the note of a folder, an empty one where there is none."""
    try:
        return msgspec.json.decode((folder / BOOT_FILE).read_bytes(), type=ClockNote)
    except (OSError, ValueError):
        return ClockNote()


def step_since(noted: ClockNote, wall: Wall) -> timedelta | None:
    """How far the wall was set since the note; None when that is not known: without a note, or after another start."""
    boot = wall.boot() if isinstance(wall, MachineTime) else None
    if boot is None or noted.boot is None or boot.id != noted.boot.id:
        return None
    step = boot.at - noted.boot.at
    return step if abs(step) > CLOCK_NOISE else timedelta()


def still_ahead(noted: ClockNote, sandbox: str, now: datetime) -> timedelta:
    """How far a real clock is ahead at its time `now`, as a negative span: since the note it runs at half speed. One
    that was moved meanwhile, or began anew, is where it belongs."""
    by, at = noted.ahead.get(sandbox, (timedelta(), now))
    return min(timedelta(), by + (now - at)) if now >= at else timedelta()


def write_note(folder: Path, app: Application) -> None:
    """Note the present. Without room on the disk there is no note."""
    boot = app.wall.boot() if isinstance(app.wall, MachineTime) else None
    clocks = {live.id: live.clock for live in app.sandboxes}
    ahead = {name: (clock.behind, clock.now()) for name, clock in clocks.items() if clock.behind < timedelta()}
    with suppress(OSError):
        (folder / BOOT_FILE).unlink(missing_ok=True)
        (folder / BOOT_FILE).write_bytes(msgspec.json.encode(ClockNote(boot, ahead)))
