"""Lets a sandbox that was rebuilt go on by itself."""

from datetime import datetime, timedelta
from typing import Final

from simulator.domain.commands import EndAttempt
from simulator.domain.model.effects import AttemptEnd, AttemptResult
from simulator.persistence.replay.player import Player
from simulator.persistence.tape.entries import ClockSet
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.live_sandbox import LiveSandbox

ENDED: Final = "the simulator ended during this attempt"
REWOUND: Final = "the sandbox was rewound during this attempt"
FORKED: Final = "the sandbox was forked during this attempt"
RETURNED: Final = (REWOUND, FORKED)
"""Where time goes on at another time of the wall than when the tape had come to there."""


def go_on(player: Player, wall: Wall, at: datetime | None = None, error: str = ENDED) -> LiveSandbox:
    """The sandbox that was rebuilt, under a clock of its own: see `left`. `start` it when the event loop runs."""
    player.live.go_on(left(player, wall, at, error))
    return player.live


def return_to_life(player: Player, wall: Wall, left_at: datetime, step: timedelta | None) -> LiveSandbox:
    """The same after a restart of the server: a clock that runs has run on since `left_at`, a time of the wall, which
    was set by `step` meanwhile, None when nobody knows. A real clock follows the wall, but waits for one that was set
    back; a faster one takes the time that has passed."""
    live, clock = player.live, left(player, wall)
    if clock.runs:
        by_wall = wall() - left_at
        passed = by_wall - (step or timedelta())
        if clock.mode == "real":
            passed = max(by_wall, passed)
        passed = max(timedelta(), passed)
        clock = Clock(wall, clock.mode, clock.rate, clock.now() + passed * clock.rate)
        if clock.mode == "real":
            clock.behind = min(timedelta(), by_wall - passed)
    live.go_on(clock)
    return live


def left(player: Player, wall: Wall, at: datetime | None = None, error: str = ENDED) -> Clock:
    """Leave the tape, at the time `at` or that of the last entry, and answer the clock that goes on there. Attempts
    that were sent and not answered have ended with this error: they are made again, and count for no limit. Requests
    that waited are gone."""
    player.end()
    live, now = player.live, at or player.now
    # Nothing has moved a clock that stands to just this time, nor one that runs to this time of the wall.
    if error in RETURNED if live.clock.runs else now > player.now:
        player.play(ClockSet(now, live.clock.mode, live.clock.rate))
    interrupted = AttemptResult(AttemptEnd.INTERRUPTED, error=error)
    for job, send in list(live.core.state.in_flight.items()):
        if live.courier.sent.is_begun(job):
            live.enter(EndAttempt(job, send.attempt.number, interrupted), now)
    return Clock(wall, live.clock.mode, live.clock.rate or 1.0, now)
