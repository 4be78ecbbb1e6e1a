"""What happens in the sandboxes of a server, in order, for those who watch it.

Nothing is rendered before it is read, and nothing is copied: a sandbox's log has references to what happened, the
latest ones, and a reader has a position. So a reader that is slow misses what was evicted meanwhile, and holds nothing
but lives of sandboxes that have ended: a few are kept, within so many bytes, until all have read them. Readers
are woken once in a turn of the event loop. While nobody reads, an event costs appending it.
"""

import asyncio
import secrets
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from heapq import merge
from itertools import count, islice
from typing import Any, Generic, TypeVar

from simulator.domain.errors import Busy
from simulator.runtime.clock import Clock
from simulator.runtime.event_items import EVENT_BYTES, Gone, Item, Place, Sized, Taken

EVENTS_MAX = 10_000
"""The latest events of a sandbox that a reader may still get."""

READERS_MAX = 64
"""How many may read at the same time, since each of them renders what it reads."""

TAKEN_MAX = 32
"""How many events a reader takes in one turn."""

ENDED_MAX = 4
ENDED_BYTES_MAX = 64 * 1024 * 1024
"""How many lives that have ended are kept at a server for readers that have not read them yet, and their memory."""
Shown = TypeVar("Shown")


class EventLog:
    """The latest events of one sandbox, whose `clock` knows the wall time that was read last; `size` is the memory that
    an ended life holds, in bytes."""

    def __init__(self, sandbox: str) -> None:
        self.sandbox = sandbox
        self.hub = EventHub()
        self.clock: Clock
        self._holds: tuple[Sized, ...] = ()
        self._items: deque[Item] = deque(maxlen=EVENTS_MAX)
        self._walls: deque[datetime] = deque(maxlen=EVENTS_MAX)
        self._serials: deque[int] = deque(maxlen=EVENTS_MAX)
        self.count = 0
        self.began = 0
        self.life: Any = None
        self.size = 0

    def begin(self, clock: Clock, *holds: Sized) -> None:
        """Begin a life with this clock, whose events refer to what these hold."""
        self.clock, self._holds = clock, holds

    def join(self, hub: "EventHub") -> None:
        """Be one of the logs of a server."""
        self.hub, self.began = hub, hub.latest

    def note(self, item: Item) -> None:
        """Add an event, evicting the oldest as needed."""
        hub = self.hub
        hub.latest = serial = hub.latest + 1
        self.count += 1
        self._items.append(item)
        self._walls.append(self.clock.latest)
        self._serials.append(serial)
        if hub.readers:
            hub.touch(self)

    def after(self, serial: int, count_max: int) -> Iterator[Taken]:
        """The first events behind a serial number."""
        start = bisect_right(self._serials, serial)
        first = self.count - len(self._items) + 1
        stop = start + count_max
        rows = zip(self._serials, count(first), self._items, self._walls, strict=False)
        for found, number, item, wall in islice(rows, start, stop):
            yield Taken(found, number, self.sandbox, item, wall, self.life)

    def has_after(self, serial: int) -> bool:
        """True when there are events behind a serial number."""
        return bool(self._serials) and self._serials[-1] > serial

    @property
    def is_watched(self) -> bool:
        """True while somebody reads the events of this sandbox alone."""
        return any(reader.only is self for reader in self.hub.readers)

    def oldest(self) -> Place:
        """The place of a reader before all that there is."""
        if not self._items:
            return Place(self.hub.latest, self.count)
        return Place(self._serials[0] - 1, self.count - len(self._items))

    def newest(self) -> Place:
        """The place of a reader behind all that there is."""
        return Place(self.hub.latest, self.count)

    def end(self, life: object) -> None:
        """The same, and let the streams of this sandbox alone end."""
        self.end_life(life)
        for reader in self.hub.readers:
            if reader.only is self:
                reader.is_last = True
                reader.wake()

    def end_life(self, life: object) -> None:
        """Begin anew. Those who have not read everything yet go on with what was, which is of `life`."""
        hub = self.hub
        hub.wake()
        ended = EventLog(self.sandbox)
        ended.life, ended.count = life, self.count
        ended._items, ended._walls, ended._serials = self._items, self._walls, self._serials
        behind = [reader for reader in hub.readers_of(self) if ended.has_after(reader.place.serial)]
        self._clear()
        for reader in behind:
            reader.logs[ended] = None
        if behind:
            ended.size = EVENT_BYTES * len(ended._items) + sum(each.size for each in self._holds)
            hub.keep(ended)

    def forget(self) -> None:
        """Have nothing any more; readers learn how much they missed."""
        self._clear()
        self.life = None

    def _clear(self) -> None:
        self._items, self._walls, self._serials = (deque(maxlen=EVENTS_MAX) for _ in range(3))


