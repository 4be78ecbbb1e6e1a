"""The tape of a sandbox: its inputs in order, since it began or was reset.

The pipeline adds requests (`add`, and `add_answer` for a request that waited), `LiveSandbox` adds commands, and the
driver, the courier and the inboxes add their entries. With a store, its recorder gets each entry, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from simulator.persistence.tape.entries import RUN, Entry, EntryList, RequestBegan, RequestRecord

TAPES_BYTES_MAX: Final = 1024 * 1024 * 1024


class TapeBudget:
    """Counts the bytes of tapes in memory. Above `bytes_max` no tape grows until others are released; `on_passed` is
    called when the limit is reached."""

    def __init__(self, bytes_max: float = TAPES_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.bytes = 0
        self.on_passed: Callable[[], object] = lambda: None
        self.is_passed = False

    def has_room(self, size: int) -> bool:
        """Return whether an entry of this size has room."""
        if self.bytes + size <= self.bytes_max:
            self.is_passed = False
            return True
        if not self.is_passed:
            self.is_passed = True
            self.on_passed()
        return False


ENTRY_BYTES = 250
"""The approximate memory of an entry without the objects that it refers to."""


class Recorder(Protocol):
    """Writes the entries of a tape to another place, including entries that it has no room for."""

    def add(self, entry: Entry) -> None: ...

    def answered(self, recorded: RequestRecord) -> None: ...


class Unread(msgspec.Struct, frozen=True):
    """A number of entries that are stored elsewhere; fewer, or none, when they are no longer stored."""

    count: int
    read: Callable[[], Sequence[Entry]]


class Tape:
    """The first inputs of a life, limited in count and bytes, and by a `budget` that all sandboxes share. A full tape
    only counts further inputs, in `left_out` and `left_bytes`: a tape with a gap cannot be replayed."""

    def __init__(self, entries_max: int, bytes_max: int, budget: TapeBudget | None = None) -> None:
        self._entries_left = entries_max
        self._bytes_max = bytes_max
        self.unread: Unread | None = None  # the first entries after a restart, until they are read
        self.entries = EntryList()  # the entries after them
        self.bytes = 0
        self._begun_requests: list[RequestRecord] = []  # that may still wait for their answers
        self.left_out = 0  # entries that had no room
        self.left_bytes = 0
        self.recorder: Recorder | None = None  # of the store
        self._budget = budget or TapeBudget(inf)
        self._counted = 0  # bytes in the budget

    def __len__(self) -> int:
        return len(self.entries) + (self.unread.count if self.unread else 0)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries as of now, without later entries. Unread entries are read first."""
        return iter(self._read()[:])

    def frozen_entries(self, count: int | None = None) -> EntryList:
        """Return the entries as of now, or the first `count`. They are immutable: waiting requests are copied."""
        entries = self._read()[:count]
        # To look at a hundred thousand entries would hold the event loop.
        return self._with_copies(entries) if self.waiting_requests() else entries

    def freeze(self) -> None:
        """Copy waiting requests, which are answered elsewhere, so that the entries stay unchanged."""
        if self.waiting_requests():
            self.entries = self._with_copies(self.entries)

    def add(self, entry: Entry, size: int = ENTRY_BYTES) -> None:
        """Append an entry with its approximate memory in bytes."""
        if self.recorder is not None:
            self.recorder.add(entry)
        if type(entry) is RequestBegan:
            self._begun_requests = [*self.waiting_requests(), entry.exchange]
        budget = self._budget
        is_full = self.left_out or self._entries_left <= 0 or self.bytes + size > self._bytes_max
        is_tight = budget.is_passed or budget.bytes + size > budget.bytes_max
        if is_full or (is_tight and not budget.has_room(size)):
            if not self.left_out:
                self.freeze()
            self.left_out += 1
            self.left_bytes += size
            return
        latest = self.entries.latest
        latest.append(entry)
        if len(latest) >= RUN:
            self.entries.pack()
        self._entries_left -= 1
        self.bytes += size
        self._counted += size
        budget.bytes += size

    def join(self, budget: TapeBudget) -> None:
        """Count in another budget from now on, even above its limit."""
        counted = self._counted
        self._count(-counted)
        self._budget = budget
        self._count(counted)

    def leave(self) -> None:
        """Leave the budget: the tape is discarded."""
        self.join(TapeBudget(inf))

    def _count(self, size: int) -> None:
        self._counted += size
        self._budget.bytes += size

    def waiting_requests(self) -> list[RequestRecord]:
        """Return the requests that began on this tape and have no answer yet."""
        return [exchange for exchange in self._begun_requests if not exchange.n]

    def restore(self, entries: Iterable[Entry], size: int, left_out: int, left_bytes: int) -> None:
        """Continue after entries of `size` bytes, and after `left_out` entries of `left_bytes` that had no room."""
        self.entries = entries if isinstance(entries, EntryList) else EntryList(entries)
        self.bytes, self.left_out, self.left_bytes = size, left_out, left_bytes
        self._count(size - self._counted)
        self._entries_left -= len(self)

    def restore_unread(self, unread: Unread) -> None:
        """Read the restored entries, which are stored elsewhere, when they are needed."""
        self.unread = unread
        self._count(-self._counted)
        self._entries_left -= unread.count

    def insert_unread(self, unread: "Unread", entries: Sequence[Entry]) -> None:
        """Insert the `unread` entries, which were read, at the front. When they are no longer stored, all entries count
        as left out."""
        if self.unread is unread:
            self.unread = None
            later = self.entries if len(entries) == unread.count else ()
            self.left_out += unread.count - len(entries) + len(self.entries) - len(later)
            self.entries = EntryList([*entries, *later])
            self._count(self.bytes - self._counted if self.entries else -self._counted)

    def _read(self) -> EntryList:
        if self.unread is not None:
            self.insert_unread(self.unread, self.unread.read())
        return self.entries

    def forget_waiting(self) -> None:
        """Forget the waiting requests: none of them will be answered."""
        self._begun_requests = []

    def add_answer(self, recorded: RequestRecord, size: int) -> None:
        """Record that the request of an entry was answered, which adds `size` bytes."""
        if self.recorder is not None:
            self.recorder.answered(recorded)
        if self.left_out:
            self.left_bytes += size
            return
        self.bytes += size
        self._count(size)

    def _with_copies(self, entries: Iterable[Entry]) -> EntryList:
        copies = {id(exchange): replace(exchange) for exchange in self.waiting_requests()}

        def copied(entry: Any) -> Any:
            copy = copies.get(id(getattr(entry, "exchange", None)))
            return entry if copy is None else replace(entry, exchange=copy)

        return EntryList(map(copied, entries))
