"""The tape of a sandbox: its inputs in order, since it began or was reset."""

from collections.abc import Iterator

from msgspec.structs import replace

from simulator.tape.entries import Entry, Recorded, RequestBegan, RequestResumed

ENTRY_BYTES = 250
"""The approximate memory of an entry beside what it refers to."""


class Tape:
    """Inputs of one life of a sandbox, the first ones, within bounds of count and bytes. Whatever comes when it is full
    is only counted, in `left_out`: a tape with a gap could not be replayed."""

    def __init__(self, entries_max: int, bytes_max: int) -> None:
        self._entries_max = entries_max
        self._bytes_max = bytes_max
        self._entries: list[Entry] = []
        self.bytes = 0
        self.left_out = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """The entries as of now; those that come meanwhile are not among them."""
        return iter(self._entries[:])

    def taken(self) -> list[Entry]:
        """The entries as of now, in which nothing changes any more: requests that wait are copied as they are."""
        copies: dict[int, Recorded] = {}
        taken: list[Entry] = []
        for entry in self._entries:
            if isinstance(entry, RequestBegan) and not entry.exchange.n:
                copies[id(entry.exchange)] = copy = replace(entry.exchange)
                taken.append(RequestBegan(copy))
            elif isinstance(entry, RequestResumed) and id(entry.exchange) in copies:
                taken.append(replace(entry, exchange=copies[id(entry.exchange)]))
            else:
                taken.append(entry)
        return taken

    def add(self, entry: Entry, size: int = ENTRY_BYTES) -> None:
        """Append an entry with its approximate memory in bytes."""
        if self.left_out or self.bytes + size > self._bytes_max or len(self._entries) >= self._entries_max:
            self.left_out += 1
            return
        self._entries.append(entry)
        self.bytes += size

    def grow(self, size: int) -> None:
        """An entry has become so many bytes larger: its request was answered."""
        if not self.left_out:
            self.bytes += size
