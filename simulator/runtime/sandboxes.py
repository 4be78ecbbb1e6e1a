"""The sandboxes of one server: creation, look-up, reset and deletion."""

import asyncio
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from simulator.domain.commands import Command, LoadScenario
from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.resellers import User
from simulator.domain.model.scenario import ResellerStart, Scenario, draw_key
from simulator.domain.reports.coverage import Coverage, coverage
from simulator.domain.sandbox import Sandbox
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.counters import Counters
from simulator.runtime.courier import Courier, Sender
from simulator.runtime.driver import Driver
from simulator.runtime.inboxes import Inboxes
from simulator.runtime.journal import Journal
from simulator.scenario.compiler import COMPILER

DEFAULT = "default"
SANDBOXES_MAX = 10_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """Parameters of a new sandbox; None keeps the scenario's value."""

    scenario: Scenario
    id: str | None = None
    seed: int | None = None
    mode: str | None = None
    rate: float | None = None
    start: datetime | None = None
    unique_credentials: bool = False


class LiveSandbox:
    """A running sandbox: the state machine with its clock, driver, journal and inboxes."""

    def __init__(self, id_: str, spec: SandboxSpec, wall: Wall, sender: Sender) -> None:
        self.id = id_
        self.spec = spec
        self._wall = wall
        self._sender = sender
        self.is_touched = True
        self.last_used_s = 0.0
        self.on_reset: Callable[[LiveSandbox], None] = lambda _: None
        self.is_deleted = False
        self._begin_journal()
        self._begin()

    def _begin_journal(self) -> None:
        limits = self.spec.scenario.limits
        self.journal = Journal(limits.journal, limits.journal_bytes)

    def _begin(self) -> None:
        self.is_closed = False
        spec, scenario = self.spec, self.spec.scenario
        start = scenario.clock
        self.seed = scenario.seed if spec.seed is None else spec.seed
        if spec.unique_credentials:
            scenario = _with_unique_credentials(scenario, self.seed, self.id)
        self.scenario = scenario
        mode, rate = spec.mode or start.mode, start.rate if spec.rate is None else spec.rate
        self.clock = Clock(self._wall, mode, rate, spec.start or start.start)
        key_scope = self.id if spec.unique_credentials else ""
        self.core = Sandbox(scenario, self.seed, self.clock.now(), key_scope, COMPILER)
        limits = scenario.limits
        self.inboxes = Inboxes(limits.inbox, limits.inbox_bytes)
        self.inboxes.follow(scenario.inboxes)
        self.counters = Counters(scenario.expect)
        self.courier = Courier(scenario, self.inboxes, self._sender)
        # All commands reach the state machine here, including those of the driver.
        self._enter = self.core.apply
        self._agenda = self.core.state.agenda
        self.driver = Driver(self._enter, self._agenda, self.clock, self.courier)

    @property
    def is_busy(self) -> bool:
        """True while work or a waiting client keeps it from being idle, however long that takes."""
        return self.driver.is_busy or bool(self.journal.notifier.waiting) or self.inboxes.has_waiters

    def coverage(self) -> Coverage:
        """Coverage of rules, answers and outcomes since its start or last reset."""
        return coverage(self.core.state, self.counters.answers)

    def signing_time(self, wall: datetime | None = None) -> datetime:
        """The time that clients' timestamps are compared with: the wall clock's, unless the scenario sets its own.
        `wall` is the wall time, if it was read."""
        asked, wall = self.scenario.clock, wall or self.clock.wall()
        return self.clock.at(wall) if asked.signature == "sandbox" else wall + asked.skew

    def start(self) -> None:
        """Start its time; needs a running event loop."""
        self.driver.rearm(self.clock.now())

    def apply(self, command: Command, now: datetime | None = None) -> Any:
        """Apply a command. Only the driver's own enter elsewhere. `now` is the sandbox's time, if it was read.

        Entries that a running clock has made due are processed first. The command's type determines the answer's.
        Raises `DomainError`, and `ScenarioError` for a command with a document; nothing has changed then.
        """
        if self.is_closed:
            raise Unknown("unknown_sandbox", f"the sandbox {self.id!r} was deleted or is being reset")
        if now is None:
            now = self.clock.now()
        driver, agenda = self.driver, self._agenda
        if now is not driver.caught_up_at:
            driver.catch_up(now)
        added = agenda.added
        answer = self._enter(command, now)
        if agenda.added != added:
            driver.rearm(now)
        return answer

    def catch_up(self) -> None:
        """Process what a running clock has made due."""
        self.driver.catch_up(self.clock.now())

    def load(self, scenario: Scenario) -> tuple[str, ...]:
        """Switch to another scenario, also for later resets. Answers one line for each part that requires a reset.

        Raises `Conflict` before any change. Not for a sandbox with credentials of its own.
        """
        assert not self.spec.unique_credentials
        COMPILER.remember(scenario)
        deferred: tuple[str, ...] = self.apply(LoadScenario(scenario.name, scenario.document))
        self._follow(scenario)
        return deferred

    def _follow(self, scenario: Scenario) -> None:
        """Do the same with what surrounds the state machine, which learns of it only by the commands that come."""
        if scenario.inboxes != self.scenario.inboxes:
            self.inboxes.follow(scenario.inboxes, before=self.scenario.inboxes)
        self.spec = replace(self.spec, scenario=scenario)
        self.scenario = scenario
        self.courier.follow(scenario)
        self.counters.follow(scenario.expect)

    async def reset(self) -> None:
        """Return to the start of the scenario. Raises `Conflict` during an advance, `Unknown` if deleted meanwhile.

        What is answered from now on is in the new journal, also requests that came before.
        """
        ended = self.driver
        ended.refuse_while_advancing()
        self._stop()
        self._begin_journal()
        await ended.close()
        if self.is_deleted:
            raise Unknown("unknown_sandbox", f"the sandbox {self.id!r} was deleted while it was being reset")
        if self.driver is ended:  # else a reset that came at the same time has begun the new life
            self.on_reset(self)
            self._begin()
            self.start()

    async def close(self) -> None:
        """Stop permanently and wake all waiters."""
        self._stop()
        await self.driver.close()

    def _stop(self) -> None:
        self.is_closed = True
        self.journal.notifier.close()
        self.inboxes.close()


