"""Reads events in order and at its own pace, from the log of a sandbox or from all logs."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import msgspec

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


class EventContent(msgspec.Struct, frozen=True, gc=False):
    """An event with its kind, its sandbox time and the members of its kind."""

    event: NumberedEvent
    kind: str
    at: datetime
    fields: dict[str, Any]


class Gap(NamedTuple):
    """A notice that events are missing before a place; `missing` is their number, None if it is unknown."""

    missing: int | None
    place: EventPosition


class EventReader:
    """Reads the events of `only`, or of all logs: of `logs` and of every new log. It begins after `place`.

    `content` returns what an event contains, or None for an unwanted event, or raises `EvictedEvent`. `render` renders
    all that was taken at once.
    """

    def __init__(
        self,
        hub: EventHub,
        only: EventLog | None,
        place: EventPosition,
        logs: list[EventLog],
        content: Callable[[NumberedEvent], EventContent | None],
        render: Callable[[list[EventContent | Gap]], list[bytes]],
    ) -> None:
        self._hub = hub
        self.only = only
        self.place = place
        self.logs: dict[EventLog, None] = dict.fromkeys(logs)
        self._content, self._render = content, render
        self.first: list[bytes] = []  # comes before everything else
        self._missing = 0
        self._woken = asyncio.Event()
        self.is_behind = True  # there may be more events than it took
        self.is_last = False  # nothing will follow the present events
        self.is_own = False  # a reader of the server itself, which no limit counts
        self.shared_by: Hashable = None  # readers with an equal value render each event alike, and share batches
        self.holder = ""

    def __enter__(self) -> "EventReader":
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

    def take(self, count_max: int = TAKEN_MAX) -> list[bytes]:
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

    def _unread(self, count_max: int) -> Iterable[NumberedEvent]:
        """Return the unread events in order, at most `count_max` of a log."""
        serial = self.place.serial
        if len(self.logs) == 1:
            return next(iter(self.logs)).after(serial, count_max)
        return merge(*(log.after(serial, count_max) for log in self.logs), key=lambda event: event.serial)

    def _rendered(self, events: Iterable[NumberedEvent]) -> list[bytes]:
        contents: list[EventContent | Gap] = []
        place: EventPosition | NumberedEvent = self.place
        for event in events:
            if event.serial != place.serial + 1:
                self._missing += self._count_missing(place, event)
            try:
                content = self._content(event)
            except EvictedEvent:
                self._missing += 1
            else:
                if self._missing:
                    contents.append(self._gap(EventPosition(event.serial - 1, event.number - 1)))
                if content is not None:
                    contents.append(content)
            place = event
        self.place = EventPosition(place.serial, place.number)
        if self._missing:
            contents.append(self._gap(self.place))
        self._drop_read()
        return self._render(contents)

    def _drop_read(self) -> None:
        """Drop the logs that have been read completely."""
        for log in [log for log in self.logs if not log.has_after(self.place.serial)]:
            if log is not self.only:
                del self.logs[log]

    def _gap(self, place: EventPosition) -> Gap:
        missing, self._missing = self._missing, 0
        return Gap(missing, place)

    def _count_missing(self, place: EventPosition | NumberedEvent, event: NumberedEvent) -> int:
        """Return how many events are missing between a place and an event."""
        if self.only is None:
            return event.serial - place.serial - 1
        return max(0, event.number - place.number - 1)
