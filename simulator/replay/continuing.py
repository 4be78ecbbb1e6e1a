"""Lets a sandbox that was rebuilt go on by itself."""

import asyncio

from simulator.domain.commands import EndAttempt
from simulator.domain.model.effects import AttemptEnd, AttemptResult
from simulator.replay.player import Player
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.driver import Driver
from simulator.runtime.live_sandbox import LiveSandbox

INTERRUPTED = AttemptResult(AttemptEnd.CONNECTION, error="the simulator ended during this attempt")


def go_on(player: Player, wall: Wall) -> LiveSandbox:
    """The sandbox that was rebuilt, under a clock of its own that begins where the tape stands. Attempts that were in
    flight have failed, so that the next ones are made; requests that waited are gone. `start` it when the event loop
    runs."""
    player.end()
    live, now = player.live, player.now
    for job, send in list(live.core.state.in_flight.items()):
        live.enter(EndAttempt(job, send.attempt.number, INTERRUPTED), now)
    clock = Clock(wall, live.clock.mode, live.clock.rate or 1.0, now)
    live.clock = live.events.clock = clock
    live.sleep = asyncio.sleep
    live.driver = Driver(live.enter, live.core.state.agenda, clock, live.courier, live.tape.add)
    return live
