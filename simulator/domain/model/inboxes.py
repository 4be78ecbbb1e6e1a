"""Inboxes, the receivers inside the simulator: how a URL names one, and what one replies."""

import re
from datetime import datetime, timedelta

import msgspec

from simulator.domain.model.windows import Window

INBOX_SCHEME = "inbox:"
"""How the URL of an inbox begins: `inbox:NAME` is the inbox of that name in the sandbox that delivers."""

INBOX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class InboxReply(msgspec.Struct, frozen=True):
    """What an inbox replies; `delay` is wall time, divided by the rate of a faster clock. With `disconnect` it closes
    the connection without an answer."""

    status: int = 200
    delay: timedelta = timedelta(0)
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
