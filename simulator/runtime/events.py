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
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from simulator.domain.commands import (
    AddApiKey,
    AddReseller,
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Command,
    Credit,
    LoadScenario,
    RemoveRule,
    ReplayDelivery,
    RevokeApiKey,
    SendCallback,
    SetNetwork,
)
from simulator.domain.errors import Busy
from simulator.domain.model.webhooks import ReplayRefused
from simulator.runtime.clock import Clock
from simulator.runtime.event_items import EVENT_BYTES, Action, EventPosition, Item, Sized, Taken

EVENTS_MAX = 10_000
"""The latest events of a sandbox that a reader may still get."""

READERS_MAX = 64
"""How many may read at the same time, since each of them renders what it reads."""

READERS_OF_ONE_MAX = 32
"""How many of them one token of several may have, so that it leaves some to the others."""

RENDERED_MAX = 256
RENDERED_BYTES_MAX = 16 * 1024
"""How many rendered events are kept for other streams, and how long one of them may be."""

ENDED_MAX = 4
ENDED_BYTES_MAX = 64 * 1024 * 1024
"""How many lives that have ended are kept at a server for readers that have not read them yet, and their memory."""


class Reader(Protocol):
    """Who reads: behind which place, from which logs, and whether of one sandbox `only`; `holder` is the name of their
    token, empty of those that have none."""

    only: "EventLog | None"
    place: EventPosition
    logs: "dict[EventLog, None]"
    is_last: bool
    is_own: bool
    holder: str

    def reads(self, log: "EventLog") -> bool:
        """True when it reads this log."""

    def wake(self) -> None:
        """Let it see what there is."""


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
        self._held: list[Item] | None = None
        self.count = 0
        self.began = 0
        self.life: Any = None
        self.size = 0

    @property
    def held(self) -> int:
        """How many events there are that a reader may still get."""
        return len(self._items)

    def begin(self, clock: Clock, *holds: Sized) -> None:
        """Begin a life with this clock, whose events refer to what these hold."""
        self.clock, self._holds = clock, holds

    def join(self, hub: "EventHub") -> None:
        """Be one of the logs of a server, which numbers what was told before, too."""
        self.hub, self.began = hub, hub.latest
        hub.latest += len(self._items)
        self._serials = deque(range(self.began + 1, hub.latest + 1), maxlen=EVENTS_MAX)

    def note(self, item: Item) -> None:
        """Add an event, evicting the oldest as needed; between `hold` and `release` only keep it for the latter."""
        if self._held is not None:
            self._held.append(item)
            return
        hub = self.hub
        hub.latest = serial = hub.latest + 1
        self.count += 1
        self._items.append(item)
        self._walls.append(self.clock.latest)
        self._serials.append(serial)
        if hub.readers:
            hub.touch(self)

    def hold(self) -> None:
        """Hold events back while a request is executed, which has no number yet. Nothing may await before `release`."""
        self._held = []

    def release(self) -> list[Item]:
        """Return the events since `hold`, for the caller to note behind the request."""
        held, self._held = self._held, None
        assert held is not None, "only after hold"
        return held

    def kept(self) -> Iterator[tuple[Item, datetime]]:
        """The events with their wall times, the oldest first."""
        return zip(self._items, self._walls, strict=True)

    def restore(self, events: Iterable[tuple[Item, datetime]], total: int) -> None:
        """Have these in the place of all others, as the latest of so many of a server that has this sandbox alone."""
        self._clear()
        for item, wall in events:
            self._items.append(item)
            self._walls.append(wall)
        self.count = self.hub.latest = total
        self._serials.extend(range(total - len(self._items) + 1, total + 1))

    def after(self, serial: int, count_max: int) -> Iterator[Taken]:
        """The first events behind a serial number."""
        held = len(self._items)
        start = bisect_right(self._serials, serial)
        stop = min(held, start + count_max)
        numbers = range(self.count - held + 1 + start, self.count - held + 1 + stop)
        parts = (_slice(each, start, stop) for each in (self._serials, self._items, self._walls))
        for found, item, wall, number in zip(*parts, numbers, strict=True):
            yield Taken(found, number, self.sandbox, item, wall, self.life)

    def has_after(self, serial: int) -> bool:
        """True when there are events behind a serial number."""
        return bool(self._serials) and self._serials[-1] > serial

    @property
    def is_watched(self) -> bool:
        """True while somebody reads the events of this sandbox alone."""
        return any(reader.only is self for reader in self.hub.readers)

    def oldest(self) -> EventPosition:
        """The place of a reader before all that there is."""
        if not self._items:
            return EventPosition(self.hub.latest, self.count)
        return EventPosition(self._serials[0] - 1, self.count - len(self._items))

    def before(self, last: int) -> EventPosition:
        """The place of a reader before the last few."""
        if last == 0:
            return EventPosition(self.hub.latest, self.count)
        if last >= len(self._items):
            return self.oldest()
        return EventPosition(self._serials[-last] - 1, self.count - last)

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

    def begin_anew(self) -> None:
        """Have nothing, as if nothing had happened yet."""
        self._clear()
        self.count = 0

    def _clear(self) -> None:
        self._items, self._walls, self._serials = (deque(maxlen=EVENTS_MAX) for _ in range(3))


