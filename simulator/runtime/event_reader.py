"""Reads events in order, from the log of one sandbox or from those of all, at its own pace."""

import asyncio
from collections.abc import Callable
from heapq import merge
from itertools import islice
from typing import Generic, TypeVar

from simulator.runtime.event_items import EventPosition, Gone, Taken
from simulator.runtime.events import EventHub, EventLog

TAKEN_MAX = 32
"""How many events a reader takes in one turn."""

Shown = TypeVar("Shown")


class EventReader(Generic[Shown]):
    """Reads the events of one log, or of all that there are: those `logs` and every one that comes. It begins behind
    `place`. `render` makes what an event is shown as, None for one that is not wanted, or raises `Gone`; `gap` what
    says that so many are missing until a place."""

    def __init__(
        self,
        hub: EventHub,
        only: EventLog | None,
        place: EventPosition,
        logs: list[EventLog],
        render: Callable[[Taken], Shown | None],
        gap: Callable[[int, EventPosition], Shown],
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
        self.holder = ""

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
        self.place = EventPosition(self._hub.latest, self.only.count if self.only else 0)
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
                shown += self._told(EventPosition(taken.serial - 1, taken.number - 1))
                shown += [] if piece is None else [piece]
            self.place = EventPosition(taken.serial, taken.number)
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

    def _told(self, place: EventPosition) -> list[Shown]:
        """What says how many are missing until this place, if any."""
        missing, self._missing = self._missing, 0
        return [self._gap(missing, place)] if missing else []

    def _skipped(self, taken: Taken) -> int:
        """How many events are missing between the last one and this."""
        if self.only is None:
            return taken.serial - self.place.serial - 1
        return max(0, taken.number - self.place.number - 1)
