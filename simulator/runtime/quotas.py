"""What sandboxes may use: quotas of payments, tape and requests for each, and memory budgets for all of a server."""

from datetime import datetime
from math import inf
from typing import Final, NamedTuple

import msgspec

from simulator.persistence.tape.tape import TapeBudget
from simulator.runtime.inbox_messages import Inbox, InboxBudget
from simulator.runtime.inboxes import server_budget


class Quotas(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The bounds of one sandbox, None for no bound. `transactions` and `bytes` count since its beginning or its last
    reset; `rate` is requests of the reseller API in a second of the wall clock."""

    transactions: int | None = None
    bytes: int | None = None
    rate: float | None = None

    def __bool__(self) -> bool:
        """True when there is a bound."""
        return not (self.transactions is None and self.bytes is None and self.rate is None)

    def within(self, others: "Quotas") -> "Quotas":
        """These, and those of `others` where there is none."""
        return Quotas(
            transactions=others.transactions if self.transactions is None else self.transactions,
            bytes=others.bytes if self.bytes is None else self.bytes,
            rate=others.rate if self.rate is None else self.rate,
        )


NONE: Final = Quotas()


def quotas(transactions: int | None = None, bytes_: int | None = None, rate: float | None = None) -> Quotas:
    """Those with these bounds; None and 0 are none."""
    return Quotas(transactions=transactions or None, bytes=bytes_ or None, rate=float(rate) if rate else None) or NONE


class RequestPace:
    """Lets `rate` requests pass in a second, and as many at once as in one second, but one at least."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._at: datetime | None = None

    def passes(self, wall: datetime) -> bool:
        """Whether one more may pass now; a wall clock that goes back stands still."""
        if self._at is not None and wall > self._at:
            gained = (wall - self._at).total_seconds() * self._rate
            self._left = min(self._most, self._left + gained)
        self._at = wall if self._at is None else max(wall, self._at)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class ServerBudgets(NamedTuple):
    """Those of their inboxes, and of their tapes."""

    inboxes: InboxBudget[Inbox]
    tapes: TapeBudget


def server_budgets(tapes_bytes_max: float | None = None) -> ServerBudgets:
    """Those of a server."""
    return ServerBudgets(server_budget(), TapeBudget() if tapes_bytes_max is None else TapeBudget(tapes_bytes_max))


def unshared_budgets() -> ServerBudgets:
    """Those of a sandbox that is rebuilt beside the others: its tape is as long as that from which it is."""
    return server_budgets(inf)
