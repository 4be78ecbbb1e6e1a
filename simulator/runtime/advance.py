"""The result of an advance, and what ends one before its target."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from simulator.domain.due import Fired

EVENTS_MAX = 100_000
# Until idle, as many events as these, and for each that was pending at the beginning: a payment has a few, and a
# receiver that pays again for each callback has no end.
IDLE_EVENTS_MAX = 2_000
IDLE_EVENTS_PENDING_MAX = 20
IDLE_SPAN_MAX = timedelta(days=366)
STOPPED = "stopped by a request; advance again to go on"
FIRED_REPORTED_MAX = 1_000


class Advance(msgspec.Struct):
    """An advance, while it runs and when it is done. It `began` at that time, which was `wall` by the wall clock, with
    so many events `pending`, and goes to `target`, or until nothing is due when that is None. `stopped` says why it
    ended before; `left_out` counts what `fired` omits, `in_turn` what happened in this turn of the event loop.
    `is_stopping` is true once somebody has asked it to end, `is_over` is set when it has."""

    began: datetime
    target: datetime | None
    wall: datetime
    pending: int = 0
    fired: list[Fired] = msgspec.field(default_factory=list)
    left_out: int = 0
    events: int = 0
    stopped: str = ""
    in_turn: int = 0
    is_idle: bool = False
    is_stopping: bool = False
    is_over: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    async def stop(self, timeout_s: float) -> None:
        """Let it end after what it is at, and wait for that, at most so long (seconds of wall time)."""
        self.is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_over.wait(), timeout_s)

    def record(self, fired: Sequence[Fired], turn_max: int) -> bool:
        """Note what happened, within bounds. True when that and what happened before it fill a turn of the event loop,
        and whenever nothing did, since nobody knows how much was looked at then."""
        self.events += len(fired)
        room = FIRED_REPORTED_MAX - len(self.fired)
        if room:
            self.fired.extend(fired[:room])
        self.left_out += max(0, len(fired) - room)
        self.in_turn += len(fired)
        if fired and self.in_turn < turn_max:
            return False
        self.in_turn = 0
        return True


def reason_to_stop(report: Advance, due: datetime) -> str:
    """Why an advance stops before what is `due` next; empty to go on."""
    if report.events >= EVENTS_MAX:
        return f"stopped after {EVENTS_MAX} events; advance again to go on"
    if report.target is None and report.events >= IDLE_EVENTS_MAX + IDLE_EVENTS_PENDING_MAX * report.pending:
        return (
            f"stopped after {report.events} events, with {report.pending} pending at the beginning: something "
            "always follows, such as a payment that a receiver makes for each callback; advance again to go on"
        )
    if report.target is None and due - report.began > IDLE_SPAN_MAX:
        over = f"over {IDLE_SPAN_MAX.days} days after this began"
        return f"what is next is due at {due.isoformat()}, {over}; advance to then"
    return ""
