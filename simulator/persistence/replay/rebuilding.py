"""Rebuilds a sandbox from a tape in parallel with the running sandboxes, up to a moment, to the first difference or to
the end, and lets it continue afterwards."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from simulator.domain.commands import EndAttempt
from simulator.domain.errors import Unacceptable
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.domain.model.instants import Times
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.scenario import Scenario
from simulator.domain.sandbox import Sandbox
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.player import Player, RequestReplay, TapeClock
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import Head, beginning_of
from simulator.persistence.tape.entries import ClockSet, Entry, RequestBegan, RequestShown
from simulator.persistence.tape.tape import Tape
from simulator.runtime.background import in_background
from simulator.runtime.clock import Clock, Wall
from simulator.runtime.courier import Turn
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Beginning, FirstState, Surroundings, core_of
from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.library import load_scenario, names

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _BlockedSender:
    """A sender for rebuilt sandboxes, which sends nothing: the answers of receivers are on the tape."""

    def turn(self, url: str, owner: str) -> Turn:
        return nullcontext(lambda: False)

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """Return a result as if nothing had been sent."""
        return AttemptResult(AttemptEnd.BLOCKED, error="a replay sends nothing")


def nowhere() -> Surroundings:
    """Return the surroundings of a sandbox that does not continue."""
    return Surroundings(lambda: EPOCH, _BlockedSender())


def player_of(
    id_: str,
    beginning: Beginning,
    replayer: RequestReplay,
    surroundings: Surroundings,
    compiler: ScenarioCompiler,
    make: Callable[..., Sandbox] = Sandbox,
) -> Player:
    """Return a player for the tape of a life with this beginning; `make` creates the state machine. It can run in a
    thread if it alone uses `compiler`."""

    def begin(make: Callable[..., Sandbox]) -> tuple[LiveSandbox, TapeClock]:
        spec, clock = beginning.spec, TapeClock(beginning.mode, beginning.rate, beginning.started)
        first = FirstState(clock, core_of(id_, spec, beginning.started, compiler, make))
        return LiveSandbox(id_, spec, first, surroundings), clock

    return Player(*begin(make), replayer, lambda: begin(Sandbox)[0], compiler)


ENDED: Final = "the simulator ended during this attempt"
REWOUND: Final = "the sandbox was rewound during this attempt"
FORKED: Final = "the sandbox was forked during this attempt"


def resume_after_restart(player: Player, wall: Wall, left_at: datetime) -> LiveSandbox:
    """Return the rebuilt sandbox after a restart of the server: a running clock has advanced since the wall time
    `left_at`. A real clock waits when the wall was set back."""
    live, clock = player.live, leave_tape(player, wall)
    if clock.runs:
        by_wall = wall() - left_at
        clock = Clock(wall, clock.mode, clock.rate, clock.at(clock.latest + max(timedelta(), by_wall)))
        if clock.mode == "real":
            clock.behind = min(timedelta(), by_wall)
    live.run_on_clock(clock)
    return live


def leave_tape(player: Player, wall: Wall, at: datetime | None = None, error: str = ENDED) -> Clock:
    """Leave the tape at the time `at`, or at the time of the last entry, and return the clock from there on. Attempts
    in flight end with this error: they are sent again, and do not count for any limit. Waiting requests are dropped."""
    player.end()
    live, now = player.live, at or player.clock.now()
    # The tape has no entry that sets a manual clock to this time, or a running clock to this wall time.
    if error != ENDED if live.clock.runs else now > player.clock.now():
        player.play(ClockSet(now, live.clock.mode, live.clock.rate))
    interrupted = AttemptResult(AttemptEnd.INTERRUPTED, error=error)
    for job, send in list(live.core.state.in_flight.items()):
        if live.courier.sent.is_begun(job):
            live.apply_and_record(EndAttempt(job, send.attempt.number, interrupted), now)
    return Clock(wall, live.clock.mode, live.clock.rate or 1.0, now)


async def load_whole_tape(tape: Tape) -> None:
    """Load all entries of a tape into memory."""
    unread = tape.unread
    if unread is not None:
        tape.insert_unread(unread, await in_background(unread.read))


class Moment(NamedTuple):
    """A place on a tape, after the first `n` entries, with the sandbox's time there; `about` is its name in
    messages."""

    n: int
    at: datetime
    about: str


class Proof(NamedTuple):
    """The result of a replay: its player, and the first difference if any."""

    player: Player
    difference: Difference | None


def prove(
    tape: ReadTape,
    replayer: RequestReplay,
    surroundings: Surroundings,
    count: int | None = None,
    compiler: ScenarioCompiler | None = None,
) -> Proof:
    """Rebuild a sandbox from its tape, up to its end, to the first `count` entries, or to the first difference. Raises
    `ScenarioError` for a scenario that this version does not accept."""
    player = player_for(tape.head, replayer, surroundings, compiler)
    marks = () if tape.end is None else tape.end.marks
    for entry in (None, *islice(tape.entries, count)):  # a mark may be before the first entry
        found = None if entry is None else player.play(entry)
        for mark in marks:
            if found is None and mark.n == player.place:
                found = player.of_state(f"at the mark {mark.mark!r}", mark.state)
        if found is not None:
            return Proof(player, found)
    if tape.end is None or (count is not None and count < len(tape.entries)):
        return Proof(player, None)
    return Proof(player, player.of_end(tape.end.due, tape.end.state))


def compiler_for(head: Head, *known: Scenario) -> ScenarioCompiler:
    """Return a compiler for the life of a tape, which knows the source lines of the `known` scenarios and of a bundled
    scenario. The tape does not have them."""
    is_bundled = head.name in names() and head.name not in (scenario.name for scenario in known)
    return ScenarioCompiler(*known, *([load_scenario(head.name)] if is_bundled else ()))


def player_for(
    head: Head, replayer: RequestReplay, surroundings: Surroundings, compiler: ScenarioCompiler | None = None
) -> Player:
    """Return a player for the tape with this head. Raises `ScenarioError`."""
    compiler = compiler or ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    return player_of(head.sandbox, beginning, replayer, surroundings, compiler)


def moment_in(entries: Sequence[Entry], until: int | Times, first: datetime, last: datetime) -> Moment:
    """Return the moment after a number of entries, or before the first entry later than a time, on a tape from `first`
    to `last`. Raises `Unacceptable`. A request that another sandbox handled has the time of that sandbox."""
    if isinstance(until, Times):
        if until.latest < first or last < until.said:
            life = f"it is from {shown_time(first)} to {shown_time(last)}"
            raise Unacceptable("unknown_moment", f"the tape has no such time: {life}", "to")
        times = ((n, now_of(entry)) for n, entry in enumerate(entries) if not isinstance(entry, RequestShown))
        n = next((n for n, now in times if now > until.latest), len(entries))
        return Moment(n, max(until.said, time_behind(entries[:n], first)), shown_time(until.said))
    if until > len(entries):
        count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
        raise Unacceptable("unknown_moment", f"the tape has {count}: N is from 0 to {len(entries)}", "n")
    return Moment(until, time_behind(entries[:until], first), f"entry {until}")


def moment_until(tape: ReadTape, until: int | Times) -> Moment:
    """Return the moment to play a tape to. Raises the same as `moment_in`."""
    return moment_in(tape.entries, until, tape.head.started, last_time(tape))


def last_time(tape: ReadTape) -> datetime:
    """Return the time when a tape was taken; the time of its last entry when unknown, or when later entries are
    missing."""
    if tape.end is not None and tape.end.now is not None and not tape.end.left_out:
        return max(tape.end.now, time_behind(tape.entries, tape.head.started))
    return time_behind(tape.entries, tape.head.started)


def time_behind(entries: Sequence[Entry], started: datetime) -> datetime:
    """Return the time of the last of these entries."""
    return next((now_of(entry) for entry in reversed(entries) if not isinstance(entry, RequestShown)), started)


def now_of(entry: Entry) -> datetime:
    """Return the sandbox's time of an entry."""
    if isinstance(entry, RequestBegan | RequestShown):
        entry = entry.exchange
    now: datetime = getattr(entry, "now", None) or entry.at  # type: ignore[union-attr]  # a request's record has `at`
    return now


def shown_time(time: datetime) -> str:
    """Return a time in the service's format."""
    return time.astimezone(SERVICE_ZONE).isoformat()
