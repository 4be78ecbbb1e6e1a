"""Everything that is due later in a sandbox: one heap, ordered by time, then by insertion.

It holds business work only (steps, deliveries, schedule), never expiries, so an empty agenda means that nothing more
will happen without new input.
"""

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Generic, TypeVar

from simulator.domain.model.packed.due_parts import Due, DueParts, Place

Item = TypeVar("Item")


class Agenda(Generic[Item]):
    """A heap of times and tickets, and the items by ticket; those of the type that `many` has apart from all others,
    since there may be millions. `added` counts all that were ever added, and is the latest ticket. The time of a
    cancelled item stays in the heap until it is the first. Of what was restored and is packed still the heap has the
    first place of each part.

    A ticket is a number, so that an item and whoever may cancel it do not refer to each other in a cycle.
    """

    def __init__(self, many: type | None = None) -> None:
        self._is_many = many
        self._heap: list[Place] = []
        self.many: DueParts[Item] = DueParts(many)
        self._others: dict[int, Due[Item]] = {}
        self.added = 0

    def __len__(self) -> int:
        return len(self.many) + len(self._others)

    def add(self, due: datetime, item: Item) -> int:
        """Add an item; the returned ticket cancels it."""
        self.added = ticket = self.added + 1
        if type(item) is self._is_many:
            self.many.add(ticket, Due(due, item))
        else:
            self._others[ticket] = Due(due, item)
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
        for items in (self.many, self._others.items()):
            yield from ((due.at, ticket, due.item) for ticket, due in items)

    def in_order(self, places_max: int) -> Iterator[tuple[datetime, Item]]:
        """Every item with its time, in the order in which they happen. The first ones cost the same for any number of
        others. It ends after looking at `places_max` places, which items have that were cancelled, too; the agenda may
        not change meanwhile."""
        heap = self._heap
        # Whatever is next is among these: no child comes before its parent, and no packed item before its part's first.
        ahead: list[tuple[Place, int, Due[Item] | None]] = [(first, 0, None) for first in heap[:1]]
        for _ in range(places_max):
            if not ahead:
                return
            (_, ticket), place, unpacked = heapq.heappop(ahead)
            if unpacked is not None:
                yield unpacked.at, unpacked.item
                continue
            if (packed := self.many.packed_behind(ticket)) is not None:
                for own, due in packed:
                    heapq.heappush(ahead, (own, 0, due))
            elif (found := self._find(ticket)) is not None:
                yield found.at, found.item
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(ahead, (heap[child], child, None))

    def others(self) -> dict[int, Due[Item]]:
        """All but the `many`, for a snapshot, by ticket."""
        return self._others

    def restore(self, others: dict[int, Due[Item]], added: int) -> None:
        """Have what was kept, when the parts of the `many` are there again; all stay packed but the one that is still
        to grow."""
        self._others, self.added = others, added
        self._heap = [*self.many.firsts(), *((due.at, ticket) for ticket, due in others.items())]
        heapq.heapify(self._heap)
        self._opened(added)

    @property
    def next_due(self) -> datetime | None:
        """When the first item is due, or None when the agenda is empty."""
        heap = self._heap
        while heap and self._find(heap[0][1]) is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> Due[Item] | None:
        """Pop the first item that is due by `now`, or return None."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            if (due := self._take(heapq.heappop(heap)[1])) is not None:
                return due
        return None

    def _find(self, ticket: int) -> Due[Item] | None:
        return self._others.get(ticket) or self._opened(ticket).get(ticket)

    def _take(self, ticket: int) -> Due[Item] | None:
        return self._others.pop(ticket, None) or self._opened(ticket).pop(ticket)

    def _opened(self, ticket: int) -> DueParts[Item]:
        """The many, of which the part with this ticket is not packed."""
        if self.many.is_packed(ticket):
            for place in self.many.open_with(ticket):
                heapq.heappush(self._heap, place)
        return self.many
