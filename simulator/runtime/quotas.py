"""What a sandbox may use of a server that others use, too: payments, bytes of its tape, and requests in a second."""

from datetime import datetime
from typing import Final

import msgspec


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


class Pace:
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
