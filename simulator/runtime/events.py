"""The events of a server's sandboxes, in order, for readers that watch them.

Events are rendered lazily and never copied: the log of a sandbox holds references to its latest events, and a reader
holds a position. A slow reader misses evicted events and holds no memory, except for the last events before a reset.
Readers are woken once per turn of the event loop, and at most every `WAKE_EVERY_S`. Without readers, publishing an
event costs one append.
"""

import asyncio
import secrets
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, Protocol

import msgspec

from simulator.domain.errors import Busy
from simulator.domain.model.domain_events import DomainEvent
from simulator.runtime.clock import Clock


class EvictedEvent(Exception):
    """An event whose request or attempt was evicted meanwhile."""


class Action(msgspec.Struct, frozen=True, gc=False):
    """A change to a sandbox other than a request; `about` is the object of the change. `mode` and `rate` are the new
    settings of a clock."""

    name: str
    at: datetime
    about: str = ""
    mode: str = ""
    rate: float = 0.0


Item = int | DomainEvent | Action
"""An event; an integer is the number of a request in the journal."""


class NumberedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event of a log. `serial` is its number in the server, `number` its number in the sandbox, from 1. The
    garbage collector does not visit it, since a log has thousands."""

    serial: int
    number: int
    sandbox: str
    item: Item
    wall: datetime


class EventPosition(NamedTuple):
    """The position of a reader: after the event with these numbers."""

    serial: int
    number: int


EVENTS_MAX = 10_000
"""The number of latest events of a sandbox that readers can still get."""

READERS_MAX = 64
"""The limit of concurrent readers. Readers with the same token may use half of it."""

WAKE_EVERY_S = 0.02
"""The seconds between two wakes under load: waking a reader costs more than ten events."""


class LogReader(Protocol):
    """A reader of events: its position, the logs that it reads, and `only`, the log of a single sandbox, if any.
    `holder` is the name of its token; empty without a name."""

    only: "EventLog | None"
    place: EventPosition
    logs: "dict[EventLog, None]"
    is_last: bool
    is_own: bool
    holder: str

    def reads(self, log: "EventLog") -> bool:
        """Return whether the reader reads this log."""

    def wake(self) -> None:
        """Wake the reader, since there may be new events."""

    def keep_unread(self) -> None:
        """Render the events that the reader has not taken, since a log is about to be cleared."""


class EventLog:
    """The latest events of a sandbox. `clock` has the wall time that was read last."""

    def __init__(self, sandbox: str) -> None:
        self.sandbox = sandbox
        self.hub = EventHub()
        self.clock: Clock
        self._clear()
        self.count = 0
        self.began = 0
        self.is_ended = False  # its sandbox is gone

    @property
    def held(self) -> int:
        """Return the number of events that readers can still get."""
        return len(self._entries)

    def join(self, hub: "EventHub") -> None:
        """Join the logs of a server, which renumbers the earlier events of this log."""
        self.hub, self.began = hub, hub.latest
        entries, self.count = self.entries(), self.count - self.held
        self._add_all(entries)

    def note(self, *items: Item) -> None:
        """Add events, evicting the oldest as needed. Events of a deleted sandbox are dropped."""
        if self.is_ended:
            return
        hub, wall = self.hub, self.clock.latest
        for item in items:
            hub.latest = serial = hub.latest + 1
            self.count = number = self.count + 1
            self._entries.append(NumberedEvent(serial, number, self.sandbox, item, wall))
        if hub.readers and items:
            hub.touch(self)

    def _add_all(self, events: Sequence[tuple[Item, datetime]]) -> None:
        """Replace all events with these, which get the next numbers."""
        self._clear()
        for number, (item, wall) in enumerate(events, 1):
            event = NumberedEvent(self.hub.latest + number, self.count + number, self.sandbox, item, wall)
            self._entries.append(event)
        self.hub.latest += len(events)
        self.count += len(events)

    def entries(self) -> list[tuple[Item, datetime]]:
        """Return the events with their wall times, oldest first."""
        return [(event.item, event.wall) for event in self._entries]

    def restore(self, events: Sequence[tuple[Item, datetime]], total: int) -> None:
        """Replace all events with these, the latest of `total` events of a server that has only this sandbox."""
        self.count = self.hub.latest = total - len(events)
        self._add_all(events)

    def after(self, serial: int, count_max: int) -> list[NumberedEvent]:
        """Return the first events after a serial number."""
        start = bisect_right(self._entries, serial, key=_serial_of)
        return _slice(self._entries, start, min(self.held, start + count_max))

    def has_after(self, serial: int) -> bool:
        """Return whether the log has events after a serial number."""
        return bool(self._entries) and self._entries[-1].serial > serial

    @property
    def is_watched(self) -> bool:
        """Return whether a reader reads the events of this sandbox alone."""
        return any(reader.only is self for reader in self.hub.readers)

    def oldest(self) -> EventPosition:
        """Return the position before all events."""
        if not self._entries:
            return EventPosition(self.hub.latest, self.count)
        return EventPosition(self._entries[0].serial - 1, self.count - len(self._entries))

    def before(self, last: int) -> EventPosition:
        """Return the position before the last few events."""
        if last == 0:
            return EventPosition(self.hub.latest, self.count)
        if last >= len(self._entries):
            return self.oldest()
        return EventPosition(self._entries[-last].serial - 1, self.count - last)

    def end(self) -> None:
        """End the life as `end_life` does, and end the streams of this sandbox alone."""
        self.end_life()
        self.is_ended = True
        for reader in self.hub.readers:
            if reader.only is self:
                reader.is_last = True
                reader.wake()

    def end_life(self) -> None:
        """Clear the log, since the objects of its events are about to be freed. Slow readers keep the latest events."""
        self.hub.wake()
        for reader in self.hub.readers:
            if reader.reads(self):
                reader.keep_unread()
        self._clear()

    def reset(self) -> None:
        self._clear()
        self.count = 0

    def _clear(self) -> None:
        self.hub.batch = None
        self._entries: deque[NumberedEvent] = deque(maxlen=EVENTS_MAX)


_serial_of: Callable[[NumberedEvent], int] = attrgetter("serial")


def _slice(items: deque[NumberedEvent], start: int, stop: int) -> list[NumberedEvent]:
    """Return a slice of a deque, from its nearer end: most readers read the last few events of many."""
    held = len(items)
    if start < held // 2:
        return list(islice(items, start, stop))
    return list(islice(reversed(items), held - stop, held - start))[::-1]


class Batch(NamedTuple):
    """The rendered events that a reader took at a place, and its next place, for other readers with the same `key`."""

    key: Hashable
    place: EventPosition
    shown: list[bytes]
    next_place: EventPosition


class EventHub:
    """The event logs of a server, their serial numbers and their readers. `boot` distinguishes these numbers from those
    of another server. `batch` is the latest that a stream took, for others at the same place."""

    def __init__(self) -> None:
        self.boot = secrets.token_hex(4)
        self.latest = 0
        self.readers: list[LogReader] = []
        self.is_closed = False
        self.batch: Batch | None = None
        self.touched: set[EventLog] = set()
        self._woken_s = 0.0

    def refuse_when_full(self, holder: str = "") -> None:
        """Raise `Busy` when there are too many readers, or too many of this token holder."""
        if holder and sum(reader.holder == holder for reader in self.readers) >= READERS_MAX // 2:
            text = f"the token {holder!r} has {READERS_MAX // 2} streams of events open, the limit of a token"
            raise Busy("too_many_waiting", f"{text}; close some first")
        if sum(not reader.is_own for reader in self.readers) >= READERS_MAX:
            text = f"{READERS_MAX} streams of events are open at this server, which is the limit; close some first"
            raise Busy("too_many_waiting", text)

    def close(self) -> None:
        """End all streams, since the server is about to stop."""
        self.is_closed = True
        self.wake_all()

    def wake_all(self) -> None:
        """Wake all readers, whether there is something new or not."""
        for reader in self.readers:
            reader.wake()

    def touch(self, log: EventLog) -> None:
        """Wake the readers of a log at the end of this turn, or later if they were woken just now."""
        if not self.touched:
            loop = asyncio.get_running_loop()
            wait_s = self._woken_s + WAKE_EVERY_S - loop.time()
            if wait_s > 0:
                loop.call_later(wait_s, self._wake_touched, loop)
            else:
                loop.call_soon(self._wake_touched, loop)
        self.touched.add(log)

    def _wake_touched(self, loop: asyncio.AbstractEventLoop) -> None:
        self._woken_s = loop.time()
        self.wake()

    def wake(self) -> None:
        """Notify the readers of the logs that have something new."""
        touched, self.touched = self.touched, set()
        self.batch = None  # there are events after it
        for reader in self.readers:
            news = [log for log in touched if reader.reads(log) and log.has_after(reader.place.serial)]
            if news:
                reader.logs.update(dict.fromkeys(news))
                reader.wake()