def _with_unique_credentials(scenario: Scenario, seed: int, sandbox_id: str) -> Scenario:
    return replace(
        scenario, resellers=tuple(_with_own_keys(reseller, seed, sandbox_id) for reseller in scenario.resellers)
    )


def _with_own_keys(reseller: ResellerStart, seed: int, sandbox_id: str) -> ResellerStart:
    """The same reseller with one active key pair and users that are unique to this sandbox."""
    users = tuple(User(f"{user.username}-{sandbox_id}", user.password) for user in reseller.users)
    return replace(reseller, keys=(draw_key(seed, sandbox_id, reseller.code),), users=users)


class Sandboxes:
    """All sandboxes by id. With `keeps_coverage` the coverage of deleted and reset ones is kept."""

    def __init__(self, wall: Wall, sender: Sender, ttl_s: float | None = None, *, keeps_coverage: bool = False) -> None:
        self._wall = wall
        self._sender = sender
        self._ttl_s = ttl_s
        self._past = Coverage() if keeps_coverage else None
        self._by_id: dict[str, LiveSandbox] = {}
        self.unique_keys: dict[str, LiveSandbox] = {}  # the sandbox of each key that `credentials: unique` created
        self._unique_users: dict[str, LiveSandbox] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[LiveSandbox]:
        return iter(list(self._by_id.values()))

    def find(self, sandbox_id: str) -> LiveSandbox | None:
        """The sandbox with this id."""
        return self._by_id.get(sandbox_id)

    def get(self, sandbox_id: str) -> LiveSandbox:
        """The sandbox with this id; raises `Unknown`."""
        sandbox = self._by_id.get(sandbox_id)
        if sandbox is None:
            raise Unknown("unknown_sandbox", f"there is no sandbox {sandbox_id!r}; GET /_sim/sandboxes lists them")
        return sandbox

    def with_unique_key(self, api_key: str) -> LiveSandbox | None:
        """The sandbox of a key that `credentials: unique` created, if any."""
        return self.unique_keys.get(api_key)

    def with_unique_user(self, username: str) -> LiveSandbox | None:
        """The sandbox of a user that `credentials: unique` created, if any."""
        return self._unique_users.get(username)

    def create(self, spec: SandboxSpec) -> LiveSandbox:
        """Create a sandbox. Raises `Conflict` for an id in use and `Unacceptable` for an invalid one."""
        if len(self._by_id) >= SANDBOXES_MAX:
            raise Conflict("too_many_sandboxes", f"there are {SANDBOXES_MAX} sandboxes; delete some first")
        sandbox_id = spec.id if spec.id is not None else f"sb-{secrets.token_hex(5)}"
        if not _ID.fullmatch(sandbox_id):
            text = "an id is 1 to 64 letters, digits, - and _, and begins with a letter or digit"
            raise Unacceptable("bad_sandbox_id", text, "id")
        if sandbox_id in self._by_id:
            raise Conflict("sandbox_exists", f"there is a sandbox {sandbox_id!r} already", "id")
        sandbox = LiveSandbox(sandbox_id, spec, self._wall, self._sender)
        sandbox.on_reset = self._remember
        self._by_id[sandbox_id] = sandbox
        self.learn_keys(sandbox)
        return sandbox

    def learn_keys(self, sandbox: LiveSandbox) -> None:
        """Index keys and usernames that are unique to this sandbox, so that they select it at the root."""
        if sandbox.spec.unique_credentials:
            for key in sandbox.core.state.keys:
                self.unique_keys.setdefault(key, sandbox)
            for username in sandbox.core.state.users:
                self._unique_users.setdefault(username, sandbox)

    async def delete(self, sandbox_id: str) -> None:
        """Delete a sandbox; raises `Unknown`, and `Conflict` for the default one, which always exists."""
        sandbox = self.get(sandbox_id)
        if sandbox_id == DEFAULT:
            raise Conflict("default_stays", "the default sandbox always exists; reset it instead")
        self._forget(sandbox)
        await sandbox.close()

    def _forget(self, sandbox: LiveSandbox) -> None:
        self._remember(sandbox)
        sandbox.is_deleted = sandbox.is_closed = True
        del self._by_id[sandbox.id]
        self.unique_keys = {key: owner for key, owner in self.unique_keys.items() if owner is not sandbox}
        self._unique_users = {name: owner for name, owner in self._unique_users.items() if owner is not sandbox}

    def _remember(self, sandbox: LiveSandbox) -> None:
        if self._past is not None:
            self._past.add(sandbox.coverage())

    def coverage(self) -> Coverage:
        """Coverage of all sandboxes together; with `keeps_coverage`, including former ones."""
        total = Coverage()
        for part in (self._past or Coverage(), *(sandbox.coverage() for sandbox in self)):
            total.add(part)
        return total

    def start(self, monotonic_s: Callable[[], float]) -> None:
        """Start the sandboxes' time, and the expiry of idle ones."""
        for sandbox in self:
            sandbox.start()
        if self._ttl_s is not None:
            self._sweep_again(monotonic_s, self._ttl_s)

    async def close(self) -> None:
        """Stop all sandboxes."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for sandbox in self:
            await sandbox.close()

    def _sweep_again(self, monotonic_s: Callable[[], float], ttl_s: float) -> None:
        self.sweep(monotonic_s(), ttl_s)
        loop = asyncio.get_running_loop()
        self._sweeper = loop.call_later(min(ttl_s, 60.0) / 4, self._sweep_again, monotonic_s, ttl_s)

    def sweep(self, now_s: float, ttl_s: float) -> None:
        """Delete the sandboxes that were idle for `ttl_s`, at the monotonic time `now_s`. Needs a running loop."""
        for sandbox in self:
            if sandbox.is_touched or sandbox.is_busy:
                sandbox.is_touched, sandbox.last_used_s = False, now_s
            if sandbox.id != DEFAULT and now_s - sandbox.last_used_s > ttl_s:
                self._forget(sandbox)
                task = asyncio.ensure_future(sandbox.close())
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
