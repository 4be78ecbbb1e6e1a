"""A bounded log that tasks can wait on: the latest records, limited by count and by bytes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from simulator.runtime.waiting import Notifier


class NumberedRecord(Protocol):
    """A record of a ring: `n` increments by 1, `size` approximates its bytes."""

    n: int

    @property
    def size(self) -> int:
        """Return the approximate memory of the record, in bytes."""
        ...


class Numbered(Protocol):
    """A record whose `n` increments by 1 from record to record."""

    @property
    def n(self) -> int: ...


Record = TypeVar("Record", bound=NumberedRecord)
Counted = TypeVar("Counted", bound=Numbered)
Item_co = TypeVar("Item_co", covariant=True)


class NumberedLog(Protocol[Item_co]):
    """A log, such as a ring, whose records are numbered in order of arrival."""

    def __reversed__(self) -> Iterator[Item_co]: ...


class Tally(Generic[Counted]):
    """Counts the matching records of a log incrementally: each count looks only at records that were added since the
    last. An evicted record stays counted. Counting begins after the record with the number `after`, with `counted`
    records."""

    def __init__(
        self, log: NumberedLog[Counted], matches: Callable[[Counted], bool], *, after: int = 0, counted: int = 0
    ) -> None:
        self._log = log
        self._matches = matches
        self._seen = after
        self._counted = counted

    def count(self) -> int:
        """Return the count as of now."""
        last = seen = self._seen
        for record in reversed(self._log):
            if record.n <= seen:
                break
            last = max(last, record.n)
            self._counted += self._matches(record)
        self._seen = last
        return self._counted


class BoundedLog(Generic[Record]):
    """The latest records in order; the oldest are evicted above the limits of count or size."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._records: deque[Record] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self.last_n = 0
        self.left_out = 0
        self.notifier = Notifier()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __reversed__(self) -> Iterator[Record]:
        return reversed(self._records)

    @property
    def size(self) -> int:
        """Return the approximate memory of the records, in bytes."""
        return self._bytes

    def add(self, record: Record) -> int:
        """Number a record and append it, evicting the oldest as needed, never the newest. Return its size."""
        self.last_n = record.n = self.last_n + 1
        records, sizes, size = self._records, self._sizes, record.size
        records.append(record)
        sizes.append(size)
        self._bytes += size
        while len(records) > self._count_max or (self._bytes > self._bytes_max and len(records) > 1):
            records.popleft()
            self._bytes -= sizes.popleft()
            self.left_out += 1
        if self.notifier.waiting:
            self.notifier.notify()
        return size

    def restore(self, records: Iterable[Record], last_n: int, left_out: int) -> None:
        """Replace all records with these numbered records; numbering continues after `last_n`."""
        self._records = deque(records)
        self._sizes = deque(one.size for one in self._records)
        self._bytes, self.last_n, self.left_out = sum(self._sizes), last_n, left_out

    def find(self, n: int) -> Record | None:
        """Return the record with the number `n`, or None if it was evicted."""
        place = n - self.last_n + len(self._records) - 1
        return self._records[place] if 0 <= place < len(self._records) else None

    def put(self, record: Record) -> None:
        """Replace the record that equals this record."""
        self._records[record.n - self.last_n + len(self._records) - 1] = record

    def clear(self) -> None:
        """Delete the records; numbering continues."""
        self._records.clear()
        self._sizes.clear()
        self._bytes = 0
        self.notifier.notify()
