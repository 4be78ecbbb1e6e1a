"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business only (steps, deliveries, schedule), never expiries, so that an empty agenda means that nothing
more will happen by itself.
"""

import heapq
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Due(NamedTuple, Generic[Item]):
    """An agenda entry that has come: when it was due and what it is."""

    at: datetime
    item: Item


class Agenda(Generic[Item]):
    """A heap of (due, ticket) beside the items by ticket; a cancelled ticket stays in the heap until it comes up."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int]] = []
        self._items: dict[int, Item] = {}
        self._last_ticket = 0

    def __len__(self) -> int:
        return len(self._items)

    def add(self, due: datetime, item: Item) -> int:
        """Put an item on the agenda; the ticket returned cancels it."""
        self._last_ticket += 1
        heapq.heappush(self._heap, (due, self._last_ticket))
        self._items[self._last_ticket] = item
        return self._last_ticket

    def cancel(self, ticket: int) -> None:
        """Take an item off; a ticket that came up or was cancelled before does nothing."""
        self._items.pop(ticket, None)

    @property
    def next_due(self) -> datetime | None:
        """When the first entry is due, or None when the agenda is empty."""
        heap, items = self._heap, self._items
        while heap and heap[0][1] not in items:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Take the first entry that is due by `now`, or None."""
        due = self.next_due
        if due is None or due > now:
            return None
        at, ticket = heapq.heappop(self._heap)
        return Due(at, self._items.pop(ticket))
