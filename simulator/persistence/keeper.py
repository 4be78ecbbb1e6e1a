"""Stores the sandboxes of a server: their lives, the entries of their tapes, and their marks.

`Sandboxes` and `LiveSandbox` call the `StoreKeeper` when a life begins, ends or is marked. In between, the
`StoreRecorder` of a life gets each entry of its tape (`Tape.add`), and appends it to the store's `Writer` as a line.

A change of a sandbox is written completely, or no answer leaves the server any more: otherwise memory would stay ahead
of the disk. Background work is bound to its original life, since the sandbox may have been reset meanwhile,
or replaced by another sandbox of its id.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from time import time_ns
from typing import Any, Final

import msgspec

from simulator.domain.errors import Conflict
from simulator.persistence.errors import LeaseLost, StoreError
from simulator.persistence.gate import Gate, Storage
from simulator.persistence.replay.codec import BadTape, Numbers, answered_line, entry_line, written_line
from simulator.persistence.replay.rebuilding import EPOCH
from simulator.persistence.replay.tape_writer import entry_lines, head_of
from simulator.persistence.tape.entries import Entry, RequestBegan
from simulator.persistence.writer import EntryData, StoredLife, Writer
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.marks import Keeper, Mark

WRITTEN_AT_ONCE: Final = 200
_MICROSECOND: Final = timedelta(microseconds=1)


class StoredMark(msgspec.Struct, frozen=True, gc=False):
    """The note of a mark in a store. `serial` orders the marks of a life by creation, since several may share a
    place."""

    mark: Mark
    serial: int


class StoreKeeper(Keeper[LiveSandbox]):
    """A `Keeper` with a store. Its `gate` closes when something cannot be stored."""

    def __init__(self, store: Storage, gate: Gate) -> None:
        self._store = store
        self._gate = gate
        self._recorders: dict[LiveSandbox, StoreRecorder] = {}
        self._serials = count(time_ns())  # after those of earlier processes

    def begin(self, live: LiveSandbox) -> None:
        """Write the beginning of a life, and the entries that were collected. Raises `StoreError`, and `Conflict` when
        the lease was lost: the sandboxes are given up, and a sandbox that is added now would stay."""
        if isinstance(self._gate.failure, LeaseLost):
            raise _lease_lost()
        collected = _collected(live)
        writer = self._store.writer
        with self._gate.all_or_nothing():
            if collected.life is None:
                writer.new_life(live.id, written_line(head_of(live)))
            else:
                writer.activate_life(collected.life)
            recorder = self.follow(live)
            for entry in collected.entries:
                recorder.add(entry)
            for mark in live.marks:
                self._write_mark(live, mark, mark.n)

    def follow(self, live: LiveSandbox) -> "StoreRecorder":
        """Record the later entries of a sandbox's tape, after the entries in the store."""
        self.leave(live)
        recorder = StoreRecorder(self._store.writer, self._store.writer.life_of(live.id), self._gate, live)
        self._recorders[live] = live.tape.recorder = recorder
        return recorder

    async def prepare(self, live: LiveSandbox) -> None:
        """Write the life of a rebuilt sandbox, a little per turn. It becomes valid when the sandbox begins."""
        writer, entries = self._store.writer, live.tape.frozen_entries()
        life = writer.begin_life(live.id, written_line(head_of(live)))
        try:
            for number, line in enumerate(entry_lines(entries), 1):
                writer.append(life, micros_of(live.clock.latest), line)
                if number % WRITTEN_AT_ONCE == 0:
                    await asyncio.sleep(0)  # an open gate does not yield to other tasks
                    if not await self._gate.until_durable():
                        raise _lease_lost()
        except BaseException:
            writer.abandon_life(life)
            raise
        live.tape.recorder = EntryCollector(life)

    def abandon(self, live: LiveSandbox) -> None:
        """See `Keeper`."""
        life = _collected(live).life
        if life is not None:
            self._store.writer.abandon_life(life)

    def collect(self, live: LiveSandbox) -> None:
        """See `Keeper`."""
        live.tape.recorder = EntryCollector()

    def forget(self, live: LiveSandbox) -> None:
        """See `Keeper`."""
        with self._gate.all_or_nothing():
            self.leave(live)
            self._store.writer.forget(live.id)

    def mark(self, live: LiveSandbox, mark: Mark) -> None:
        """See `Keeper`."""
        with self._gate.all_or_nothing():
            self._write_mark(live, mark, self._recorders[live].life.n)

    def unmark(self, live: LiveSandbox, name: str) -> None:
        """See `Keeper`."""
        with self._gate.all_or_nothing():
            self._store.writer.drop_mark(live.id, name)

    def _write_mark(self, live: LiveSandbox, mark: Mark, line: int) -> None:
        note = msgspec.json.encode(StoredMark(mark, next(self._serials)))
        self._store.writer.put_mark(self._recorders[live].life, mark.name, line, note)

    def leave(self, live: LiveSandbox) -> None:
        """Stop recording the tape of a former life."""
        recorder = self._recorders.pop(live, None)
        if recorder is not None:
            recorder.tape.recorder = None


