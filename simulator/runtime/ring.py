"""A bounded log that tasks can wait on: the latest records, limited by count and by bytes."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar


class RingRecord(Protocol):
    """A record of a ring: `n` increments by one, `size` approximates its bytes."""

    n: int

    @property
    def size(self) -> int:
        """The approximate memory of the record, in bytes."""
        ...


Record = TypeVar("Record", bound=RingRecord)


class Notifier:
    """Wakes tasks that wait for a change. It costs nothing while none waits."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []
        self._closed = False

    def close(self) -> None:
        """No more changes: wake all waiters."""
        self._closed = True
        self.notify()

    def notify(self) -> None:
        """Wake everybody."""
        if self.waiting:
            waiting, self.waiting = self.waiting, []
            for future in waiting:
                _wake(future)

    async def wait_until(self, is_true: Callable[[], bool], timeout_s: float, *others: "Notifier") -> bool:
        """Wait until `is_true`, tested at each notification by this notifier or one of the others; False on timeout, or
        when this notifier is closed first."""
        notifiers = (self, *others)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not is_true() and not self._closed:
            left_s = deadline - loop.time()
            if left_s <= 0:
                return False
            future = loop.create_future()
            for notifier in notifiers:
                notifier.waiting.append(future)
            timer = loop.call_later(left_s, _wake, future)
            try:
                await future
            finally:
                timer.cancel()
                for notifier in notifiers:
                    notifier._forget(future)
        return is_true()

    def _forget(self, future: "asyncio.Future[None]") -> None:
        if future in self.waiting:
            self.waiting.remove(future)


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Ring(Generic[Record]):
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

    def add(self, record: Record) -> None:
        """Number a record and append it, evicting the oldest as needed, never the newest."""
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

    def find(self, n: int) -> Record | None:
        """The record with the number `n`, if it was not evicted."""
        place = n - self.last_n + len(self._records) - 1
        return self._records[place] if 0 <= place < len(self._records) else None

    def clear(self) -> None:
        """Delete the records; numbering continues."""
        self._records.clear()
        self._sizes.clear()
        self._bytes = 0
        self.notifier.notify()
