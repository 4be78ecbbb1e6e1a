"""Inboxes, the receivers inside the simulator: how a URL names one, and what one replies."""

import re
from dataclasses import dataclass
from datetime import timedelta

INBOX_SCHEME = "inbox:"
"""How the URL of an inbox begins: `inbox:NAME` is the inbox of that name in the sandbox that delivers."""

INBOX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class InboxReply:
    """What an inbox replies; `delay` is wall time, divided by the rate of a faster clock."""

    status: int = 200
    delay: timedelta = timedelta(0)
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
