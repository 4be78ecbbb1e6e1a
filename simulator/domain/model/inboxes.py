"""Inboxes, the receivers inside the simulator: how a URL names one, what one replies, and when."""

import re
from datetime import datetime, time, timedelta

import msgspec

from simulator.domain.model.draw import Delay
from simulator.domain.model.money import SERVICE_ZONE

MIDNIGHT = time(0)


class TimeOfDay(msgspec.Struct, frozen=True):
    """Times of day in the service's zone, from `begins` (inclusive) to `ends` (exclusive); None for midnight. One that
    begins after it ends goes over midnight; one that begins when it ends holds never."""

    begins: time | None = None
    ends: time | None = None

    def holds(self, local: time) -> bool:
        """True when the time of day lies in it."""
        return any(low <= local and (high is None or local < high) for low, high in self.spans())

    def spans(self) -> tuple[tuple[time, time | None], ...]:
        """The same as spans of one day, from (inclusive) and to (exclusive), None for its end; at most two."""
        begins, ends = self.begins or MIDNIGHT, self.ends
        if ends is None or begins < ends:
            return ((begins, ends),)
        if begins == ends:
            return ()
        return ((MIDNIGHT, ends), (begins, None)) if ends > MIDNIGHT else ((begins, None),)


class Window(msgspec.Struct, frozen=True):
    """When something holds; a part that is None holds always. `weekdays` are the local days on which it does, 0 for
    Monday; `since` (inclusive) and `until` (exclusive) count from the start of the sandbox, which a reset renews."""

    time_of_day: TimeOfDay | None = None
    weekdays: frozenset[int] | None = None
    since: timedelta | None = None
    until: timedelta | None = None

    def holds(self, now: datetime, start: datetime) -> bool:
        """True when the moment `now` lies in it; both are aware datetimes."""
        elapsed = now - start
        if (self.since is not None and elapsed < self.since) or (self.until is not None and elapsed >= self.until):
            return False
        if self.time_of_day is None and self.weekdays is None:
            return True
        local = now.astimezone(SERVICE_ZONE)
        if self.weekdays is not None and local.weekday() not in self.weekdays:
            return False
        return self.time_of_day is None or self.time_of_day.holds(local.time())


INBOX_SCHEME = "inbox:"
"""How the URL of an inbox begins: `inbox:NAME` is the inbox of that name in the sandbox that delivers."""

INBOX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class InboxReply(msgspec.Struct, frozen=True):
    """What an inbox replies; `delay` is wall time, divided by the rate of a faster clock. With `disconnect` it closes
    the connection without an answer."""

    status: int = 200
    delay: Delay = timedelta(0)
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    disconnect: bool = False


class TimedReply(msgspec.Struct, frozen=True):
    """A reply of an inbox while its window lasts."""

    window: Window
    reply: InboxReply


class InboxProgram(msgspec.Struct, frozen=True):
    """How an inbox replies. The first of `during` whose window lasts answers; otherwise the next of `replies`, the last
    of which repeats, or with `repeat` all of them. Without any it is 200."""

    replies: tuple[InboxReply, ...] = ()
    repeat: bool = False
    during: tuple[TimedReply, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when it only answers 200."""
        return not (self.replies or self.during)

    def timed(self, now: datetime, start: datetime) -> InboxReply | None:
        """The reply that the time decides, if any; `start` is when the sandbox started."""
        return next((one.reply for one in self.during if one.window.holds(now, start)), None)

    def reply(self, place: int) -> InboxReply:
        """The reply at this place, counted from 0, of those that the time does not decide."""
        if not self.replies:
            return InboxReply()
        return self.replies[place % len(self.replies) if self.repeat else min(place, len(self.replies) - 1)]
