"""The beginning of a sandbox: its parameters, and the clock and state that each of its lives starts with."""

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
    """The parameters of a new sandbox; None keeps the scenario's value. The audit of a run skips sandboxes that are not
    audited. Unique credentials and tokens are derived from the id `drawn_for`, or from the sandbox's own id if empty: a
    fork uses the id of its original. A sandbox that `is_masked` began from a tape with stand-ins for its secrets."""

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
"""The reason why a life of a sandbox ended; empty while it lasts."""


def first_state(id_: str, spec: SandboxSpec, wall: Wall) -> FirstState:
    """Return the clock and state that a life of the sandbox `id_` begins with. Callable in a thread."""
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
