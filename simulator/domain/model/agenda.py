"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business work only (steps, deliveries, schedule), never expiries, so an empty agenda means that nothing more
will happen without new input.
"""

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from simulator.domain.model.part_counts import PartCounts

Item = TypeVar("Item")


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """An item that was popped, and when it was due."""

    at: datetime
    item: Item


class Agenda(Generic[Item]):
    """A heap of times and tickets, and the items by ticket. `added` counts all that were ever added, and is the latest
    ticket. The time of a cancelled item stays in the heap until it is the first.

    A ticket is a number, so that an item and whoever may cancel it do not refer to each other in a cycle.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int]] = []
        self._items: dict[int, Item] = {}
        self.added = 0
        self.removed = PartCounts()

    def __len__(self) -> int:
        return len(self._items)

    def add(self, due: datetime, item: Item) -> int:
        """Add an item; the returned ticket cancels it."""
        self.added = ticket = self.added + 1
        self._items[ticket] = item
        heapq.heappush(self._heap, (due, ticket))
        return ticket

    def cancel(self, ticket: int) -> None:
        """Cancel an item; idempotent, and without effect once the item was popped."""
        if self._items.pop(ticket, None) is not None:
            self.removed.count(ticket)

    def cancel_all(self, kinds: tuple[type, ...]) -> list[Any]:
        """Cancel every item of these types and return them, in the order in which they were added."""
        cancelled = {ticket: item for ticket, item in self._items.items() if isinstance(item, kinds)}
        for ticket in cancelled:
            self.cancel(ticket)
        return list(cancelled.values())

    def waiting(self) -> Iterator[tuple[datetime, int, Item]]:
        """Every item with its time and its ticket, in no order."""
        return ((due, ticket, self._items[ticket]) for due, ticket in self._heap if ticket in self._items)

    def in_order(self, places_max: int) -> Iterator[tuple[datetime, Item]]:
        """Every item with its time, in the order in which they happen. The first ones cost the same for any number of
        others. It ends after looking at `places_max` places, which items have that were cancelled, too; the agenda may
        not change meanwhile."""
        heap, items = self._heap, self._items
        ahead = [(first, 0) for first in heap[:1]]  # whatever is next is among these: no child comes before its parent
        for _ in range(min(places_max, len(heap))):
            (due, ticket), place = heapq.heappop(ahead)
            if ticket in items:
                yield due, items[ticket]
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(ahead, (heap[child], child))

    def kept(self) -> tuple[list[tuple[datetime, int]], dict[int, Item]]:
        """All of it, for a snapshot: the heap, with the times of what was cancelled, and the items by ticket."""
        return self._heap, self._items

    def restore(self, heap: list[tuple[datetime, int]], items: dict[int, Item], added: int) -> None:
        """Have what was kept in the place of all else; the items are in the order of their tickets."""
        heapq.heapify(heap)
        self._heap, self._items, self.added = heap, items, added

    @property
    def next_due(self) -> datetime | None:
        """When the first item is due, or None when the agenda is empty."""
        heap = self._heap
        while heap and heap[0][1] not in self._items:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Pop the first item that is due by `now`, or return None."""
        due = self.next_due
        if due is None or due > now:
            return None
        _, ticket = heapq.heappop(self._heap)
        self.removed.count(ticket)
        return Due(at=due, item=self._items.pop(ticket))
