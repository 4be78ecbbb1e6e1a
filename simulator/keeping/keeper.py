"""Keeps the sandboxes of a server in a store: their lives, what comes to their tapes, and their marks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from weakref import WeakKeyDictionary

import msgspec

from simulator.domain.errors import Conflict, Unknown
from simulator.keeping.gate import Gate
from simulator.keeping.kept_marks import KeptMark
from simulator.keeping.recorder import Recorder
from simulator.replay.head import head_of
from simulator.replay.lines import ANSWERED
from simulator.replay.writing import written_line
from simulator.runtime.background import in_background
from simulator.runtime.keepers import Place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.marks import Mark
from simulator.tape.store.errors import NoSandbox
from simulator.tape.store.lives import Life
from simulator.tape.store.reading import Entry as Line
from simulator.tape.store.store import Store
from simulator.tape.tape import Tape

COPIED_AT_ONCE = 500


@dataclass(slots=True)
class _Kept:
    """What is known of a life: its tape, the lines behind which its marks stand, and how many there have been."""

    tape: Tape
    marks: dict[str, int] = field(default_factory=dict)
    last_serial: int = 0


class StoreKeeper:
    """A `Keeper` with a store. `gate` is told whenever something was written."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate
        self._kept: dict[str, _Kept] = {}
        self._copied: WeakKeyDictionary[LiveSandbox, tuple[Life, _Kept, int]] = WeakKeyDictionary()  # about to begin

    def begin(self, live: LiveSandbox) -> None:
        """Write what a life begins from, and what is on its tape already."""
        copied = self._copied.pop(live, None)
        if copied is None:
            self._store.writing.new_life(live.id, written_line(head_of(live)))
            self.follow(live, {}).add_all(live.tape)
        else:
            life, kept, entries = copied
            self._store.writing.keep_life(life)
            self.follow(live, {}).add_all(live.tape.taken()[entries:])
            for mark in live.marks:
                self._put(live, mark, kept.marks[mark.name])
        self._gate.note()

    def follow(self, live: LiveSandbox, marks: dict[str, int], last_serial: int = 0) -> Recorder:
        """Write what comes to a sandbox from now on, behind what the store has of it; `marks` are those that it has,
        with their lines, and the latest was the one of this number."""
        self._leave(live)
        recorder = Recorder(self._store, self._gate, live)
        live.tape.recorder = recorder
        self._kept[live.id] = _Kept(live.tape, marks, last_serial)
        return recorder

    async def place_of(self, live: LiveSandbox, entries: int) -> Place:
        """See `Keeper`."""
        await self._gate.passed()
        try:
            line, size = await in_background(self._store.reading.place, live.id, entries, ANSWERED)
        except NoSandbox as error:
            raise Conflict("not_kept", f"{error}, so that there is nothing to return to; nothing was changed") from None
        return Place(entries, line, size)

    def rewound(self, live: LiveSandbox, place: Place) -> None:
        """See `Keeper`."""
        lines = self._kept[live.id].marks
        self._gate.commit()
        self._store.writing.cut(live.id, place.line, place.bytes)
        for name in lines.keys() - {mark.name for mark in live.marks}:
            self._store.writing.drop_mark(live.id, name)
        last_serial = self._kept[live.id].last_serial
        recorder = self.follow(live, {mark.name: lines[mark.name] for mark in live.marks}, last_serial)
        recorder.add_all(live.tape.taken()[place.entries :])
        self._gate.note()

    async def copy(self, live: LiveSandbox, place: Place, fork: LiveSandbox) -> None:
        """Write the life of a fork, a little in each turn. It is there when the fork begins."""
        writing, kept = self._store.writing, self._kept[live.id]
        life = writing.begin_life(fork.id, writing.lives_of(fork.id) + 1, written_line(head_of(fork)))
        try:
            lines = self._store.reading.entries(live.id)
            while life.n < place.line:
                for line in await in_background(_next, lines, min(COPIED_AT_ONCE, place.line - life.n)):
                    writing.append_to(life, line.at_us, line.data)
                self._gate.note()
                await self._gate.passed()
        except NoSandbox:
            writing.abandon_life(life)
            raise Unknown("unknown_sandbox", f"the sandbox {live.id!r} was deleted or reset meanwhile") from None
        except BaseException:
            writing.abandon_life(life)
            raise
        self._copied[fork] = life, kept, place.entries

    def abandon(self, fork: LiveSandbox) -> None:
        """See `Keeper`."""
        copied = self._copied.pop(fork, None)
        if copied is not None:
            self._store.writing.abandon_life(copied[0])
            self._gate.note()

    def forget(self, live: LiveSandbox) -> None:
        """See `Keeper`."""
        self._leave(live)
        self._store.writing.forget(live.id)
        self._gate.note()

    def mark(self, live: LiveSandbox, mark: Mark) -> None:
        """See `Keeper`."""
        self._put(live, mark, self._store.writing.life_of(live.id).n)

    def unmark(self, live: LiveSandbox, name: str) -> None:
        """See `Keeper`."""
        self._kept[live.id].marks.pop(name, None)
        self._store.writing.drop_mark(live.id, name)
        self._gate.note()

    def _put(self, live: LiveSandbox, mark: Mark, line: int) -> None:
        kept = self._kept[live.id]
        kept.marks[mark.name] = line
        kept.last_serial += 1
        self._store.writing.put_mark(live.id, mark.name, line, msgspec.json.encode(KeptMark(mark, kept.last_serial)))
        self._gate.note()

    def _leave(self, live: LiveSandbox) -> None:
        """What comes to the tape of a former life is not written."""
        before = self._kept.pop(live.id, None)
        if before is not None:
            before.tape.recorder = None


def _next(lines: Iterator[Line], count: int) -> list[Line]:
    """The next lines. Raises `NoSandbox` when there are none any more."""
    found = list(islice(lines, count))
    if not found:
        raise NoSandbox("its entries are gone")
    return found
