"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business work only (steps, deliveries, schedule), never expiries, so an empty agenda means that nothing more
will happen without new input.
"""

import heapq
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """A popped agenda entry: when it was due, and the item."""

    at: datetime
    item: Item


# [due, number, item]; the item is None once it was popped or cancelled
Ticket = list[Any]


class Agenda(Generic[Item]):
    """A heap of tickets. `added` counts all that were ever added; a cancelled ticket stays until it is popped."""

    def __init__(self) -> None:
        self._heap: list[Ticket] = []
        self.added = 0
        self._pending = 0

    def __len__(self) -> int:
        return self._pending

    def add(self, due: datetime, item: Item) -> Ticket:
        """Add an item; the returned ticket cancels it."""
        self.added += 1
        self._pending += 1
        ticket = [due, self.added, item]
        heapq.heappush(self._heap, ticket)
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Cancel an item; idempotent, and without effect once the item was popped."""
        if ticket[2] is not None:
            ticket[2] = None
            self._pending -= 1

    def cancel_all(self, kinds: tuple[type, ...]) -> list[Any]:
        """Cancel every item of these types and return them."""
        tickets = [ticket for ticket in self._heap if isinstance(ticket[2], kinds)]
        items = [ticket[2] for ticket in tickets]
        for ticket in tickets:
            self.cancel(ticket)
        return items

    @property
    def next_due(self) -> datetime | None:
        """When the first entry is due, or None when the agenda is empty."""
        heap = self._heap
        while heap and heap[0][2] is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Pop the first entry that is due by `now`, or return None."""
        due = self.next_due
        if due is None or due > now:
            return None
        ticket = heapq.heappop(self._heap)
        item: Item = ticket[2]
        ticket[2] = None
        self._pending -= 1
        return Due(at=due, item=item)