class EntryCollector:
    """Collects the entries of a tape until its sandbox begins, since a full tape drops them. `life` has the entries
    before them, if it was prepared."""

    def __init__(self, life: StoredLife | None = None) -> None:
        self.life = life
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def answered(self, recorded: Any) -> None:
        """Do nothing: no request waits at a sandbox that has not begun."""


def _collected(live: LiveSandbox) -> EntryCollector:
    return live.tape.recorder if isinstance(live.tape.recorder, EntryCollector) else EntryCollector()


class StoreRecorder:
    """Writes the entries of a sandbox's `tape` to a `life` as lines of `replay/codec`, each with its wall time. A
    request that waits has a line for its beginning, and a line for its answer. A failed write closes the gate."""

    def __init__(self, writer: Writer, life: StoredLife, gate: Gate, live: LiveSandbox) -> None:
        self._writer = writer
        self.life = life
        self.tape = live.tape
        self._gate = gate
        self._live = live
        self._began: Numbers = {}  # the line of the beginning of each waiting request, by the id of its record
        self._waiting: dict[int, Any] = {}  # these records, so that no other record reuses an id

    def add(self, entry: Entry) -> None:
        """Write an entry. Raises `StoreError`."""
        line = partial(entry_line, entry, self._began, with_body=True)
        try:
            n = self._append(line if type(entry) is Exchange else line())  # an exchange is complete when it is added
        except Exception as error:
            raise self._gate.fail(error) from error
        if isinstance(entry, RequestBegan):
            self._began[id(entry.exchange)] = n
            self._waiting[id(entry.exchange)] = entry.exchange

    def answered(self, recorded: Any) -> None:
        """Write the answer to a request that waited. Raises `StoreError`."""
        place = self._began.pop(id(recorded), None)
        self._waiting.pop(id(recorded), None)
        if place is not None:
            with self._gate.all_or_nothing():
                self._append(answered_line(recorded, place))

    def _append(self, line: EntryData) -> int:
        return self._writer.append(self.life, micros_of(self._live.clock.latest), line)


def micros_of(time: datetime) -> int:
    """Return microseconds since 1970."""
    return (time - EPOCH) // _MICROSECOND


@contextmanager
def not_kept_errors() -> Iterator[None]:
    """Raise errors of the store as a `Conflict`: the sandbox is in memory, and continues."""
    try:
        yield
    except (StoreError, BadTape) as error:
        raise _not_kept(error) from None


def _lease_lost() -> Conflict:
    return Conflict("lease_lost", "this server has lost its lease; send the request again")


def _not_kept(why: object) -> Conflict:
    return Conflict("not_kept", f"the tape cannot be read, and nothing was changed: {why}")
