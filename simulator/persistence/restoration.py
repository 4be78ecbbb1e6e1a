"""Rebuilds a sandbox from a store: from its newest snapshot and the entries after it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

import msgspec

from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.errors import NoSandbox, StoreError, Unusable
from simulator.persistence.keeper import StoredMark, not_kept_errors
from simulator.persistence.reader import Reader
from simulator.persistence.replay.codec import AnsweredRequest, BadTape, Began, entry_from
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.rebuilding import EPOCH, compiler_for, nowhere, player_of
from simulator.persistence.replay.tape_reader import head_from
from simulator.persistence.replay.tape_writer import Head, TakenTape, beginning_of, end_of
from simulator.persistence.snapshot.document import BadSnapshot, snapshot_of
from simulator.persistence.snapshot.restore import restored
from simulator.persistence.tape.entries import Entry
from simulator.persistence.tape.tape import Unread
from simulator.persistence.writer import StoredLife
from simulator.runtime.lives import Surroundings
from simulator.scenario.reading.nodes import ScenarioError


class CannotResume(Exception):
    """This version cannot rebuild the contents of the folder; the text says where and what to do."""


class RestoredSandbox(NamedTuple):
    """A sandbox as of its last entry, which was written at the wall time `left_at`. `passed_over` says which snapshots
    were unusable, and why."""

    player: Player
    left_at: datetime
    passed_over: list[str]


class Restorer:
    """Rebuilds the sandboxes of a folder. For `known` scenarios, the source lines of their rules are available."""

    def __init__(self, reader: Reader, replayer: RequestReplay, surroundings: Surroundings, *known: Scenario) -> None:
        self._reader = reader
        self._replayer = replayer
        self._surroundings = surroundings
        self._known = known

    def restore(self, life: StoredLife) -> RestoredSandbox:
        """Return the sandbox. Raises `CannotResume`, and `StoreError` for unreadable data."""
        try:
            head = head_from(life.head)
            player, line, passed_over = self._begun(life, head)
            left_at = self._play(player, life, line)
            marks = [msgspec.json.decode(note, type=StoredMark) for _, _, note in self._reader.marks(life.sandbox)]
            player.live.marks.restore(stored.mark for stored in sorted(marks, key=lambda stored: stored.serial))
            return RestoredSandbox(player, left_at, passed_over)
        except (BadTape, ScenarioError, DomainError) as error:
            raise CannotResume(f"sandbox {life.sandbox!r} cannot be read: {error}") from None
        except (AssertionError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            text = f"it cannot be played ({type(error).__name__}: {error})"
            raise CannotResume(f"sandbox {life.sandbox!r} cannot be read: {text}; was it changed by hand?") from None

    def _begun(self, life: StoredLife, head: Head) -> tuple[Player, int, list[str]]:
        """Return a player that has played all entries up to a line."""
        compiler, passed_over = compiler_for(head, *self._known), list[str]()
        arguments = head.sandbox, beginning_of(head, compiler), self._replayer, self._surroundings, compiler
        for stored in reversed(life.snapshots):
            try:
                snapshot = snapshot_of(self._reader.parts(stored))
                player = restored(snapshot, *arguments)
            except BadSnapshot as bad:
                passed_over.append(f"sandbox {life.sandbox!r}: {bad}")
                continue
            tape, count = player.live.tape, snapshot.n - player.live.tape.left_out
            tape.restore_unread(Unread(count, partial(self._first, life, stored.n, count)))
            return player, stored.n, passed_over
        if life.floor:
            text = f"its first {life.floor} entries are not kept any more, and none of its snapshots can be used"
            hint = "; ".join(passed_over) or "there is none"
            raise CannotResume(f"sandbox {life.sandbox!r}: {text} ({hint})")
        return player_of(*arguments), 0, passed_over

    def _first(self, life: StoredLife, last: int, count: int) -> Sequence[Entry]:
        """Return the entries up to a line, or none when some of the `count` are no longer stored. Raises `Conflict`."""
        found: list[Entry] = []
        with not_kept_errors(), suppress(NoSandbox):
            found += _entries(self._reader, life, last)
        return found if len(found) == count else ()

    def _play(self, player: Player, life: StoredLife, line: int) -> datetime:
        """Play the entries after a line. Return the wall time at the end."""
        left_at = player.clock.wall()  # as far as the tape has it
        for place, at, entry in _lines(self._reader, life, line + 1):
            if isinstance(entry, AnsweredRequest):
                found = player.answered(entry.exchange)
            else:
                found, left_at = player.play(entry), at
            if found is not None:
                text = f"sandbox {life.sandbox!r} cannot be rebuilt: line {place} ({found.what}) differs when it is"
                raise CannotResume(
                    f"{text} repeated; use the version that wrote the folder, or start with an empty folder"
                )
        return left_at


def _lines(reader: Reader, life: StoredLife, line: int) -> Iterator[tuple[int, datetime, Entry | AnsweredRequest]]:
    """Yield the entries from a line on, and the answers to waiting requests, with their wall times. Each line is read
    before the previous entry is yielded, so that a request that resumes knows its answer."""
    began: Began = {}
    stored = reader.entries(life.sandbox, line, life.key)
    lines = ((n, EPOCH + timedelta(microseconds=at_us), entry_from(n, data, began)) for n, at_us, data in stored)
    yield from (found for found, _ in pairwise(chain(lines, (None,))) if found is not None)


def _entries(reader: Reader, life: StoredLife, last: int) -> Iterator[Entry]:
    """Yield the entries up to a line; those of waiting requests get the answers up to it afterwards."""
    lines = takewhile(lambda line: line[0] <= last, _lines(reader, life, 1))
    return (entry for _, _, entry in lines if not isinstance(entry, AnsweredRequest))


def kept_tape(reader: Reader, sandbox: str, replayer: RequestReplay) -> TakenTape:
    """Return the whole tape of a sandbox, up to the time of its last entry; `replayer` rebuilds its state. Raises
    `StoreError`, also when the tape cannot be read as a whole."""
    life = reader.life(sandbox)
    if life.floor:
        text = f"the first {life.floor} entries of sandbox {sandbox!r} are not kept any more"
        raise Unusable(f"{text}, so that its tape cannot be replayed; export it without --tape")
    try:
        entries, head = list(_entries(reader, life, life.n)), head_from(life.head)
        player = Restorer(reader, replayer, nowhere()).restore(life).player
    except (BadTape, CannotResume) as error:
        raise Unusable(f"the tape of sandbox {sandbox!r} cannot be read: {error}") from None
    player.end()
    live, end = player.live, end_of(player.live, len(entries))
    return TakenTape(msgspec.structs.replace(head, entries=end.end), entries, end, frozenset(live.core.state.keys))


def obstacles(reader: Reader, replayer: RequestReplay) -> Iterator[str]:
    """Yield a line for each sandbox that a server could not continue, and for each unusable snapshot. `replayer`
    replays the requests of a tape."""
    restorer = Restorer(reader, replayer, nowhere())
    for life in reader.lives():
        try:
            found = restorer.restore(life)
        except (CannotResume, StoreError) as error:
            yield str(error)
            continue
        found.player.end()
        yield from found.passed_over
