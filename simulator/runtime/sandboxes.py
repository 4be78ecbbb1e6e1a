"""The sandboxes of a server: creation, look-up and deletion.

`app` creates the only `Sandboxes`, and looks sandboxes up for requests (`find`, `default`). The control API and the
store add them (`create`, `build`, `adopt`, `add_rebuilt`) and remove them (`delete`, `give_up`). `_admit` gives a new
sandbox what all sandboxes share.
"""

import asyncio
import re
import secrets
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import chain

from msgspec.structs import replace

from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.likeness import nearest
from simulator.domain.reports.coverage import Coverage
from simulator.persistence.tape.entries import ClockSet
from simulator.persistence.tape.tape import TapeBudget
from simulator.redaction import FormerSecrets, Mask, Secrets, followed
from simulator.runtime.background import in_background
from simulator.runtime.clock import Wall
from simulator.runtime.courier import Sender
from simulator.runtime.events import Action, EventHub
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS, FirstState, LifeEnding, SandboxSpec, Surroundings, first_state
from simulator.runtime.marks import NO_KEEPER, Keeper
from simulator.runtime.operations import ServerCounts
from simulator.runtime.wait_limits import Turnstile, WaitingRoom

DEFAULT = "default"
SANDBOX_PREFIX = "/s/"
SANDBOXES_MAX = 10_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def is_sandbox_id(text: str) -> bool:
    """Return whether a sandbox may have this id."""
    return _ID.fullmatch(text) is not None


def drawn_id() -> str:
    """Return a random id for a new sandbox."""
    return f"sb-{secrets.token_hex(5)}"


def url_prefix(sandbox_id: str) -> str:
    """Return the beginning of a sandbox's paths, such as /s/mine; "" for `default`, which is at the root."""
    return "" if sandbox_id == DEFAULT else SANDBOX_PREFIX + sandbox_id


