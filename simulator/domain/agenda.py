"""The agenda of a sandbox: scheduled work, and records of completed work."""

import heapq
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.delivery_attempts import Send
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.transactions import Step, Transaction
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery


class StepDue(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Agenda: the next status of the transaction with this number; `place` is the index of the step in its timeline."""

    number: int
    place: int


class CaseDue(msgspec.Struct, frozen=True):
    """Agenda: the biller's final answer to a void, a refund or a refusal."""

    case: Case
    is_refund: bool


AgendaItem = StepDue | Callback | Delivery | CaseDue | ScheduledChange
"""A step, the next attempt of a job, the end of a case, or a change of the scenario's schedule."""


class TimelineStep(msgspec.Struct, frozen=True, gc=False):
    """A step that happened to a transaction."""

    transaction: Transaction
    step: Step


AgendaEvent = TimelineStep | Callback | Delivery | CaseDue | ScheduledChange


class AgendaResult(msgspec.Struct, frozen=True):
    """A processed agenda item, with the time `at` which it happened. `send` is the attempt it requires, `entry` the
    ledger entry it wrote; `skipped` is the reason for skipping it."""

    at: datetime
    item: AgendaEvent
    send: Send | None = None
    entry: Entry | None = None
    skipped: str = ""


Item = TypeVar("Item")


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """An item and its time."""

    at: datetime
    item: Item


class Agenda(Generic[Item]):
    """A heap of times and tickets, and the items by ticket. `added` counts all items ever added, and is the latest
    ticket. The time of a cancelled item stays in the heap until it reaches the top.

    Tickets are numbers, to avoid reference cycles between an item and the object that may cancel it.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int]] = []
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

    def cancel_all(self, kind: type) -> list[Any]:
        """Cancel all items of a type and return them, in the order of their tickets."""
        cancelled = {ticket: due.item for ticket, due in self.items.items() if isinstance(due.item, kind)}
        for ticket in cancelled:
            del self.items[ticket]
        return list(cancelled.values())

    def waiting(self) -> Iterator[tuple[datetime, int, Item]]:
        """Yield every item with its time and ticket, in the order of the tickets."""
        return ((due.at, ticket, due.item) for ticket, due in self.items.items())

    def in_order(self, places_max: int) -> Iterator[tuple[datetime, Item]]:
        """Yield every item with its time, in the order in which they happen. The cost of the first items does not
        depend on the number of the others. Stop after `places_max` heap entries, including cancelled items. Do not
        change the agenda while iterating."""
        heap = self._heap
        # Parents come before children.
        ahead: list[tuple[tuple[datetime, int], int]] = [(first, 0) for first in heap[:1]]
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
        self.items, self.added = dict(items), added
        self._heap = [(due.at, ticket) for ticket, due in items.items()]
        heapq.heapify(self._heap)

    @property
    def next_due(self) -> datetime | None:
        """Return when the first item is due, or None when the agenda is empty."""
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
