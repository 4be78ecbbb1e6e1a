"""The lives of a sandbox: the parameters and limits that they begin with, their parts, and their disposal.

A life lasts from the creation of a sandbox, a reset or a rewind to the next reset or rewind, or to the deletion.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from math import inf
from typing import Final, Literal, NamedTuple

import msgspec

from simulator.domain.model.resellers import User
from simulator.domain.model.scenario import Compiler, ResellerStart, Scenario, draw_key
from simulator.domain.sandbox import Sandbox
from simulator.persistence.tape.tape import Tape, TapeBudget
from simulator.redaction import OwnSecrets
from simulator.runtime.attempt_log import SENT_MAX
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.counters import Counters
from simulator.runtime.courier import Courier, Sender
from simulator.runtime.inbox_messages import InboxBudget
from simulator.runtime.inboxes import Inboxes, server_budget
from simulator.runtime.journal import Journal
from simulator.runtime.marks import Marks
from simulator.scenario.build import COMPILER
from simulator.wire.traffic import Notification


class RequestPace:
    """A rate limit of `rate` requests per second; a burst may have the requests of a second, and at least a single
    request."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._at: datetime | None = None

    def passes(self, wall: datetime) -> bool:
        """Return whether another request may pass now; a wall clock that goes back counts as stopped."""
        if self._at is not None and wall > self._at:
            gained = (wall - self._at).total_seconds() * self._rate
            self._left = min(self._most, self._left + gained)
        self._at = wall if self._at is None else max(wall, self._at)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Quotas(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a sandbox, None for no limit. `transactions` and `bytes` count since its beginning or its last
    reset; `rate` is requests of the reseller API per second of the wall clock."""

    transactions: int | None = None
    bytes: int | None = None
    rate: float | None = None

    def __bool__(self) -> bool:
        """Return whether there is any limit."""
        return not (self.transactions is None and self.bytes is None and self.rate is None)

    def pace(self) -> RequestPace:
        """Return a new limit for the rate of requests."""
        return RequestPace(inf if self.rate is None else self.rate)

    def within(self, others: "Quotas") -> "Quotas":
        """Return these limits, with the limits of `others` where this has None."""
        return Quotas(
            transactions=others.transactions if self.transactions is None else self.transactions,
            bytes=others.bytes if self.bytes is None else self.bytes,
            rate=others.rate if self.rate is None else self.rate,
        )


NO_QUOTAS: Final = Quotas()


def quotas(transactions: int | None = None, bytes_: int | None = None, rate: float | None = None) -> Quotas:
    """Return quotas with these limits; None and 0 mean no limit."""
    return (
        Quotas(transactions=transactions or None, bytes=bytes_ or None, rate=float(rate) if rate else None) or NO_QUOTAS
    )


class Surroundings(msgspec.Struct, frozen=True):
    """The parts of a server that a sandbox uses from its beginning. The budgets limit all its sandboxes together;
    without them, those of a sandbox that is rebuilt, which must not evict messages of the others."""

    wall: Wall
    sender: Sender
    inbox_budget: InboxBudget = msgspec.field(default_factory=server_budget)
    tape_budget: TapeBudget = msgspec.field(default_factory=partial(TapeBudget, inf))

    def with_own_budgets(self) -> "Surroundings":
        """Return these surroundings for a sandbox that is rebuilt."""
        return Surroundings(self.wall, self.sender)


class SandboxSpec(msgspec.Struct, frozen=True):
    """The parameters of a new sandbox."""

    scenario: Scenario
    id: str | None = None  # None for a random one
    seed: int | None = None  # None keeps the scenario's value, here and of the clock
    mode: str | None = None
    rate: float | None = None
    start: datetime | None = None
    unique_credentials: bool = False
    is_audited: bool = True  # by the audit of a run
    drawn_for: str = ""  # the id that unique credentials and tokens derive from: a fork's original; empty for its own
    quotas: Quotas = NO_QUOTAS
    is_masked: bool = False  # it began from a tape with stand-ins for its secrets


class Beginning(msgspec.Struct, frozen=True):
    """How a life of a sandbox began: when, and under which clock."""

    spec: SandboxSpec
    started: datetime
    mode: str
    rate: float


class FirstState(NamedTuple):
    """The clock and the state machine that a life begins with."""

    clock: Clock
    core: Sandbox


LifeEnding = Literal["", "deleted", "reset", "rewound"]
"""The reason why a life of a sandbox ended; empty while it lasts."""


def first_state(id_: str, spec: SandboxSpec, wall: Wall) -> FirstState:
    """Return the clock and state that a life of the sandbox `id_` begins with. Callable in a thread."""
    start = spec.scenario.clock
    clock = Clock(
        wall, spec.mode or start.mode, start.rate if spec.rate is None else spec.rate, spec.start or start.start
    )
    return FirstState(clock, core_of(id_, spec, clock.now()))


def core_of(
    id_: str,
    spec: SandboxSpec,
    started: datetime,
    compiler: Compiler = COMPILER,
    make: Callable[..., Sandbox] = Sandbox,
) -> Sandbox:
    """Return the state machine of a life that started at this time; `make` creates it from its scenario."""
    scenario = spec.scenario
    seed = scenario.seed if spec.seed is None else spec.seed
    drawn_for = spec.drawn_for or id_
    if spec.unique_credentials:
        scenario = _with_unique_credentials(scenario, seed, drawn_for)
    return make(scenario, seed, started, drawn_for if spec.unique_credentials else "", compiler)


def _with_unique_credentials(scenario: Scenario, seed: int, sandbox_id: str) -> Scenario:
    own = tuple(_with_own_keys(reseller, seed, sandbox_id) for reseller in scenario.resellers)
    return replace(scenario, resellers=own)


def _with_own_keys(reseller: ResellerStart, seed: int, sandbox_id: str) -> ResellerStart:
    """Return the reseller with a single active key pair and users that are unique to this sandbox."""
    users = tuple(User(f"{user.username}-{sandbox_id}", user.password) for user in reseller.users)
    return msgspec.structs.replace(reseller, keys=(draw_key(seed, sandbox_id, reseller.code),), users=users)


FREED_PER_TURN = 1_000
"""How many records one turn of the event loop frees, in about two milliseconds."""

FREED_AFTER_S = 1.0
"""After that, requests that still read the ended life have usually ended."""


class Life:
    """The parts of the sandbox `id_` that begin with a life, and are discarded together at its end.

    `LiveSandbox` has most of them as attributes, too; a new part is added here and in `LiveSandbox._begin`.
    """

    def __init__(
        self, id_: str, spec: SandboxSpec, first: FirstState, journal: Journal, tape: Tape, surroundings: Surroundings
    ) -> None:
        state = first.core.state
        scenario = state.scenario
        self.core = first.core
        self.beginning = Beginning(spec, state.started, first.clock.mode, first.clock.rate)
        self.journal = journal
        self.tape = tape
        self.inboxes = Inboxes(scenario.limits, surroundings.inbox_budget, state.started, state.secrets, state.seed)
        self.inboxes.follow(scenario.inboxes)
        self.courier = Courier(id_, state.seed, scenario, self.inboxes, surroundings.sender, tape.add)
        self.counters = Counters(scenario.expect, state)
        self.secrets = OwnSecrets(state.secrets)
        self.marks = Marks()
        self.probes: deque[Notification] = deque(maxlen=SENT_MAX)  # the latest requests of probes; reports number them

    def join(self, surroundings: Surroundings) -> None:
        """Count in the budgets of a server from now on."""
        self.inboxes.join(surroundings.inbox_budget)
        self.tape.join(surroundings.tape_budget)

    def dispose(self) -> None:
        """Free the records once the caller has dropped its references.

        The slices are taken from a list of references. The containers of the life do not change, so a request that
        still reads them finds all records.
        """
        state, tape = self.core.state, self.tape
        tape.leave()
        records: list[object] = [*tape.entries.objects, *state.nonces, *state.callbacks, *state.transactions.by_number]
        for reseller in state.resellers.values():
            records += reseller.wallet.entries.records
        asyncio.get_running_loop().call_later(FREED_AFTER_S, _free_slice, records)


def _free_slice(records: list[object]) -> None:
    del records[-FREED_PER_TURN:]
    if records:
        asyncio.get_running_loop().call_soon(_free_slice, records)
