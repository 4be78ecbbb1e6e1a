"""Begins to rebuild a sandbox as it once began, beside those that run."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial

import msgspec

from simulator.domain.model.effects import AttemptEnd, AttemptResult, Outgoing
from simulator.domain.sandbox import Sandbox
from simulator.persistence.replay.player import Again, Player
from simulator.persistence.replay.tape_clock import TapeClock
from simulator.runtime.clock import Wall
from simulator.runtime.courier import Sender
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandbox_start import Beginning, core_of
from simulator.runtime.server_budgets import ServerBudgets, unshared_budgets
from simulator.scenario.compiler import ScenarioCompiler

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Nobody:
    """A sender for what is rebuilt, which sends nothing: what receivers answered is on the tape."""

    def turn(self, url: str, owner: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def send(self, outgoing: Outgoing, timeout_s: float, owner: str) -> AttemptResult:
        """Answer that nothing was sent."""
        return AttemptResult(AttemptEnd.BLOCKED, error="a replay sends nothing")


class Surroundings(msgspec.Struct, frozen=True):
    """What a rebuilt sandbox will live among, should it go on: the server's wall clock and sender, and its
    budgets."""

    wall: Wall
    sender: Sender
    budgets: ServerBudgets


def nowhere() -> Surroundings:
    """The surroundings of a sandbox that is rebuilt to be looked at alone."""
    return Surroundings(lambda: EPOCH, _Nobody(), unshared_budgets())


def player_of(
    id_: str,
    beginning: Beginning,
    again: Again,
    around: Surroundings,
    hidden: tuple[str, ...] = (),
    compiler: ScenarioCompiler | None = None,
    *,
    is_masked: bool = False,
) -> Player:
    """A player for the tape of a life that began so; `hidden` is what its head calls so. It may play beside the
    event loop, since it has a `compiler` of its own, or is given one."""
    own = compiler or ScenarioCompiler()
    begin = partial(begun, id_, beginning, around, hidden, own)
    live, clock = begin()
    return Player(live, clock, again, lambda: begin()[0], own, is_masked=is_masked)


def begun(
    id_: str,
    beginning: Beginning,
    around: Surroundings,
    hidden: tuple[str, ...],
    compiler: ScenarioCompiler,
    make: Callable[..., Sandbox] = Sandbox,
) -> tuple[LiveSandbox, TapeClock]:
    """A sandbox that has just begun so, with its clock; `make` makes its state machine."""
    clock = TapeClock(beginning.mode, beginning.rate, beginning.started)
    first = clock, core_of(id_, beginning.spec, beginning.started, compiler, make)
    live = LiveSandbox(id_, beginning.spec, first, around.wall, around.sender, around.budgets)
    live.hidden = hidden
    return live, clock
