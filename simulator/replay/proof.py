"""Replays a tape of a file, and says whether all is as it was."""

from dataclasses import dataclass
from datetime import datetime

from simulator.replay.differences import Difference
from simulator.replay.head import Head, beginning_of
from simulator.replay.player import Again, Player
from simulator.replay.reading import ReadTape
from simulator.replay.rebuilding import Surroundings, player_of
from simulator.scenario.compiler import ScenarioCompiler
from simulator.tape.entries import Entry, RequestBegan, RequestShown


@dataclass(frozen=True, slots=True)
class Until:
    """Where to stop: behind so many entries, or before the first one that is later than a time."""

    entries: int | None = None
    time: datetime | None = None

    def stops_before(self, place: int, entry: Entry) -> bool:
        """True when the entry at this place, counted from 0, is not to be played."""
        if self.entries is not None and place >= self.entries:
            return True
        return self.time is not None and now_of(entry) > self.time


EVERYTHING = Until()


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a replay: who played it, and the first difference if there is one."""

    player: Player
    difference: Difference | None


def prove(tape: ReadTape, again: Again, around: Surroundings, until: Until = EVERYTHING) -> Proof:
    """Rebuild a sandbox from its tape, up to its end, to `until`, or to the first difference. Raises `ScenarioError`
    for a scenario that this version does not accept."""
    player = player_for(tape.head, again, around)
    for place, entry in enumerate(tape.entries):
        if until.stops_before(place, entry):
            break
        if found := player.play(entry):
            return Proof(player, found)
    else:
        return Proof(player, None if tape.end is None else player.of_end(tape.end.due))
    return Proof(player, None)


def player_for(head: Head, again: Again, around: Surroundings) -> Player:
    """A player for the tape with this head. Raises `ScenarioError`."""
    compiler = ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    return player_of(head.sandbox, beginning, again, around, head.hidden, compiler, is_masked=head.masked)


def now_of(entry: Entry) -> datetime:
    """The sandbox's time of an entry."""
    if isinstance(entry, RequestBegan | RequestShown):
        entry = entry.exchange
    now: datetime = getattr(entry, "now", None) or entry.at  # type: ignore[union-attr]  # a request's record has `at`
    return now
