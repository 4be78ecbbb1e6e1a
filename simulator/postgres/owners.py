"""The owners of sandboxes as this server knows them, and taking sandboxes over. Everything runs in the event loop."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any, Final

from simulator.persistence.data_folder import Application
from simulator.persistence.errors import LeaseLost, StoreError
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.replay.rebuilding import resume_after_restart
from simulator.persistence.restoration import CannotResume, RestoredSandbox, Restorer
from simulator.persistence.writer import StoredLife
from simulator.postgres.address import TIMEOUT_S
from simulator.postgres.leases import Leases, Peer
from simulator.postgres.postgres_store import READERS_MAX, PostgresStore
from simulator.runtime.background import in_background
from simulator.runtime.lives import Surroundings
from simulator.runtime.operations import NotReady

RESERVED_S: Final = 600.0
"""How long a name stays reserved for a sandbox that is being created, or that was deleted."""

LOST: Final = NotReady("lease_lost", "this server has lost its lease; send the request again")


class Elsewhere(Exception):
    """Another server owns the sandbox."""

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self.peer = peer


class Unavailable(Exception):
    """The request cannot be answered now and was not executed: a code and the reason."""

    def __init__(self, why: NotReady) -> None:
        super().__init__(why.message)
        self.code, self.message = why


class Database:
    """Blocking questions to the database, asked in threads. `on_lost` is called when an answer says that the lease of
    this server has ended."""

    def __init__(self, on_lost: Callable[[LeaseLost], object]) -> None:
        self._on_lost = on_lost
        self._threads = ThreadPoolExecutor(READERS_MAX, "question")

    async def ask(self, question: Callable[[], Any]) -> Any:
        """Return the answer. Raises `Unavailable`."""
        try:
            async with asyncio.timeout(2 * TIMEOUT_S):
                return await asyncio.get_running_loop().run_in_executor(self._threads, question)
        except LeaseLost as error:
            self._on_lost(error)
            raise Unavailable(LOST) from None
        except (StoreError, TimeoutError) as error:
            text = f"PostgreSQL does not answer ({error})" if str(error) else "PostgreSQL does not answer"
            raise Unavailable(NotReady("store_unavailable", text)) from None

    def close(self) -> None:
        """Drop the questions that were not asked yet."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Owners:
    """The sandboxes of this server, and the known owners of others. `refusal` says why no owner can be found now."""

    def __init__(
        self, store: PostgresStore, keeper: StoreKeeper, leases: Leases, database: Database, tell: Callable[[str], None]
    ) -> None:
        self.refusal: NotReady | None = None
        self.takeovers = 0
        self.app: Application
        self._store, self._keeper, self._leases, self._database = store, keeper, leases, database
        self._tell = tell
        self._owned: dict[str, float] = {}  # since when
        self._known: dict[str, Peer] = {}  # owners of other sandboxes
        self._taking: dict[str, asyncio.Task[None]] = {}
        self._broken: dict[str, NotReady] = {}

    def __contains__(self, sandbox_id: str) -> bool:
        return sandbox_id in self._owned

    def add(self, sandbox_id: str) -> None:
        """Record that this server owns a sandbox, or reserves the name of a new sandbox."""
        self._owned[sandbox_id] = monotonic()

    def clear(self) -> None:
        """Forget everything, since the lease was lost."""
        self._owned.clear()
        self._known.clear()

    def forget(self, sandbox_id: str) -> None:
        """Ask the database again who owns a sandbox."""
        self._known.pop(sandbox_id, None)

    def keep(self, servers: Collection[int]) -> None:
        """Forget the servers whose lease has ended."""
        self._known = {name: peer for name, peer in self._known.items() if peer.id in servers}

    def may_adopt(self, sandbox_id: str) -> bool:
        """Return whether a sandbox without an owner should be taken over."""
        return sandbox_id not in self._taking and sandbox_id not in self._broken and self.refusal is None

    async def settle(self, sandbox_id: str, *, creates: bool = False) -> None:
        """Return when this server owns a sandbox, after taking it over if needed, or when there is no such sandbox.
        Raises `Elsewhere` and `Unavailable`."""
        if self.refusal is not None:
            raise Unavailable(self.refusal)
        if not creates and (peer := self._known.get(sandbox_id)) is not None:
            raise Elsewhere(peer)
        task = self._taking.get(sandbox_id)
        if task is None:
            task = self._taking[sandbox_id] = asyncio.ensure_future(self._take_over(sandbox_id, creates=creates))
            task.add_done_callback(partial(self._taken, sandbox_id))
        await asyncio.shield(task)
        if creates and sandbox_id not in self:  # another request has asked, and does not create it
            await self.settle(sandbox_id, creates=True)

    def _taken(self, sandbox_id: str, task: "asyncio.Task[None]") -> None:
        self._taking.pop(sandbox_id, None)
        if not task.cancelled():
            task.exception()  # retrieved, in case no request waits any more

    async def _take_over(self, sandbox_id: str, *, creates: bool) -> None:
        if sandbox_id in self._broken:
            raise Unavailable(self._broken[sandbox_id])
        server_id, ask = self._store.server_id, self._database.ask
        owner = await ask(partial(self._leases.claim, sandbox_id, server_id, creates=creates))
        if owner is None:
            return
        if owner != server_id:
            peer = await ask(partial(self._leases.peer, owner))
            if peer is None:
                text = "the owner of this sandbox has just ended; send the request again"
                raise Unavailable(NotReady("owner_unknown", text))
            self._known[sandbox_id] = peer
            raise Elsewhere(peer)
        self._known.pop(sandbox_id, None)
        lives = await ask(partial(self._store.reader.lives, sandbox_id))
        if lives and self.app.sandboxes.find(sandbox_id) is None:
            await self._resume(sandbox_id, lives[0], server_id)
        self.add(sandbox_id)

    async def _resume(self, sandbox_id: str, life: StoredLife, server_id: int) -> None:
        around = self.app.sandboxes.surroundings.with_own_budgets()
        try:
            found = await in_background(self.restore, sandbox_id, around)
        except (CannotResume, StoreError) as error:
            self._tell(str(error))
            why = NotReady("cannot_resume", str(error))
            if isinstance(error, CannotResume):
                self._broken[sandbox_id] = why
            raise Unavailable(why) from None
        if self._store.server_id != server_id or self.refusal is LOST:
            found.player.end()
            raise Unavailable(LOST)
        self._store.writer.lives[sandbox_id] = life
        self._keeper.follow(found.player.live)
        live = resume_after_restart(found.player, self.app.wall, found.left_at)
        self.app.sandboxes.add_rebuilt(live)
        live.start()
        self.takeovers += 1

    def restore(self, sandbox_id: str, around: Surroundings) -> RestoredSandbox:
        """Rebuild a sandbox from the store. Raises `CannotResume` and `StoreError`."""
        restorer = Restorer(self._store.reader, self.app.replayer, around, self.app.scenario)
        found = restorer.restore(self._store.reader.life(sandbox_id))
        for line in found.passed_over:
            self._tell(f"a snapshot was passed over: {line}")
        return found

    def drop_unused(self) -> Iterator[str]:
        """Yield the reserved names that no sandbox has, and drop them."""
        now = monotonic()
        for name, since in list(self._owned.items()):
            if since + RESERVED_S < now and self.app.sandboxes.find(name) is None:
                del self._owned[name]
                yield name