def _slice(items: deque[Any], start: int, stop: int) -> list[Any]:
    """Return a part of a deque, counted from its nearer end: a reader that keeps up reads the last few of many."""
    held = len(items)
    if start < held // 2:
        return list(islice(items, start, stop))
    return list(islice(reversed(items), held - stop, held - start))[::-1]


class RenderedEvents:
    """The latest events as streams send them, so that several streams render each once."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, tuple[bytes, bytes]] = {}

    def get(self, key: Hashable, render: Callable[[], tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
        """Return the rendered event of this key, rendering it unless that was done; a long one is not kept."""
        found = self._by_key.get(key)
        if found is None:
            found = render()
            if len(found[1]) <= RENDERED_BYTES_MAX:
                self._by_key[key] = found
                if len(self._by_key) > RENDERED_MAX:
                    del self._by_key[next(iter(self._by_key))]
        return found


class EventHub:
    """All events of a server: their numbers, and who reads them. `boot` tells this server's numbers from another's."""

    def __init__(self) -> None:
        self.boot = secrets.token_hex(4)
        self.latest = 0
        self.readers: list[Reader] = []
        self.is_closed = False
        self.rendered = RenderedEvents()
        self._touched: set[EventLog] = set()
        self.ended: list[EventLog] = []

    def refuse_when_full(self, holder: str = "") -> None:
        """Raise `Busy` when there are too many readers for one more, or too many of this holder of a token."""
        if holder and sum(reader.holder == holder for reader in self.readers) >= READERS_OF_ONE_MAX:
            text = f"the token {holder!r} has {READERS_OF_ONE_MAX} streams of events open, which is the limit of one"
            raise Busy("too_many_waiting", f"{text}; close some first")
        if sum(not reader.is_own for reader in self.readers) >= READERS_MAX:
            text = f"{READERS_MAX} streams of events are open at this server, which is the limit; close some first"
            raise Busy("too_many_waiting", text)

    def close(self) -> None:
        """End all streams: the server is about to stop."""
        self.is_closed = True
        self.wake_all()

    def wake_all(self) -> None:
        """Let all who read look around, whether there is something new or not."""
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

    def readers_of(self, log: EventLog) -> "list[Reader]":
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


ACTIONS: dict[type, tuple[str, Callable[[Any, Any], str]]] = {
    AddRule: ("rule_added", lambda command, rule: rule.id),
    RemoveRule: ("rule_removed", lambda command, _: command.rule),
    LoadScenario: ("scenario_loaded", lambda command, _: command.name),
    SetNetwork: ("network_set", lambda command, _: f"{command.product} {command.status.value}"),
    ChangeProduct: ("product_changed", lambda command, _: command.code),
    ChangeTree: ("catalog_changed", lambda command, _: f"{command.kind.value} {command.id}"),
    AddReseller: ("reseller_added", lambda command, _: command.start.code),
    ChangeSettings: ("settings_changed", lambda command, _: command.reseller),
    AddApiKey: ("api_key_added", lambda command, _: command.reseller),
    RevokeApiKey: ("api_key_revoked", lambda command, _: command.reseller),
    ReplayDelivery: ("delivery_replayed", lambda command, _: command.job),
    SendCallback: ("callback_sent", lambda command, _: command.trxid),
    Credit: ("deposited", lambda command, _: command.reseller),
}


def note_command(log: EventLog, command: Command, answer: Any, at: datetime) -> None:
    """Add the action of a command that the control API submitted, unless it was refused."""
    if not isinstance(answer, ReplayRefused):
        name, about = ACTIONS[type(command)]
        log.note(Action(name, at, about(command, answer)))
