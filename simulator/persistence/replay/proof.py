"""Replays a tape of a file, and says whether all is as it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from simulator.domain.model.instants import Times
from simulator.domain.model.money import SERVICE_ZONE
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.head import End, Head, MarkState, beginning_of
from simulator.persistence.replay.player import Again, Player
from simulator.persistence.replay.rebuilding import Surroundings, player_of
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import outside_digest
from simulator.persistence.tape.entries import Entry, RequestBegan, RequestShown
from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.library import load_scenario, names


class NoSuchMoment(Exception):
    """The tape has no such number of entries, or time; the text says which it has."""


class TapePlace(NamedTuple):
    """A place on a tape, behind the first `n` entries, and the sandbox's time there, None for that of the last one."""

    n: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a replay: who played it, and the first difference if there is one."""

    player: Player
    difference: Difference | None


def prove(
    tape: ReadTape,
    again: Again,
    around: Surroundings,
    count: int | None = None,
    compiler: ScenarioCompiler | None = None,
) -> Proof:
    """Rebuild a sandbox from its tape, up to its end, to the first `count` entries, or to the first difference. Raises
    `ScenarioError` for a scenario that this version does not accept."""
    player = player_for(tape.head, again, around, compiler)
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
    """Whether messages from outside, or marks, are others than those of which the end has the digest."""
    if end.outside in ("", found := outside_digest(entries, end.marks)):
        return None
    return Difference(end.end, "messages from outside, or marks", end.outside, found)


def of_marks(player: Player, marks: Sequence[MarkState]) -> Difference | None:
    """Whether the state is another one than at a mark that is where the player is."""
    here = (one for one in marks if one.n == player.place)
    return next((found for one in here if (found := player.of_state(f"at the mark {one.mark!r}", one.state))), None)


def compiler_for(head: Head) -> ScenarioCompiler:
    """A compiler for the life of a tape, which knows where the rules of a bundled scenario are written. Its tape does
    not say."""
    compiler = ScenarioCompiler()
    if head.name in names():
        compiler.remember(load_scenario(head.name))
    return compiler


def player_for(head: Head, again: Again, around: Surroundings, compiler: ScenarioCompiler | None = None) -> Player:
    """A player for the tape with this head. Raises `ScenarioError`."""
    compiler = compiler or ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    return player_of(head.sandbox, beginning, again, around, head.hidden, compiler)


def place_until(tape: ReadTape, until: int | Times) -> TapePlace:
    """Where a tape is to be played to: behind so many entries, or before the first one that is later than a time.
    Raises `NoSuchMoment`."""
    count = len(tape.entries)
    if isinstance(until, Times):
        first, last = tape.head.started, last_time(tape)
        if not is_within(until, first, last):
            raise NoSuchMoment(f"the tape has no such time: it is from {shown_time(first)} to {shown_time(last)}")
        return TapePlace(*place_at(tape.entries, until, first))
    if until > count:
        entries = "1 entry" if count == 1 else f"{count} entries"
        raise NoSuchMoment(
            f"the tape has {entries}{' that can be read' if tape.damage else ''}: N is from 0 to {count}"
        )
    return TapePlace(until)


def last_time(tape: ReadTape) -> datetime:
    """The time when a tape was taken; that of its last entry when it does not say so, or lacks what came later."""
    if tape.end is not None and tape.end.now is not None and not tape.end.left_out:
        return tape.end.now
    return time_behind(tape.entries, tape.head.started)


def is_within(asked: Times, first: datetime, last: datetime) -> bool:
    """Whether a life that began and ended at these times had one of those that are asked for."""
    return first <= asked.latest and asked.said <= last


def place_at(entries: Sequence[Entry], asked: Times, started: datetime) -> tuple[int, datetime]:
    """How many entries there are before the first one that is later than what is asked for, and the time when they have
    happened. A request that another sandbox handled has that one's time."""
    at = max(asked.said, started)
    for n, one in enumerate(entries):
        if isinstance(one, RequestShown):
            continue
        if (now := now_of(one)) > asked.latest:
            return n, at
        at = max(at, now)
    return len(entries), at


def time_behind(entries: Sequence[Entry], started: datetime) -> datetime:
    """The time of the last of these entries."""
    return next((now_of(one) for one in reversed(entries) if not isinstance(one, RequestShown)), started)


def now_of(entry: Entry) -> datetime:
    """The sandbox's time of an entry."""
    if isinstance(entry, RequestBegan | RequestShown):
        entry = entry.exchange
    now: datetime = getattr(entry, "now", None) or entry.at  # type: ignore[union-attr]  # a request's record has `at`
    return now


def shown_time(time: datetime) -> str:
    """A time as the service writes it."""
    return time.astimezone(SERVICE_ZONE).isoformat()