class Sandboxes:
    """All sandboxes by id. Without `ttl_s` idle sandboxes do not expire. With `keeps_coverage` the coverage of deleted,
    reset and rewound sandboxes is kept."""

    def __init__(
        self,
        wall: Wall,
        sender: Sender,
        ttl_s: float | None = None,
        *,
        keeps_coverage: bool = False,
        tapes_bytes_max: int | None = None,
    ) -> None:
        self._by_id: dict[str, LiveSandbox] = {}
        self._stand_in: LiveSandbox | None = None  # for the default sandbox, while another server owns it
        self.unique_keys: dict[str, LiveSandbox] = {}  # the sandbox of each key that `credentials: unique` created
        self.unique_users: dict[str, LiveSandbox] = {}
        # Shared by the sandboxes
        tape_budget = TapeBudget() if tapes_bytes_max is None else TapeBudget(tapes_bytes_max)
        self.surroundings = Surroundings(wall, sender, tape_budget=tape_budget)
        self._turnstile = Turnstile()
        self.quotas = NO_QUOTAS  # the limits of new sandboxes that set none
        self.keeper: Keeper[LiveSandbox] = NO_KEEPER
        self.events = EventHub()
        self.server_counts = ServerCounts()
        self.server_secrets = Secrets()  # the tokens of the control API, present and former
        self.former_secrets = FormerSecrets()  # of ended lives
        self._secrets = Secrets()  # of all sandboxes and the server; an index that is extended when it is read
        # Ends of lives, whose records still exist when `on_ended` is called
        self.on_ended: Callable[[LiveSandbox, LifeEnding], None] = lambda sandbox, ending: None
        self._past_coverage = Coverage() if keeps_coverage else None
        self._ttl_s = ttl_s
        self._sweeper: asyncio.TimerHandle | None = None
        self._closing_tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def __iter__(self) -> Iterator[LiveSandbox]:
        return iter(list(self._by_id.values()))

    def add_secrets(self, secrets_: Iterable[str]) -> None:
        """Redact these secrets of the server, besides its earlier ones."""
        self.server_secrets.add(secrets_)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Return the indexes of secrets to redact outside of any sandbox: the secrets of all sandboxes, including
        former ones."""
        of_all = set(self.server_secrets.known).union(*(each.core.state.secrets for each in self))
        self._secrets = followed(self._secrets, of_all)
        return self._secrets, *self.former_secrets.generations

    def mask_of(self, live: LiveSandbox | None, *others: str) -> Mask:
        """Return the mask for a sandbox, or for all sandboxes if it does not exist; `others` are the ids of sandboxes
        whose secrets it received, or empty."""
        if live is not None and not any(others):  # as for each event of a payment
            return live.mask
        shown = {each: None for each in (live, *map(self._by_id.get, others)) if each is not None}
        known = dict.fromkeys(chain.from_iterable(each.secrets for each in shown))  # they share the former secrets
        return Mask(known if shown else self.secrets, ChainMap(*(each.core.state.keys for each in shown)))

    def find(self, sandbox_id: str) -> LiveSandbox | None:
        return self._by_id.get(sandbox_id)

    def get(self, sandbox_id: str) -> LiveSandbox:
        """Return the sandbox with this id. Raises `Unknown`."""
        sandbox = self._by_id.get(sandbox_id)
        if sandbox is None:
            meant = f"; did you mean {DEFAULT}?" if nearest(sandbox_id, [DEFAULT]) else ""
            text = f"there is no sandbox {sandbox_id!r}{meant or '; GET /_sim/sandboxes lists them'}"
            raise Unknown("unknown_sandbox", text)
        return sandbox

    @property
    def default(self) -> LiveSandbox:
        """Return the default sandbox; while another server owns it, a sandbox that stands in for it and does not
        run."""
        return self._by_id.get(DEFAULT) or self._stand_in or self.get(DEFAULT)

    def create(self, spec: SandboxSpec) -> LiveSandbox:
        """Create a sandbox. Raises `Conflict` for an id in use or when the server stops, and `Unacceptable` for an
        invalid one."""
        sandbox_id, spec = self.free_id(spec.id), self.bounded(spec)
        return self._add(sandbox_id, spec, first_state(sandbox_id, spec, self.surroundings.wall))

    async def build(self, spec: SandboxSpec) -> LiveSandbox:
        """Create a sandbox as `create` does, without blocking the event loop: thousands of resellers take a while."""
        sandbox_id, spec = self.free_id(spec.id), self.bounded(spec)
        first = await in_background(first_state, sandbox_id, spec, self.surroundings.wall)
        self.free_id(sandbox_id)  # another may have taken it meanwhile
        return self._add(sandbox_id, spec, first)

    def bounded(self, spec: SandboxSpec) -> SandboxSpec:
        """Return the spec with the server's limits where it sets none."""
        return replace(spec, quotas=spec.quotas.within(self.quotas)) if self.quotas else spec

    def free_id(self, wanted: str | None) -> str:
        """Return the id of a new sandbox. Raises the same as `create`."""
        if self._is_closed:
            raise Conflict("stopping", "the server is stopping and accepts no new work; retry after its restart")
        if len(self._by_id) >= SANDBOXES_MAX:
            raise Conflict("too_many_sandboxes", f"there are {SANDBOXES_MAX} sandboxes; delete some first")
        sandbox_id = wanted if wanted is not None else drawn_id()
        if not is_sandbox_id(sandbox_id):
            text = "an id is 1 to 64 letters, digits, - and _, and begins with a letter or digit"
            raise Unacceptable("bad_sandbox_id", text, "id")
        if sandbox_id in self._by_id:
            raise Conflict("sandbox_exists", f"there is a sandbox {sandbox_id!r} already", "id")
        return sandbox_id

    def _add(self, sandbox_id: str, spec: SandboxSpec, first: FirstState) -> LiveSandbox:
        sandbox = LiveSandbox(sandbox_id, spec, first, self.surroundings)
        self._admit(sandbox)
        sandbox.events.note(Action("created", sandbox.clock.now(), sandbox.scenario.name))
        return sandbox

    def _admit(self, sandbox: LiveSandbox, *, is_stored: bool = False) -> None:
        sandbox.on_ending = self._on_ending
        sandbox.waiting_room = WaitingRoom(self._turnstile)
        sandbox.server_secrets = self.server_secrets
        sandbox.former_secrets = self.former_secrets
        sandbox.server_counts = sandbox.counters.server_counts = sandbox.courier.server_counts = self.server_counts
        sandbox.keeper = self.keeper
        if not is_stored:
            self.keeper.begin(sandbox)
        sandbox.events.join(self.events)
        self._by_id[sandbox.id] = sandbox
        self.learn_keys(sandbox)

    def adopt(self, live: LiveSandbox) -> None:
        """Add a sandbox that was built elsewhere, replacing the sandbox with its id. Its clock is not started yet."""
        before = self._by_id.pop(live.id, None)
        if before is not None:
            before.keeper.forget(before)
            before.stop()
            before.tape.leave()
        self._admit(live)
        live.events.note(Action("created", live.clock.now(), live.scenario.name))

    def add_rebuilt(self, live: LiveSandbox, original: str = "") -> None:
        """Add a rebuilt sandbox: a fork of `original`, or a sandbox that another server left in the store. Its clock is
        not started yet. Unique credentials that a fork shares with its original continue to select the original at the
        root."""
        live.join(self.surroundings)
        live.events.reset()
        self._admit(live, is_stored=not original)
        live.events.note(Action("forked" if original else "created", live.clock.now(), original or live.scenario.name))

    def stand_in(self, spec: SandboxSpec) -> None:
        """Let a new sandbox stand in for the default sandbox, which another server owns."""
        self._by_id.pop(DEFAULT, None)
        first = first_state(DEFAULT, spec, self.surroundings.wall)
        self._stand_in = LiveSandbox(DEFAULT, spec, first, self.surroundings)

    async def give_up(self, sandbox: LiveSandbox) -> None:
        """Remove a sandbox that another server may own now; what is stored of it stays."""
        sandbox.keeper = NO_KEEPER
        sandbox.tape.recorder = None
        sandbox.is_deleted = True
        sandbox.events.end()
        sandbox.stop()
        self._remove_from_indexes(sandbox)
        sandbox.life.dispose()
        await sandbox.close()

    def learn_keys(self, sandbox: LiveSandbox) -> None:
        """Index keys and usernames that are unique to this sandbox, so that they select it at the root."""
        if sandbox.spec.unique_credentials:
            for key in sandbox.core.state.keys:
                self.unique_keys.setdefault(key, sandbox)
            for username in sandbox.core.state.users:
                self.unique_users.setdefault(username, sandbox)

    async def delete(self, sandbox_id: str) -> None:
        """Delete a sandbox; raises `Unknown`, and `Conflict` for the default sandbox, which always exists."""
        sandbox = self.get(sandbox_id)
        if sandbox_id == DEFAULT:
            raise Conflict("default_stays", "the default sandbox always exists; reset it instead")
        self._delete(sandbox)
        await sandbox.close()

    def _delete(self, sandbox: LiveSandbox) -> None:
        self.keeper.forget(sandbox)
        self._on_ending(sandbox, "deleted")
        sandbox.retire_secrets()
        sandbox.is_deleted = True
        sandbox.events.note(Action("deleted", sandbox.clock.now()))
        sandbox.events.end()
        sandbox.stop()
        self._remove_from_indexes(sandbox)
        sandbox.life.dispose()

    def _remove_from_indexes(self, sandbox: LiveSandbox) -> None:
        del self._by_id[sandbox.id]
        self.unique_keys = {key: owner for key, owner in self.unique_keys.items() if owner is not sandbox}
        self.unique_users = {name: owner for name, owner in self.unique_users.items() if owner is not sandbox}

    def _on_ending(self, sandbox: LiveSandbox, ending: LifeEnding) -> None:
        self.server_counts.evicted += sandbox.life.journal.left_out - sandbox.evicted_at_start
        if self._past_coverage is not None:
            self._past_coverage.add(sandbox.coverage())
        self.on_ended(sandbox, ending)

    def coverage(self) -> Coverage:
        """Return the coverage of all sandboxes together; with `keeps_coverage`, including former sandboxes."""
        total = Coverage()
        for part in (self._past_coverage or Coverage(), *(sandbox.coverage() for sandbox in self)):
            total.add(part)
        return total

    def start(self, monotonic_s: Callable[[], float]) -> None:
        """Start the clocks of the sandboxes, and the expiry of idle sandboxes."""
        for sandbox in self:
            sandbox.start()
        if self._ttl_s is not None:
            self._sweep_and_repeat(monotonic_s, self._ttl_s)

    def wall_was_set(self, step: timedelta) -> None:
        """Adjust the clocks of the sandboxes to a step of the wall time, so that their time does not jump."""
        text = f"the machine's clock was set by {step.total_seconds():+.1f} s"
        for live in self:
            live.clock.wall_was_set(step)
            now = live.clock.now()
            live.driver.rearm(now, is_clock_changed=True)
            if live.clock.mode == "xN":  # a restart counts from here
                live.tape.add(ClockSet(now, live.clock.mode, live.clock.rate))
            live.events.note(Action("wall_set", now, text))
        print(f"{text}: no sandbox leaps; see docs/time.md", file=sys.stderr, flush=True)

    def end_waits(self) -> None:
        """Answer all waiting requests, since the server is about to stop."""
        for sandbox in self:
            sandbox.end_waits()
        self.events.close()

    async def close(self) -> None:
        """Stop all sandboxes; no more can be created."""
        self._is_closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for sandbox in self:
            await sandbox.close()

    def _sweep_and_repeat(self, monotonic_s: Callable[[], float], ttl_s: float) -> None:
        self.sweep(monotonic_s(), ttl_s)
        loop = asyncio.get_running_loop()
        self._sweeper = loop.call_later(min(ttl_s, 60.0) / 4, self._sweep_and_repeat, monotonic_s, ttl_s)

    def sweep(self, now_s: float, ttl_s: float) -> None:
        """Delete the sandboxes that were idle for `ttl_s`, at the monotonic time `now_s`. Needs a running loop."""
        for sandbox in self:
            if sandbox.is_touched or sandbox.is_busy:
                sandbox.is_touched, sandbox.last_used_s = False, now_s
            if sandbox.id != DEFAULT and now_s - sandbox.last_used_s > ttl_s:
                self._delete(sandbox)
                task = asyncio.ensure_future(sandbox.close())
                self._closing_tasks.add(task)
                task.add_done_callback(self._closing_tasks.discard)
