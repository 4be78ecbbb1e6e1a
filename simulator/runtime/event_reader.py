"""Reads events in order and at its own pace, from the log of a sandbox or from all logs."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Generic, TypeVar

from simulator.runtime.events import (
    EVENTS_MAX,
    Batch,
    EventHub,
    EventLog,
    EventPosition,
    EvictedEvent,
    NumberedEvent,
)
from simulator.runtime.operations import report

TAKEN_MAX = 128
"""The number of events that a reader takes per turn."""

UNREAD_MAX = 256
"""The number of latest events before a reset that a reader keeps, rendered, until they are taken."""

Shown = TypeVar("Shown")


class EventReader(Generic[Shown]):
    """Reads the events of `only`, or of all logs: of `logs` and of every new log. It begins after `place`.

    `render` returns the rendered event, or None for an unwanted event, or raises `EvictedEvent`. `gap` returns a
    rendered notice that this number of events is missing before a place.
    """

    def __init__(
        self,
        hub: EventHub,
        only: EventLog | None,
        place: EventPosition,
        logs: list[EventLog],
        render: Callable[[NumberedEvent], Shown | None],
        gap: Callable[[int, EventPosition], Shown],
    ) -> None:
        self._hub = hub
        self.only = only
        self.place = place
        self.logs: dict[EventLog, None] = dict.fromkeys(logs)
        self._render, self._gap = render, gap
        self.first: list[Shown] = []  # comes before everything else
        self._missing = 0
        self._woken = asyncio.Event()
        self.is_behind = True  # there may be more events than it took
        self.is_last = False  # nothing will follow the present events
        self.is_own = False  # a reader of the server itself, which no limit counts
        self.shared_by: Hashable = None  # readers with an equal value render each event alike, and share batches
        self.holder = ""

    def __enter__(self) -> "EventReader[Shown]":
        self._hub.readers.append(self)
        self.is_last = self.only is not None and self.only.is_ended
        return self

    def __exit__(self, *_: object) -> None:
        self._hub.readers.remove(self)

    def reads(self, log: EventLog) -> bool:
        """Return whether the reader reads this log."""
        return self.only is None or self.only is log

    @property
    def is_over(self) -> bool:
        """Return whether the reader has read its last event."""
        return self._hub.is_closed or (self.is_last and not self.has_more)

    @property
    def has_more(self) -> bool:
        """Return whether there are events to take."""
        return bool(self.first) or any(log.has_after(self.place.serial) for log in self.logs)

    def wake(self) -> None:
        """Let `wait` end."""
        self._woken.set()

    async def wait(self, timeout_s: float) -> bool:
        """Wait until it is woken for events to take, or the end is reached. Return False on timeout."""
        if self.is_behind or self.first or self.is_over:
            return True
        timer = asyncio.get_running_loop().call_later(timeout_s, self.wake)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()
        return self.has_more or self.is_over

    def take(self, count_max: int = TAKEN_MAX) -> list[Shown]:
        """Return the next events, rendered, with a notice in place where events are missing."""
        self._woken.clear()
        if self.first:
            first, self.first, self.is_behind = self.first, [], True
            return first
        hub, place = self._hub, self.place
        self.logs.update(dict.fromkeys(filter(self.reads, hub.touched)))  # they may have events before those of others
        if (batch := hub.batch) is not None and batch.key == self.shared_by and batch.place == place:
            self.place = batch.next_place
            self._drop_read()
            self.is_behind = self.has_more  # the batch may be an old one
            return batch.shown
        taken = list(islice(self._unread(count_max), count_max))
        self.is_behind = len(taken) == count_max
        shown = self._rendered(taken)
        if self.shared_by is not None and len(hub.readers) > 1 and self.place != place:
            hub.batch = Batch(self.shared_by, place, shown, self.place)
        return shown

    def keep_unread(self) -> None:
        """Render the latest unread events, unless the reader has taken none since the last reset."""
        if len(self.first) < UNREAD_MAX:
            try:
                self.first += self._rendered(deque(self._unread(EVENTS_MAX), UNREAD_MAX))
            except Exception as error:  # our mistake: the reset happens nevertheless
                report(error, "an event before a reset")

    def skip(self) -> None:
        """Skip to the end without rendering anything."""
        self.place = EventPosition(self._hub.latest, self.only.count if self.only else 0)
        self.first = []
        self._drop_read()

    def _unread(self, count_max: int) -> Iterator[NumberedEvent]:
        """Yield the unread events in order, at most `count_max` of a log."""
        serial = self.place.serial
        if len(self.logs) == 1:
            return next(iter(self.logs)).after(serial, count_max)
        return merge(*(log.after(serial, count_max) for log in self.logs), key=lambda taken: taken.serial)

    def _rendered(self, events: Iterable[NumberedEvent]) -> list[Shown]:
        shown: list[Shown] = []
        place: EventPosition | NumberedEvent = self.place
        for taken in events:
            if taken.serial != place.serial + 1:
                self._missing += self._count_missing(place, taken)
            try:
                piece = self._render(taken)
            except EvictedEvent:
                self._missing += 1
            else:
                if self._missing:
                    shown += self._gap_notice(EventPosition(taken.serial - 1, taken.number - 1))
                if piece is not None:
                    shown.append(piece)
            place = taken
        self.place = EventPosition(place.serial, place.number)
        shown += self._gap_notice(self.place)
        self._drop_read()
        return shown

    def _drop_read(self) -> None:
        """Drop the logs that have been read completely."""
        for log in [log for log in self.logs if not log.has_after(self.place.serial)]:
            if log is not self.only:
                del self.logs[log]

    def _gap_notice(self, place: EventPosition) -> list[Shown]:
        """Return the notice that events are missing before this place, if any."""
        missing, self._missing = self._missing, 0
        return [self._gap(missing, place)] if missing else []

    def _count_missing(self, place: EventPosition | NumberedEvent, taken: NumberedEvent) -> int:
        """Return how many events are missing between a place and an event."""
        if self.only is None:
            return taken.serial - place.serial - 1
        return max(0, taken.number - place.number - 1)
