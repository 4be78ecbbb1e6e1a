"""Limits for sandboxes: quotas of payments, tape and requests for each sandbox, and the memory budgets of a server."""

from datetime import datetime
from math import inf
from typing import Final, NamedTuple

import msgspec

from simulator.persistence.tape.tape import TapeBudget
from simulator.runtime.inbox_messages import Inbox, InboxBudget
from simulator.runtime.inboxes import server_budget


class Quotas(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a sandbox, None for no limit. `transactions` and `bytes` count since its beginning or its last
    reset; `rate` is requests of the reseller API per second of the wall clock."""

    transactions: int | None = None
    bytes: int | None = None
    rate: float | None = None

    def __bool__(self) -> bool:
        """Return whether there is any limit."""
        return not (self.transactions is None and self.bytes is None and self.rate is None)

    def within(self, others: "Quotas") -> "Quotas":
        """Return these limits, with the limits of `others` where this has None."""
        return Quotas(
            transactions=others.transactions if self.transactions is None else self.transactions,
            bytes=others.bytes if self.bytes is None else self.bytes,
            rate=others.rate if self.rate is None else self.rate,
        )


NONE: Final = Quotas()


def quotas(transactions: int | None = None, bytes_: int | None = None, rate: float | None = None) -> Quotas:
    """Return quotas with these limits; None and 0 mean no limit."""
    return Quotas(transactions=transactions or None, bytes=bytes_ or None, rate=float(rate) if rate else None) or NONE


class RequestPace:
    """A rate limit of `rate` requests per second; a burst may have the requests of a second, and at least a single
    request."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._at: datetime | None = None

    def passes(self, wall: datetime) -> bool:
        """Return whether another request may pass now; a wall clock that goes back counts as stopped."""
        if self._at is not None and wall > self._at:
            gained = (wall - self._at).total_seconds() * self._rate
            self._left = min(self._most, self._left + gained)
        self._at = wall if self._at is None else max(wall, self._at)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class ServerBudgets(NamedTuple):
    """The budgets of a server: for inboxes, and for tapes."""

    inboxes: InboxBudget[Inbox]
    tapes: TapeBudget


def server_budgets(tapes_bytes_max: float | None = None) -> ServerBudgets:
    """Return new budgets for a server."""
    return ServerBudgets(server_budget(), TapeBudget() if tapes_bytes_max is None else TapeBudget(tapes_bytes_max))


def unshared_budgets() -> ServerBudgets:
    """Return budgets for a separately rebuilt sandbox, without a limit for its tape."""
    return server_budgets(inf)
