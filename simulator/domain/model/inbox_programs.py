"""Inboxes, the receivers inside the simulator: their URLs, replies and times."""

import re
from datetime import datetime, time, timedelta

import msgspec

from simulator.domain.model.draw import Delay
from simulator.domain.model.money import SERVICE_ZONE

MIDNIGHT = time(0)


class TimeOfDay(msgspec.Struct, frozen=True):
    """Times of day in the service's zone, from `begins` (inclusive) to `ends` (exclusive); None for midnight. If
    `begins` is later than `ends`, the span crosses midnight; if equal, it is empty."""

    begins: time | None = None
    ends: time | None = None

    def holds(self, local: time) -> bool:
        """Return whether the time of day lies in the span."""
        return any(low <= local and (high is None or local < high) for low, high in self.spans())

    def spans(self) -> tuple[tuple[time, time | None], ...]:
        """Return at most two spans within one day, from (inclusive) and to (exclusive), None for midnight."""
        begins, ends = self.begins or MIDNIGHT, self.ends
        if ends is None or begins < ends:
            return ((begins, ends),)
        if begins == ends:
            return ()
        return ((MIDNIGHT, ends), (begins, None)) if ends > MIDNIGHT else ((begins, None),)


class Window(msgspec.Struct, frozen=True):
    """The times at which something applies; a part that is None always applies. `weekdays` are local days, 0 for
    Monday; `since` (inclusive) and `until` (exclusive) count from the latest start or reset of the sandbox."""

    time_of_day: TimeOfDay | None = None
    weekdays: frozenset[int] | None = None
    since: timedelta | None = None
    until: timedelta | None = None

    def holds(self, now: datetime, start: datetime) -> bool:
        """Return whether the moment `now` lies in the window; both are aware datetimes."""
        elapsed = now - start
        if (self.since is not None and elapsed < self.since) or (self.until is not None and elapsed >= self.until):
            return False
        local = now.astimezone(SERVICE_ZONE)
        if self.weekdays is not None and local.weekday() not in self.weekdays:
            return False
        return self.time_of_day is None or self.time_of_day.holds(local.time())


INBOX_SCHEME = "inbox:"
"""The scheme of inbox URLs: `inbox:NAME` is the inbox of that name in the delivering sandbox."""

INBOX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class InboxReply(msgspec.Struct, frozen=True):
    """The reply of an inbox; `delay` is wall time, divided by the rate of a faster clock. With `disconnect`, the
    connection closes without an answer."""

    status: int = 200
    delay: Delay = timedelta(0)
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    disconnect: bool = False


class TimedReply(msgspec.Struct, frozen=True):
    """A reply of an inbox during its window."""

    window: Window
    reply: InboxReply


class InboxProgram(msgspec.Struct, frozen=True):
    """The replies of an inbox. The first of `during` whose window applies answers; otherwise the next of `replies`,
    which repeats the last reply, or with `repeat` the whole sequence. Without replies, the inbox answers 200."""

    replies: tuple[InboxReply, ...] = ()
    repeat: bool = False
    during: tuple[TimedReply, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the inbox only answers 200."""
        return not (self.replies or self.during)

    def timed(self, now: datetime, start: datetime) -> InboxReply | None:
        """Return the reply that the time decides, if any; `start` is when the sandbox started."""
        return next((item.reply for item in self.during if item.window.holds(now, start)), None)

    def reply(self, place: int) -> InboxReply:
        """Return the reply at this place, from 0, among the replies that time does not decide."""
        if not self.replies:
            return InboxReply()
        return self.replies[place % len(self.replies) if self.repeat else min(place, len(self.replies) - 1)]
