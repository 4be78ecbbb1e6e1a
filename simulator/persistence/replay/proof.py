"""Replays a tape of a file, and reports the first difference."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import Times
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.scenario import Scenario
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.rebuilding import Surroundings, player_of
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import Head, beginning_of
from simulator.persistence.tape.entries import Entry, RequestBegan, RequestShown
from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.library import load_scenario, names


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
    around: Surroundings,
    count: int | None = None,
    compiler: ScenarioCompiler | None = None,
) -> Proof:
    """Rebuild a sandbox from its tape, up to its end, to the first `count` entries, or to the first difference. Raises
    `ScenarioError` for a scenario that this version does not accept."""
    player = player_for(tape.head, replayer, around, compiler)
    marks = () if tape.end is None else tape.end.marks
    for entry in (None, *islice(tape.entries, count)):
        found = None if entry is None else player.play(entry)
        here = (one for one in marks if one.n == player.place and found is None)
        found = next(filter(None, (player.of_state(f"at the mark {one.mark!r}", one.state) for one in here)), found)
        if found is not None:
            return Proof(player, found)
    if tape.end is None or (count is not None and count < len(tape.entries)):
        return Proof(player, None)
    return Proof(player, player.of_end(tape.end.due, tape.end.state))


def compiler_for(head: Head, *known: Scenario) -> ScenarioCompiler:
    """Return a compiler for the life of a tape, which knows the source lines of the `known` scenarios and of a bundled
    scenario. The tape does not have them."""
    is_bundled = head.name in names() and head.name not in (one.name for one in known)
    return ScenarioCompiler(*known, *([load_scenario(head.name)] if is_bundled else ()))


def player_for(
    head: Head, replayer: RequestReplay, around: Surroundings, compiler: ScenarioCompiler | None = None
) -> Player:
    """Return a player for the tape with this head. Raises `ScenarioError`."""
    compiler = compiler or ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    return player_of(head.sandbox, beginning, replayer, around, compiler)


def moment_in(entries: Sequence[Entry], until: int | Times, first: datetime, last: datetime) -> Moment:
    """Return the moment after a number of entries, or before the first entry later than a time, on a tape from `first`
    to `last`. Raises `Unacceptable`. A request that another sandbox handled has the time of that sandbox."""
    if isinstance(until, Times):
        if until.latest < first or last < until.said:
            life = f"it is from {shown_time(first)} to {shown_time(last)}"
            raise Unacceptable("unknown_moment", f"the tape has no such time: {life}", "to")
        times = ((n, now_of(one)) for n, one in enumerate(entries) if not isinstance(one, RequestShown))
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
        return tape.end.now
    return time_behind(tape.entries, tape.head.started)


def time_behind(entries: Sequence[Entry], started: datetime) -> datetime:
    """Return the time of the last of these entries."""
    return next((now_of(one) for one in reversed(entries) if not isinstance(one, RequestShown)), started)


def now_of(entry: Entry) -> datetime:
    """Return the sandbox's time of an entry."""
    if isinstance(entry, RequestBegan | RequestShown):
        entry = entry.exchange
    now: datetime = getattr(entry, "now", None) or entry.at  # type: ignore[union-attr]  # a request's record has `at`
    return now


def shown_time(time: datetime) -> str:
    """Return a time in the service's format."""
    return time.astimezone(SERVICE_ZONE).isoformat()
