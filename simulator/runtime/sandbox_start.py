"""How a sandbox begins: what it was asked to be, and the clock and state that each of its lives starts with."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

import msgspec

from simulator.domain.model.resellers import User
from simulator.domain.model.scenario import Compiler, ResellerStart, Scenario, draw_key
from simulator.domain.sandbox import Sandbox
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.quotas import NONE, Quotas
from simulator.scenario.build import COMPILER


class SandboxSpec(msgspec.Struct, frozen=True):
    """Parameters of a new sandbox; None keeps the scenario's value. A run's audit passes over what is not audited.
    Unique credentials and tokens are drawn for the id `drawn_for`, empty for the sandbox's own: a fork has its
    original's. One that `is_masked` was begun from a tape that has stand-ins for its secrets."""

    scenario: Scenario
    id: str | None = None
    seed: int | None = None
    mode: str | None = None
    rate: float | None = None
    start: datetime | None = None
    unique_credentials: bool = False
    is_audited: bool = True
    drawn_for: str = ""
    quotas: Quotas = NONE
    is_masked: bool = False


class Beginning(msgspec.Struct, frozen=True):
    """How a life of a sandbox began: when, and under which clock."""

    spec: SandboxSpec
    started: datetime
    mode: str
    rate: float


FirstState = tuple[Clock, Sandbox]

Ending = Literal["", "deleted", "reset", "rewound"]
"""What ends a life of a sandbox; empty while it goes on."""


def first_state(id_: str, spec: SandboxSpec, wall: Wall) -> FirstState:
    """The clock and state that a life of the sandbox `id_` begins with. It may be made beside the event loop."""
    start = spec.scenario.clock
    clock = Clock(
        wall, spec.mode or start.mode, start.rate if spec.rate is None else spec.rate, spec.start or start.start
    )
    return clock, core_of(id_, spec, clock.now())


def core_of(
    id_: str,
    spec: SandboxSpec,
    started: datetime,
    compiler: Compiler = COMPILER,
    make: Callable[..., Sandbox] = Sandbox,
) -> Sandbox:
    """The state machine of a life that started at this time; `make` makes it of its scenario."""
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
    """The same reseller with one active key pair and users that are unique to this sandbox."""
    users = tuple(User(f"{user.username}-{sandbox_id}", user.password) for user in reseller.users)
    return msgspec.structs.replace(reseller, keys=(draw_key(seed, sandbox_id, reseller.code),), users=users)
