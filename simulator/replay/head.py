"""The first and the last line of a tape: what the sandbox began from, and how many entries there are."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandbox_start import Beginning, SandboxSpec
from simulator.scenario.compiler import COMPILER, ScenarioCompiler

VERSION = 1
"""Of the format; a reader refuses a higher one."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The clock that a sandbox began with; `start` is what was asked for, None for the present."""

    mode: str
    rate: float
    start: datetime | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a tape. `scenario` is its document with all that it extends, `name` what it is called when the
    document does not say; `entries` is how many lines follow before the last one. `masked` when stand-ins are in the
    place of its secrets; `hidden` are those of the server, which no text of the sandbox shows."""

    tape: int
    version: str
    sandbox: str
    started: datetime
    seed: int
    clock: Clock
    name: str
    scenario: Mapping[str, Any]
    entries: int
    unique_credentials: bool = False
    audited: bool = True
    masked: bool = False
    hidden: tuple[str, ...] = ()


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: the number of entries, and of the inputs that the tape had no room for."""

    end: int
    left_out: int = 0


def head_of(live: LiveSandbox, entries: int, version: str) -> Head:
    """The head of a sandbox's tape of so many entries, written by this version of the simulator."""
    beginning = live.beginning
    spec = beginning.spec
    return Head(
        tape=VERSION,
        version=version,
        sandbox=live.id,
        started=beginning.started,
        seed=live.seed,
        clock=Clock(mode=beginning.mode, rate=beginning.rate, start=spec.start),
        name=spec.scenario.name,
        scenario=spec.scenario.document,
        entries=entries,
        unique_credentials=spec.unique_credentials,
        audited=spec.is_audited,
        hidden=live.server_secrets,
    )


def beginning_of(head: Head, compiler: ScenarioCompiler = COMPILER) -> Beginning:
    """How the life of a tape began. Raises `ScenarioError`."""
    clock = head.clock
    spec = SandboxSpec(
        scenario=compiler.scenario(head.scenario, head.name),
        id=head.sandbox,
        seed=head.seed,
        mode=clock.mode,
        rate=clock.rate,
        start=clock.start,
        unique_credentials=head.unique_credentials,
        is_audited=head.audited,
    )
    return Beginning(spec, head.started, clock.mode, clock.rate)
