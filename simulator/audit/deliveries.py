"""The attempts of one callback or webhook, and whether its receiver accepted it (SPEC 6.1)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from simulator.traffic.seen import Notification

INBOX_PATH = "/_sim/inbox/"
DEAD_HOST, DEAD_PORT = "127.0.0.1", 1  # of the scenario dead-receiver
TEMPORARY = frozenset({408, 429})
ATTEMPTS_MAX = 4
OVER_AFTER = timedelta(minutes=5)
"""Longer than a receiver's time limit and the wait before a retry together."""


class Delivery(NamedTuple):
    """The attempts to deliver one thing, in their order."""

    attempts: list[Notification]

    @property
    def last(self) -> Notification:
        """The last attempt."""
        return self.attempts[-1]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of the attempts."""
        return tuple(one.n for one in self.attempts)

    @property
    def is_accepted(self) -> bool:
        """True when one attempt was."""
        return any(map(is_accepted, self.attempts))

    def is_over(self, until: datetime | None) -> bool:
        """True when no more attempts are to be expected."""
        has_failed = self.last.status != 0 and not is_retried(self.last)
        is_old = until is not None and until - self.last.at >= OVER_AFTER
        return self.is_accepted or has_failed or is_old or len(self.attempts) >= ATTEMPTS_MAX


def grouped(notifications: Iterable[Notification]) -> list[Delivery]:
    """The attempts by what they deliver: those of one callback or event have the same content."""
    found: dict[tuple[str, str, bytes], Delivery] = {}
    for one in notifications:
        found.setdefault((one.kind, one.url, one.body), Delivery([])).attempts.append(one)
    return list(found.values())


def is_accepted(one: Notification) -> bool:
    """True for any 2xx."""
    return 200 <= one.status < 300


def is_retried(one: Notification) -> bool:
    """True when the service tries again."""
    return one.status == 0 or one.status >= 500 or one.status in TEMPORARY


def is_clients_own(one: Notification) -> bool:
    """False for an inbox of the simulator, which answers as it was told, and for the address of a receiver that is to
    be dead: nothing listens there."""
    try:
        parts = urlsplit(one.url)
        is_dead = parts.hostname == DEAD_HOST and parts.port == DEAD_PORT
    except ValueError:
        return True
    return not is_dead and parts.scheme != "inbox" and not parts.path.startswith(INBOX_PATH)
