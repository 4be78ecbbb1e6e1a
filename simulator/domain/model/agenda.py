"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business work only (steps, deliveries, schedule), never expiries, so an empty agenda means that nothing more
will happen without new input.
"""

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from simulator.domain.model.holdings import Holding
from simulator.domain.model.part_counts import PartCounts, parts_between

Item = TypeVar("Item")


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False, array_like=True):
    """An item, and when it is due."""

    at: datetime
    item: Item


class Agenda(Generic[Item]):
    """A heap of times and tickets, and the items by ticket; those of the type `many` apart from all others, since there
    may be millions. `added` counts all that were ever added, and is the latest ticket; `removed` counts those that have
    left. The time of a cancelled item stays in the heap until it is the first.

    A ticket is a number, so that an item and whoever may cancel it do not refer to each other in a cycle.
    """

    def __init__(self, many: type | None = None) -> None:
        self._is_many = many
        self._heap: list[tuple[datetime, int]] = []
        self._many: dict[int, Due[Item]] = {}
        self._others: dict[int, Due[Item]] = {}
        self.added = 0
        self.removed = PartCounts()

    def __len__(self) -> int:
        return len(self._many) + len(self._others)

    def add(self, due: datetime, item: Item) -> int:
        """Add an item; the returned ticket cancels it."""
        self.added = ticket = self.added + 1
        items = self._many if type(item) is self._is_many else self._others
        items[ticket] = Due(due, item)
        heapq.heappush(self._heap, (due, ticket))
        return ticket

    def cancel(self, ticket: int) -> None:
        """Cancel an item; idempotent, and without effect once the item was popped."""
        self._take(ticket)

    def cancel_all(self, kinds: tuple[type, ...]) -> list[Any]:
        """Cancel every item of these types, none of which is `many`, and return them, in the order in which they were
        added."""
        cancelled = {ticket: due.item for ticket, due in self._others.items() if isinstance(due.item, kinds)}
        for ticket in cancelled:
            self.cancel(ticket)
        return list(cancelled.values())

    def waiting(self) -> Iterator[tuple[datetime, int, Item]]:
        """Every item with its time and its ticket, in no order."""
        for items in (self._many, self._others):
            yield from ((due.at, ticket, due.item) for ticket, due in items.items())

    def in_order(self, places_max: int) -> Iterator[tuple[datetime, Item]]:
        """Every item with its time, in the order in which they happen. The first ones cost the same for any number of
        others. It ends after looking at `places_max` places, which items have that were cancelled, too; the agenda may
        not change meanwhile."""
        heap = self._heap
        ahead = [(first, 0) for first in heap[:1]]  # whatever is next is among these: no child comes before its parent
        for _ in range(min(places_max, len(heap))):
            (_, ticket), place = heapq.heappop(ahead)
            if (due := self._find(ticket)) is not None:
                yield due.at, due.item
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(ahead, (heap[child], child))

    @property
    def parts(self) -> range:
        """The parts of the tickets of the many."""
        return parts_between(next(iter(self._many), None), next(reversed(self._many), None))

    def kept(self) -> tuple[dict[int, Due[Item]], dict[int, Due[Item]]]:
        """All of it, for a snapshot, by ticket: the many and the others, in the order of their tickets."""
        return self._many, self._others

    def restore(self, many: dict[int, Due[Item]], others: dict[int, Due[Item]], added: int) -> None:
        """Have what was kept in the place of all else."""
        self._many, self._others, self.added = many, others, added
        self._heap = [(due.at, ticket) for items in (many, others) for ticket, due in items.items()]
        heapq.heapify(self._heap)

    def holdings(self) -> tuple[Holding, ...]:
        """Its containers. What is due refers to callbacks and transactions, which it lets go of with the last one."""
        return Holding(self._heap), Holding(self._many, 4), Holding(self._others, 4)

    @property
    def next_due(self) -> datetime | None:
        """When the first item is due, or None when the agenda is empty."""
        heap = self._heap
        while heap and self._find(heap[0][1]) is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Pop the first item that is due by `now`, or return None."""
        due = self.next_due
        if due is None or due > now:
            return None
        return self._take(heapq.heappop(self._heap)[1])

    def _find(self, ticket: int) -> Due[Item] | None:
        return self._many.get(ticket) or self._others.get(ticket)

    def _take(self, ticket: int) -> Due[Item] | None:
        found = self._many.pop(ticket, None) or self._others.pop(ticket, None)
        if found is not None:
            self.removed.count(ticket)
        return found
