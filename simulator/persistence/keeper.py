"""Keeps the sandboxes of a server in a store: their lives, what comes to their tapes, and their marks.

What a change of a sandbox writes is written as a whole, or nothing leaves the server any more: memory would be ahead of
the disk for ever. Whatever waits beside the event loop is bound to the life that it began with, since another one of
the same id may have begun meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from weakref import WeakKeyDictionary

import msgspec

from simulator.persistence.errors import NoSandbox
from simulator.persistence.gate import Gate
from simulator.persistence.kept_marks import KeptMark
from simulator.persistence.lives import Life
from simulator.persistence.reader import Entry as Line
from simulator.persistence.recorder import Recorder
from simulator.persistence.refusing import not_kept, refused
from simulator.persistence.store import Store
from simulator.replay.head import head_of
from simulator.replay.lines import ANSWERED
from simulator.replay.writing import written_line
from simulator.runtime.background import in_background
from simulator.runtime.keepers import Place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.marks import Mark, Marks
from simulator.tape.tape import Tape

COPIED_AT_ONCE = 500


@dataclass(slots=True)
class _Kept:
    """What is known of a life: its tape, the lines behind which its marks stand, and how many there have been."""

    life: Life
    tape: Tape
    marks: dict[str, int] = field(default_factory=dict)
    last_serial: int = 0


class StoreKeeper:
    """A `Keeper` with a store, whose `gate` closes when something cannot be kept."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate
        self._kept: dict[LiveSandbox, _Kept] = {}
        self._copied: WeakKeyDictionary[LiveSandbox, tuple[Life, _Kept, int]] = WeakKeyDictionary()  # about to begin

    def begin(self, live: LiveSandbox) -> None:
        """Write what a life begins from, and what is on its tape already. Raises `StoreError`."""
        copied = self._copied.pop(live, None)
        with self._gate.whole():
            if copied is None:
                self._store.writing.new_life(live.id, written_line(head_of(live)))
                self.follow(live, {}).add_all(live.tape)
            else:
                life, kept, entries = copied
                self._store.writing.keep_life(life)
                self.follow(live, {}).add_all(live.tape.taken()[entries:])
                for mark in live.marks:
                    self._put(live, mark, kept.marks[mark.name])

    def follow(self, live: LiveSandbox, marks: dict[str, int], last_serial: int = 0) -> Recorder:
        """Write what comes to a sandbox from now on, behind what the store has of it; `marks` are those that it has,
        with their lines, and the latest was the one of this number."""
        return self._follow(live, live.tape, marks, last_serial)

    def _follow(self, live: LiveSandbox, tape: Tape, marks: dict[str, int], last_serial: int) -> Recorder:
        self._leave(live)
        writing = self._store.writing
        life = writing.life_of(live.id)
        tape.recorder = recorder = Recorder(writing, life, self._gate, live)
        self._kept[live] = _Kept(life, tape, marks, last_serial)
        return recorder

    async def place_of(self, live: LiveSandbox, entries: int) -> Place:
        """See `Keeper`."""
        life = self._of(live).life
        while True:
            floor = life.floor
            await self._gate.passed()
            with refused():
                line, size = await in_background(self._store.reading.place, live.id, entries, ANSWERED, life.key)
            if life.floor == floor:  # else the beginning may be gone since it was looked for
                return Place(entries, line, size)

    def rewound(self, live: LiveSandbox, place: Place, tape: Tape, marks: Marks) -> None:
        """See `Keeper`."""
        with self._gate.whole():
            before = self._kept[live]
            self._store.writing.cut(live.id, place.line, place.bytes)
            left = {mark.name for mark in marks}
            for name in before.marks.keys() - left:
                self._store.writing.drop_mark(live.id, name)
            lines = {name: line for name, line in before.marks.items() if name in left}
            live.clock.now()  # the time that the lines get
            self._follow(live, tape, lines, before.last_serial).add_all(tape.taken()[place.entries :])

    async def copy(self, live: LiveSandbox, place: Place, fork: LiveSandbox) -> None:
        """Write the life of a fork, a little in each turn. It is there when the fork begins."""
        writing, kept = self._store.writing, self._of(live)
        life = writing.begin_life(fork.id, written_line(head_of(fork)))
        try:
            with refused():
                lines = self._store.reading.entries(live.id, life=kept.life.key)
                while life.n < place.line:
                    for line in await in_background(_next, lines, min(COPIED_AT_ONCE, place.line - life.n)):
                        writing.append_to(life, line.at_us, line.data)
                    await self._gate.passed()
        except BaseException:
            writing.abandon_life(life)
            raise
        self._copied[fork] = life, kept, place.entries

    def abandon(self, fork: LiveSandbox) -> None:
        """See `Keeper`."""
        copied = self._copied.pop(fork, None)
        if copied is not None:
            self._store.writing.abandon_life(copied[0])

    def forget(self, live: LiveSandbox) -> None:
        """See `Keeper`."""
        with self._gate.whole():
            self._leave(live)
            self._store.writing.forget(live.id)

    def mark(self, live: LiveSandbox, mark: Mark) -> None:
        """See `Keeper`."""
        with self._gate.whole():
            self._put(live, mark, self._kept[live].life.n)

    def unmark(self, live: LiveSandbox, name: str) -> None:
        """See `Keeper`."""
        with self._gate.whole():
            self._kept[live].marks.pop(name, None)
            self._store.writing.drop_mark(live.id, name)

    def _of(self, live: LiveSandbox) -> _Kept:
        """What is known of a sandbox. Raises `Conflict` when it is not kept any more."""
        kept = self._kept.get(live)
        if kept is None:
            raise not_kept(f"the store has no sandbox {live.id!r}")
        return kept

    def _put(self, live: LiveSandbox, mark: Mark, line: int) -> None:
        kept = self._kept[live]
        kept.marks[mark.name] = line
        kept.last_serial += 1
        note = msgspec.json.encode(KeptMark(mark, kept.last_serial))
        self._store.writing.put_mark(kept.life, mark.name, line, note)

    def _leave(self, live: LiveSandbox) -> None:
        """What comes to the tape of a former life is not written."""
        before = self._kept.pop(live, None)
        if before is not None:
            before.tape.recorder = None


def _next(lines: Iterator[Line], count: int) -> list[Line]:
    """The next lines. Raises `NoSandbox` when there are none any more."""
    found = list(islice(lines, count))
    if not found:
        raise NoSandbox("its entries are gone")
    return found
