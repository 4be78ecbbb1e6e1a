"""Holds: answers and deliveries that wait in a sandbox until a test releases them.

A hold is bounded: at most `WAITERS_MAX` wait at a time, each for at most `HELD_S_MAX` seconds of wall time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Final, Literal

import msgspec

from simulator.persistence.tape.entries import Resumption
from simulator.runtime.clock import Clock
from simulator.runtime.events import Action, EventLog
from simulator.runtime.wait_limits import WAITERS_MAX, Notifier

HELD_S_MAX: Final = 60.0

Kind = Literal["request", "answer", "callback", "webhook"]


class HoldEntry(msgspec.Struct, eq=False):
    """An answer or a delivery that waits under the name of a hold. `what` describes the request, or the subject of the
    delivery; `job` is the callback or webhook delivery; `since` is sandbox time, and `wall` the wall clock's."""

    name: str
    kind: Kind
    what: str
    since: datetime
    wall: datetime
    refid: str = ""
    job: str = ""
    ended: "asyncio.Future[Resumption] | None" = None

    def end(self, how: Resumption) -> None:
        if self.ended is not None and not self.ended.done():
            self.ended.set_result(how)

    def leave(self) -> None:
        """Free the place of a client that has left; its request has been executed."""
        self.end(Resumption.GONE)


class Holds:
    """The held answers and deliveries of a sandbox's life, first come first. `events` get the beginning and the end
    of each hold, at the time of the `clock`. A replay sets `pause`, which waits until the tape says that a hold has
    ended."""

    def __init__(self, events: EventLog | None = None, clock: Clock | None = None) -> None:
        self._held: list[HoldEntry] = []
        self._events = events
        self._clock = clock
        self.pause: Callable[[], Awaitable[Resumption]] | None = None
        self.notifier = Notifier()

    def __iter__(self) -> Iterator[HoldEntry]:
        return iter(self._held)

    def of(self, name: str) -> list[HoldEntry]:
        """Return the items held under this name, or all items for an empty name."""
        return [entry for entry in self._held if name in ("", entry.name)]

    async def hold(self, entry: HoldEntry) -> Resumption:
        """Wait until it is released, its client leaves, the time limit is over, or the life of the sandbox ends. Return
        which of these happened, at once when too many wait."""
        if self.pause is not None:
            return await self.pause()
        if len(self._held) >= WAITERS_MAX:
            self._note("hold_ended", entry, Resumption.FULL)
            return Resumption.FULL
        loop = asyncio.get_running_loop()
        entry.ended = loop.create_future()
        timer = loop.call_later(HELD_S_MAX, entry.end, Resumption.EXPIRED)
        self._held.append(entry)
        self._note("held", entry)
        self.notifier.notify()
        how = Resumption.GONE
        try:
            how = await entry.ended
            return how
        finally:
            timer.cancel()
            self._held.remove(entry)
            self._note("hold_ended", entry, how)

    def _note(self, change: str, entry: HoldEntry, how: Resumption = Resumption.READY) -> None:
        if self._events is not None and self._clock is not None:
            about = " ".join(filter(None, (f"{entry.name}:", entry.what, entry.refid, reason(how, entry.name))))
            self._events.note(Action(change, self._clock.now(), about))

    def release(self, name: str, count: int | None = None) -> int:
        """Release the first `count` of this name, by default all. Return their number."""
        waiting = [entry for entry in self.of(name) if entry.ended is not None and not entry.ended.done()][:count]
        for entry in waiting:
            entry.end(Resumption.READY)
        return len(waiting)

    def end_answers(self) -> None:
        """Release all answers: the server is about to stop. Deliveries are repeated after a restart."""
        for entry in self._held:
            if entry.kind in ("request", "answer"):
                entry.end(Resumption.READY)
        self.notifier.close()

    def close(self) -> None:
        """Release everything: the life of the sandbox has ended."""
        self._events = None
        for entry in self._held:
            entry.end(Resumption.READY)
        self.notifier.close()


def reason(how: Resumption, name: str) -> str:
    """Say why a hold ended without a release; empty when it was released or its client has left."""
    if how is Resumption.EXPIRED:
        return f"the hold {name!r} was not released within {HELD_S_MAX:g} s, so it ended by itself"
    if how is Resumption.FULL:
        return f"the hold {name!r} did not wait: {WAITERS_MAX} answers and deliveries are held in this sandbox already"
    return ""
