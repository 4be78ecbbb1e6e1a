"""Replays a tape of a file, and reports the first difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import Times
from simulator.domain.model.money import SERVICE_ZONE
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.head import End, Head, MarkState, beginning_of
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.rebuilding import Surroundings, player_of
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import outside_digest
from simulator.persistence.tape.entries import Entry, RequestBegan, RequestShown
from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.library import load_scenario, names


class Moment(NamedTuple):
    """A place on a tape, after the first `n` entries, with the sandbox's time there; `about` is its name in
    messages."""

    n: int
    at: datetime
    about: str


@dataclass(frozen=True, slots=True)
class Proof:
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
    end = tape.end
    marks = () if end is None else end.marks
    if found := of_marks(player, marks):
        return Proof(player, found)
    for entry in islice(tape.entries, count):
        if found := player.play(entry) or of_marks(player, marks):
            return Proof(player, found)
    if end is None or (count is not None and count < len(tape.entries)):
        return Proof(player, None)
    return Proof(player, player.of_end(end.due, end.state) or _of_outside(tape.entries, end))


def _of_outside(entries: Sequence[Entry], end: End) -> Difference | None:
    """Return the difference of the messages from outside, or the marks, from the digest in the end line, if any."""
    if end.outside in ("", found := outside_digest(entries, end.marks)):
        return None
    return Difference(end.end, "messages from outside, or marks", end.outside, found)


def of_marks(player: Player, marks: Sequence[MarkState]) -> Difference | None:
    """Return the difference of the state at a mark at the player's place, if any."""
    here = (one for one in marks if one.n == player.place)
    return next((found for one in here if (found := player.of_state(f"at the mark {one.mark!r}", one.state))), None)


def compiler_for(head: Head) -> ScenarioCompiler:
    """Return a compiler for the life of a tape, which knows the source lines of a bundled scenario. The tape does not
    have them."""
    return ScenarioCompiler(*([load_scenario(head.name)] if head.name in names() else ()))


def player_for(
    head: Head, replayer: RequestReplay, around: Surroundings, compiler: ScenarioCompiler | None = None
) -> Player:
    """Return a player for the tape with this head. Raises `ScenarioError`."""
    compiler = compiler or ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    return player_of(head.sandbox, beginning, replayer, around, head.hidden, compiler)


def moment_in(entries: Sequence[Entry], until: int | Times, first: datetime, last: datetime) -> Moment:
    """Return the moment after a number of entries, or before the first entry later than a time, on a tape from `first`
    to `last`. Raises `Unacceptable`."""
    if isinstance(until, Times):
        if until.latest < first or last < until.said:
            life = f"it is from {shown_time(first)} to {shown_time(last)}"
            raise Unacceptable("unknown_moment", f"the tape has no such time: {life}", "to")
        return Moment(*place_at(entries, until, first), shown_time(until.said))
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


def place_at(entries: Sequence[Entry], asked: Times, started: datetime) -> tuple[int, datetime]:
    """Return how many entries come before the first entry later than the requested times, and the time after them. A
    request that another sandbox handled has the time of that sandbox."""
    at = max(asked.said, started)
    for n, one in enumerate(entries):
        if isinstance(one, RequestShown):
            continue
        if (now := now_of(one)) > asked.latest:
            return n, at
        at = max(at, now)
    return len(entries), at


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
