"""Rebuilds a sandbox in parallel with the running sandboxes, and lets it continue afterwards."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from simulator.domain.commands import EndAttempt
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.domain.sandbox import Sandbox
from simulator.persistence.replay.player import Player, RequestReplay, TapeClock
from simulator.persistence.tape.entries import ClockSet
from simulator.persistence.tape.tape import Tape
from simulator.runtime.background import in_background
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.courier import Sender
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Beginning, ServerBudgets, core_of, unshared_budgets
from simulator.scenario.build import ScenarioCompiler

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Nobody:
    """A sender for rebuilt sandboxes, which sends nothing: the answers of receivers are on the tape."""

    def turn(self, url: str, owner: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """Return a result as if nothing had been sent."""
        return AttemptResult(AttemptEnd.BLOCKED, error="a replay sends nothing")


class Surroundings(msgspec.Struct, frozen=True):
    """The wall clock, sender and budgets of the server, for a sandbox that continues after it was rebuilt."""

    wall: Wall
    sender: Sender
    budgets: ServerBudgets


def nowhere() -> Surroundings:
    """Return the surroundings of a sandbox that does not continue."""
    return Surroundings(lambda: EPOCH, _Nobody(), unshared_budgets())


def player_of(
    id_: str,
    beginning: Beginning,
    replayer: RequestReplay,
    around: Surroundings,
    compiler: ScenarioCompiler | None = None,
    make: Callable[..., Sandbox] = Sandbox,
) -> Player:
    """Return a player for the tape of a life with this beginning; `make` creates the state machine. It can run in a
    thread, since it has its own `compiler`, or the given one."""
    own = compiler or ScenarioCompiler()

    def begin(make: Callable[..., Sandbox]) -> tuple[LiveSandbox, TapeClock]:
        clock = TapeClock(beginning.mode, beginning.rate, beginning.started)
        first = clock, core_of(id_, beginning.spec, beginning.started, own, make)
        live = LiveSandbox(id_, beginning.spec, first, around.wall, around.sender, around.budgets)
        return live, clock

    return Player(*begin(make), replayer, lambda: begin(Sandbox)[0], own)


ENDED: Final = "the simulator ended during this attempt"
REWOUND: Final = "the sandbox was rewound during this attempt"
FORKED: Final = "the sandbox was forked during this attempt"
RETURNED: Final = (REWOUND, FORKED)
"""Endings after which the wall time jumps from the last entry to the present."""


def resume(player: Player, wall: Wall, at: datetime | None = None, error: str = ENDED) -> LiveSandbox:
    """Return the rebuilt sandbox under a clock of its own (see `left`). `start` it when the event loop runs."""
    player.live.run_on_clock(left(player, wall, at, error))
    return player.live


def resume_after_restart(player: Player, wall: Wall, left_at: datetime) -> LiveSandbox:
    """Return the rebuilt sandbox after a restart of the server: a running clock has advanced since the wall time
    `left_at`. A real clock waits when the wall was set back."""
    live, clock = player.live, left(player, wall)
    if clock.runs:
        by_wall = wall() - left_at
        clock = Clock(wall, clock.mode, clock.rate, clock.now() + max(timedelta(), by_wall) * clock.rate)
        if clock.mode == "real":
            clock.behind = min(timedelta(), by_wall)
    live.run_on_clock(clock)
    return live


def left(player: Player, wall: Wall, at: datetime | None = None, error: str = ENDED) -> Clock:
    """Leave the tape at the time `at`, or at the time of the last entry, and return the clock from there on. Attempts
    in flight end with this error: they are sent again, and do not count for any limit. Waiting requests are dropped."""
    player.end()
    live, now = player.live, at or player.now
    # The tape has no entry that sets a manual clock to this time, or a running clock to this wall time.
    if error in RETURNED if live.clock.runs else now > player.now:
        player.play(ClockSet(now, live.clock.mode, live.clock.rate))
    interrupted = AttemptResult(AttemptEnd.INTERRUPTED, error=error)
    for job, send in list(live.core.state.in_flight.items()):
        if live.courier.sent.is_begun(job):
            live.enter(EndAttempt(job, send.attempt.number, interrupted), now)
    return Clock(wall, live.clock.mode, live.clock.rate or 1.0, now)


async def load_whole_tape(tape: Tape) -> None:
    """Load all entries of a tape into memory."""
    unread = tape.unread
    if unread is not None:
        tape.has_read(unread, await in_background(unread.read))
