"""This server as one of several on a PostgreSQL: its start and end, its lease, and whether PostgreSQL answers.

Everything runs in the event loop, apart from `keep`, which runs before it. A server that has lost its lease gives all
its sandboxes up, registers again with a new fencing number, and continues.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Final, Literal

from simulator.persistence.data_folder import Application, follow_scenario
from simulator.persistence.errors import LeaseLost, StoreError, WriteFailed
from simulator.persistence.gate import Gate, GatedSender
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.replay.rebuilding import resume_after_restart
from simulator.persistence.snapshot_schedule import SnapshotSchedule
from simulator.postgres.address import PAUSE_S, parse_address
from simulator.postgres.leases import LeaseKeeper, Leases, Peer
from simulator.postgres.migration import prepare_database
from simulator.postgres.owners import LOST, Database, Elsewhere, Owners, Unavailable
from simulator.postgres.postgres_store import PostgresStore
from simulator.runtime.courier import Sender
from simulator.runtime.lives import SandboxSpec
from simulator.runtime.operations import NotReady, report
from simulator.runtime.sandboxes import DEFAULT

SLOW_S: Final = 2.0
"""The age of a commit at which PostgreSQL counts as not answering."""

SILENT: Final = NotReady("store_unavailable", "PostgreSQL does not answer; send the request again")


class Cluster:
    """The part of this server. `gate` is closed while something is not durable yet; `sandboxes` are the sandboxes found
    at the start. Set `url`, the address of this server for the others, before `keep`."""

    def __init__(
        self,
        address: str,
        durability: Literal["process", "power"],
        on_failure: Callable[[StoreError], None],
        tell: Callable[[str], None],
        *,
        lease_s: float,
        grace_s: float,
    ) -> None:
        """Connect, and migrate the tables if needed. Raises `StoreError`."""
        parsed = parse_address(address)
        password, self.own_host = prepare_database(parsed)
        parsed = parsed._replace(secrets=(*parsed.secrets, *password))
        self.path, self.url, self.secret = parsed.name, "", secrets.token_urlsafe(24)
        self.hidden = (*parsed.secrets, self.secret)
        self.store = PostgresStore(parsed, durability)
        self.gate = Gate(self.store, self._on_failure)
        self.sandboxes: list[str] = []
        self.leases_lost = 0
        self.on_servers: Callable[[Collection[int]], None] = lambda servers: None
        self._keeper = StoreKeeper(self.store, self.gate)
        self._leases = Leases(self.store.reader, lease_s)
        self._lease = LeaseKeeper(parsed, lease_s, self._lost_in_thread, self._seen_in_thread)
        self._database = Database(self.gate.close_for)
        self.owners = Owners(self.store, self._keeper, self._leases, self._database, self._tell)
        self._grace_s, self._fail, self._say = grace_s, on_failure, tell
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed = ""
        self._app: Application
        self._spec: SandboxSpec
        self._schedule: SnapshotSchedule
        self._loop: asyncio.AbstractEventLoop | None = None
        self._silent_since: float | None = None

    # The start and the end of the server

    def keep(self, app: Application, *, follows: str = "") -> None:
        """Register this server, and own the default sandbox unless another server does. Raises `CannotResume` and
        `StoreError`."""
        self._app = self.owners.app = app
        self._followed = follows
        app.sandboxes.add_secrets(self.hidden)
        self._schedule = SnapshotSchedule(self.store, self.gate, app.sandboxes, lambda: self.trouble is not None)
        self._spec = app.sandboxes.get(DEFAULT).spec
        self._register()
        is_owner = self._leases.claim(DEFAULT, self.store.server_id, creates=True) == self.store.server_id
        lives = self.store.reader.lives(DEFAULT) if is_owner else []
        if lives:
            found = self.owners.restore(DEFAULT, app.sandboxes.surroundings)
            self.store.writer.lives[DEFAULT] = lives[0]
            self._keeper.follow(found.player.live)
            app.sandboxes.adopt(resume_after_restart(found.player, app.wall, found.left_at))
            self.sandboxes.append(DEFAULT)
        app.sandboxes.keeper = self._keeper
        if is_owner:
            own = app.sandboxes.get(DEFAULT)
            own.keeper = self._keeper
            if not lives:
                self._keeper.begin(own)
            self.owners.add(DEFAULT)
        else:
            app.sandboxes.stand_in(self._spec)
        app.store = self

    def start(self) -> None:
        """Commit at the end of each turn; needs a running event loop."""
        self._loop = asyncio.get_running_loop()
        self.gate.start()
        self._look()

    async def start_snapshots(self) -> None:
        """Take snapshots, and load the scenario that the server was given, if any."""
        self._schedule.start()
        if self.sandboxes and self._followed:
            await follow_scenario(self._app, self._followed, self.path, self._say)

    async def take_last_snapshots(self) -> None:
        """Take the last snapshots while the sandboxes still exist."""
        self._loop = None
        for task in self._tasks:
            task.cancel()
        if self.trouble is None:
            await self._schedule.end()

    def close(self) -> None:
        """Make the last commit, and let other servers own the sandboxes at once."""
        self._lease.close()
        self.gate.close()
        try:
            if self.trouble is not None:
                self.store.give_up(WriteFailed("PostgreSQL does not answer"))
            else:
                self.store.wait_until_idle()
                self._leases.end(self.store.server_id)
        except StoreError as error:  # the lease ends by itself
            self._tell(str(error))
        self._database.close()
        try:
            self.store.close()
        except StoreError as error:
            self._say(str(error))

    def gated(self, sender: Sender) -> Sender:
        """Return a sender that waits for the gate, and sends nothing without a lease."""
        return GatedSender(sender, self._may_send)

    async def _may_send(self) -> None:
        """Wait until everything written so far is durable, and no other server can own the sandboxes. What waits for a
        lost lease is cancelled with its sandbox."""
        while not (await self.gate.until_durable() and self.is_fresh):  # noqa: ASYNC110 - a thread renews the lease
            await asyncio.sleep(PAUSE_S)

    def _register(self) -> None:
        began_s = monotonic()
        self.store.begin(self._leases.register(self.url, self.secret))
        self._lease.begin(self.store.server_id, began_s)

    # The state for requests

    @property
    def trouble(self) -> NotReady | None:
        """Return why requests for sandboxes are refused now, if they are."""
        return self.owners.refusal

    @property
    def is_fresh(self) -> bool:
        """Return whether the lease lasts, so that no other server can own the sandboxes."""
        return monotonic() < self._lease.fresh_until

    def owns(self, sandbox_id: str) -> bool:
        """Return whether requests for this sandbox can be executed here, without asking anyone."""
        return sandbox_id in self.owners and self.trouble is None and monotonic() < self._lease.fresh_until

    async def settle(self, sandbox_id: str, *, creates: bool = False) -> None:
        """See `Owners.settle`."""
        if not self.owns(sandbox_id):
            await self.owners.settle(sandbox_id, creates=creates)

    def may_read(self, sandbox_id: str) -> bool:
        """Return whether this sandbox may be read while PostgreSQL does not answer: all its inputs are committed, and
        `--store-grace` has not passed."""
        if sandbox_id not in self.owners or self._silent_since is None:
            return False
        life = self.store.writer.lives.get(sandbox_id)
        is_saved = life is not None and life.key not in self.store.unsaved_lives()
        return is_saved and monotonic() < self._silent_since + self._grace_s

    async def peers(self) -> list[Peer]:
        """Return the servers with a lease. Raises `Unavailable`."""
        found: list[Peer] = await self._database.ask(self._leases.peers)
        return found

    # The lease

    def _on_failure(self, error: StoreError) -> None:
        if isinstance(error, LeaseLost):
            self._begin_task(self._start_again())
        else:
            self._fail(error)

    async def _start_again(self) -> None:
        """Give up all sandboxes, and continue with a new lease."""
        self.owners.refusal = LOST
        self.leases_lost += 1
        self._lease.lose()
        self._tell("the lease of this server has ended; other servers may own its sandboxes now")
        self.owners.clear()
        sandboxes = self._app.sandboxes
        for live in sandboxes:
            self._keeper.leave(live)
            await sandboxes.give_up(live)
        sandboxes.stand_in(self._spec)
        while True:
            began_s = monotonic()
            try:
                await self._database.ask(self.store.wait_until_idle)
                server_id = await self._database.ask(partial(self._leases.register, self.url, self.secret))
                break
            except Unavailable:
                await asyncio.sleep(PAUSE_S)
        self.store.begin(server_id)
        self.gate.begin_again()
        self._lease.begin(server_id, began_s)
        self.owners.refusal = None

    def _lost_in_thread(self, server_id: int) -> None:
        if self._loop is not None and server_id == self.store.server_id:
            error = LeaseLost(f"{self.path}: the lease of this server has ended")
            self._loop.call_soon_threadsafe(self.gate.close_for, error)

    def _seen_in_thread(self, servers: Collection[int], orphans: Iterable[str]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._update_servers, servers, orphans)

    def _update_servers(self, servers: Collection[int], orphans: Iterable[str]) -> None:
        """Forget the servers whose lease has ended. Take sandboxes without an owner over, so that their callbacks are
        sent."""
        self.owners.keep(servers)
        self.on_servers(servers)
        if names := [name for name in orphans if self.owners.may_adopt(name)]:
            self._begin_task(self._adopt(names))

    async def _adopt(self, names: Iterable[str]) -> None:
        is_adopted = False
        for name in names:
            self.owners.forget(name)
            with suppress(Elsewhere, Unavailable):
                await self.settle(name)
                is_adopted = True
        if is_adopted:
            self._lease.hurry()

    # Whether PostgreSQL answers

    def _look(self) -> None:
        """Notice at intervals whether PostgreSQL answers, and give up names that are not used."""
        if self._loop is None:
            return
        is_down = self.store.down_since is not None or self.store.waits_s > SLOW_S
        is_silent = is_down or (self._lease.is_failing and not self.is_fresh)
        if self.trouble is not LOST:
            self.owners.refusal = SILENT if is_silent else None
        if not is_silent:
            self._silent_since = None
            if names := list(self.owners.drop_unused()):
                self._begin_task(self._release(names))
        elif self._silent_since is None:
            self._silent_since = monotonic()
        self._app.operations.store_trouble = self.trouble
        self._loop.call_later(PAUSE_S, self._look)

    async def _release(self, names: list[str]) -> None:
        try:
            await self._database.ask(partial(self._leases.release, names, self.store.server_id))
        except Unavailable:
            return

    # Help

    def _tell(self, line: str) -> None:
        self._say(f"{self.path}: {line}")

    def _begin_task(self, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            work.close()
            return
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            report(error, "a takeover")