class EventHub:
    """All events of a server: their numbers, and who reads them. `boot` tells this server's numbers from another's."""

    def __init__(self) -> None:
        self.boot = secrets.token_hex(4)
        self.latest = 0
        self.readers: list[EventReader[Any]] = []
        self.is_closed = False
        self._touched: set[EventLog] = set()
        self.ended: list[EventLog] = []

    def refuse_when_full(self) -> None:
        """Raise `Busy` when there are too many readers for one more."""
        if sum(not reader.is_own for reader in self.readers) >= READERS_MAX:
            text = f"{READERS_MAX} streams of events are open at this server, which is the limit; close some first"
            raise Busy("too_many_waiting", text)

    def close(self) -> None:
        """End all streams: the server is about to stop."""
        self.is_closed = True
        for reader in self.readers:
            reader.wake()

    def keep(self, ended: EventLog) -> None:
        """Keep what a life has told until it is read, unless more lives end meanwhile than are kept, or larger ones."""
        self.ended.append(ended)
        while len(self.ended) > ENDED_MAX or sum(log.size for log in self.ended) > ENDED_BYTES_MAX:
            self.ended.pop(0).forget()

    def release(self) -> None:
        """Keep no life any more that all have read."""
        self.ended = [log for log in self.ended if any(log in reader.logs for reader in self.readers)]

    def readers_of(self, log: EventLog) -> "list[EventReader[Any]]":
        """Those who read this log."""
        return [reader for reader in self.readers if reader.reads(log)]

    def touch(self, log: EventLog) -> None:
        """Wake the readers of a log, at the end of this turn."""
        if not self._touched:
            asyncio.get_running_loop().call_soon(self.wake)
        self._touched.add(log)

    def wake(self) -> None:
        """Tell the readers which logs have something new."""
        touched, self._touched = self._touched, set()
        for reader in self.readers:
            news = [log for log in touched if reader.reads(log)]
            if news:
                reader.logs.update(dict.fromkeys(news))
                reader.wake()


class EventReader(Generic[Shown]):
    """Reads the events of one log, or of all that there are: those `logs` and every one that comes. It begins behind
    `place`. `render` makes what an event is shown as, None for one that is not wanted, or raises `Gone`; `gap` what
    says that so many are missing until a place."""

    def __init__(
        self,
        hub: EventHub,
        only: EventLog | None,
        place: Place,
        logs: list[EventLog],
        render: Callable[[Taken], Shown | None],
        gap: Callable[[int, Place], Shown],
    ) -> None:
        self._hub = hub
        self.only = only
        self.place = place
        self.logs: dict[EventLog, None] = dict.fromkeys(logs)
        self._render, self._gap = render, gap
        self.first: list[Shown] = []  # what is told before everything else
        self._missing = 0
        self._woken: asyncio.Future[None] | None = None
        self.is_last = False  # nothing will come after what there is
        self.is_own = False  # it is the server's, and is not counted

    def __enter__(self) -> "EventReader[Shown]":
        self._hub.readers.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._hub.readers.remove(self)
        self._hub.release()

    def reads(self, log: EventLog) -> bool:
        """True when it reads this log."""
        return self.only is None or self.only is log

    @property
    def is_over(self) -> bool:
        """True when nothing more will be taken."""
        return self._hub.is_closed or (self.is_last and not self.has_more)

    @property
    def has_more(self) -> bool:
        """True when there is something to take."""
        return bool(self.first) or any(log.has_after(self.place.serial) for log in self.logs)

    def wake(self) -> None:
        """Let `wait` end."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def wait(self, timeout_s: float) -> bool:
        """Wait until there may be something to take, or nothing will come; False on timeout."""
        if self.has_more or self.is_over:
            return True
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        timer = loop.call_later(timeout_s, self.wake)
        try:
            await self._woken
        finally:
            timer.cancel()
            self._woken = None
        return self.has_more or self.is_over

    def take(self, count_max: int = TAKEN_MAX) -> list[Shown]:
        """Some of what there is, rendered; what is missing is said in its place."""
        first, self.first = self.first, []
        return first or self._take(count_max)

    def skip(self) -> None:
        """Go to the end without rendering anything."""
        self.place = Place(self._hub.latest, self.only.count if self.only else 0)
        self.first = []
        self._drop_read()

    def _take(self, count_max: int) -> list[Shown]:
        shown: list[Shown] = []
        serial = self.place.serial
        ordered = merge(*(log.after(serial, count_max) for log in self.logs), key=lambda taken: taken.serial)
        for taken in islice(ordered, count_max):
            self._missing += self._skipped(taken)
            try:
                piece = self._render(taken)
            except Gone:
                self._missing += 1
            else:
                shown += self._told(Place(taken.serial - 1, taken.number - 1))
                shown += [] if piece is None else [piece]
            self.place = Place(taken.serial, taken.number)
        shown += self._told(self.place)
        self._drop_read()
        return shown

    def _drop_read(self) -> None:
        """Forget the logs of which everything was read."""
        for log in [log for log in self.logs if not log.has_after(self.place.serial)]:
            if log is not self.only:
                del self.logs[log]
        if self._hub.ended:
            self._hub.release()

    def _told(self, place: Place) -> list[Shown]:
        """What says how many are missing until this place, if any."""
        missing, self._missing = self._missing, 0
        return [self._gap(missing, place)] if missing else []

    def _skipped(self, taken: Taken) -> int:
        """How many events are missing between the last one and this."""
        if self.only is None:
            return taken.serial - self.place.serial - 1
        return max(0, taken.number - self.place.number - 1)
