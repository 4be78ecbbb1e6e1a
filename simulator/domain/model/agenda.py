"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business work only (steps, deliveries, schedule), never expiries, so an empty agenda means that nothing more
will happen without new input.
"""

import heapq
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

Item = TypeVar("Item")

Place = tuple[datetime, int]
"""A time and a ticket: the place of an item in the order in which they happen."""


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """An item, and when it is due."""

    at: datetime
    item: Item


class Agenda(Generic[Item]):
    """A heap of times and tickets, and the items by ticket. `added` counts all that were ever added, and is the latest
    ticket. The time of a cancelled item stays in the heap until it is the first.

    A ticket is a number, so that an item and whoever may cancel it do not refer to each other in a cycle.
    """

    def __init__(self) -> None:
        self._heap: list[Place] = []
        self.items: dict[int, Due[Item]] = {}
        self.added = 0

    def __len__(self) -> int:
        return len(self.items)

    def add(self, due: datetime, item: Item) -> int:
        """Add an item. Return the ticket that cancels it."""
        self.added = ticket = self.added + 1
        self.items[ticket] = Due(due, item)
        heapq.heappush(self._heap, (due, ticket))
        return ticket

    def cancel(self, ticket: int) -> None:
        """Cancel an item; idempotent, and without effect once the item was popped."""
        self.items.pop(ticket, None)

    def cancel_all(self, kinds: tuple[type, ...]) -> list[Any]:
        """Cancel every item of these types and return them, in the order in which they were added."""
        cancelled = {ticket: due.item for ticket, due in self.items.items() if isinstance(due.item, kinds)}
        for ticket in cancelled:
            del self.items[ticket]
        return list(cancelled.values())

    def waiting(self) -> Iterator[tuple[datetime, int, Item]]:
        """Yield every item with its time and its ticket, in the order in which they were added."""
        return ((due.at, ticket, due.item) for ticket, due in self.items.items())

    def in_order(self, places_max: int) -> Iterator[tuple[datetime, Item]]:
        """Yield every item with its time, in the order in which they happen. The first ones cost the same for any
        number of others. It ends after looking at `places_max` places, including those of cancelled items; the agenda
        may not change meanwhile."""
        heap = self._heap
        ahead: list[tuple[Place, int]] = [(first, 0) for first in heap[:1]]  # no child comes before its parent
        for _ in range(places_max):
            if not ahead:
                return
            (_, ticket), place = heapq.heappop(ahead)
            if (found := self.items.get(ticket)) is not None:
                yield found.at, found.item
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(ahead, (heap[child], child))

    def restore(self, items: Mapping[int, Due[Item]], added: int) -> None:
        """Replace all items."""
        self.items, self.added = dict(items), added
        self._heap = [(due.at, ticket) for ticket, due in items.items()]
        heapq.heapify(self._heap)

    @property
    def next_due(self) -> datetime | None:
        """When the first item is due, or None when the agenda is empty."""
        heap = self._heap
        while heap and heap[0][1] not in self.items:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Pop the first item that is due by `now`, or return None."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            if (due := self.items.pop(heapq.heappop(heap)[1], None)) is not None:
                return due
        return None
