"""The delivery log of a sandbox: active jobs and the latest ended ones, bounded by count and by bytes (SPEC 2.12).

Ended jobs are numbered in the order in which they ended. A reader that pages from newest to oldest by number sees each
job once, even while jobs end: new ones get higher numbers, and the lowest numbers are evicted.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import takewhile

from simulator.domain.model.webhooks import Delivery, DeliveryState


class DeliveryLog:
    """Jobs by id and by number; the oldest ended ones are evicted. `on_evicted`, if set, is told of each."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._by_id: dict[str, Delivery] = {}
        self._by_n: dict[int, Delivery] = {}
        self._last_serial = 0
        self._last_n = 0
        self.left_out = 0
        self.on_evicted: Callable[[Delivery], None] | None = None

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Delivery]:
        """All jobs in order of creation."""
        return iter(self._by_id.values())

    def __reversed__(self) -> Iterator[Delivery]:
        return reversed(self._by_id.values())

    @property
    def size(self) -> int:
        """The approximate memory of the ended jobs, in bytes."""
        return self._bytes

    def find(self, id_: str) -> Delivery | None:
        """The job with this id, if it is still in the log."""
        return self._by_id.get(id_)

    def numbered(self, n: int) -> Delivery | None:
        """The ended job with this number, if it is still in the log."""
        return self._by_n.get(n)

    def ended(self, before: int | None = None) -> Iterator[Delivery]:
        """Ended jobs, the latest first; with `before`, those with a lower number."""
        n = self._last_n if before is None else before - 1
        while (delivery := self._by_n.get(n)) is not None:
            yield delivery
            n -= 1

    def add(self, delivery: Delivery) -> None:
        """Add and number a new job."""
        self._last_serial += 1
        delivery.serial = self._last_serial
        self._by_id[delivery.id] = delivery

    @property
    def last(self) -> tuple[int, int]:
        """The latest number in order of creation, and in order of ending."""
        return self._last_serial, self._last_n

    def after(self, serial: int) -> list[Delivery]:
        """The jobs that were created behind the one with this number and are still in the log, the oldest first."""
        return list(takewhile(lambda one: one.serial > serial, reversed(self._by_id.values())))[::-1]

    def restore(self, deliveries: Iterable[Delivery], last: tuple[int, int], left_out: int) -> None:
        """Have these in the place of all others, in order of creation; `left_out` were evicted before."""
        self._by_id = {one.id: one for one in deliveries}
        ended = sorted((one for one in self._by_id.values() if one.n), key=lambda one: one.n)
        self._by_n = {one.n: one for one in ended}
        self._bytes = sum(one.size for one in ended)
        (self._last_serial, self._last_n), self.left_out = last, left_out

    def end(self, delivery: Delivery, state: DeliveryState, error: str, now: datetime) -> None:
        """Number an ended job, and evict the oldest as needed, never the newest."""
        assert delivery.state is DeliveryState.UNDER_WAY, "a job ends once"
        self._last_n += 1
        delivery.n, delivery.state, delivery.error, delivery.completed = self._last_n, state, error, now
        self._by_n[delivery.n] = delivery
        self._bytes += delivery.size
        while len(self._by_n) > self._count_max or (self._bytes > self._bytes_max and len(self._by_n) > 1):
            oldest = self._by_n.pop(self._last_n - len(self._by_n) + 1)
            del self._by_id[oldest.id]
            self._bytes -= oldest.size
            self.left_out += 1
            if self.on_evicted is not None:
                self.on_evicted(oldest)
