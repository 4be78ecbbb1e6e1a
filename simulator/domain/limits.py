"""Memory that expires: nonces that were spent (SPEC 3.6)."""

from collections import OrderedDict
from datetime import UTC, datetime, timedelta


class Nonces:
    """The nonces spent lately, by API key, bounded by time and by count.

    When more than `count_max` are alive the oldest is forgotten: it could be replayed, but memory stays bounded.
    """

    def __init__(self, window: timedelta, count_max: int) -> None:
        self._window = window
        self._count_max = count_max
        self._oldest_until = datetime.min.replace(tzinfo=UTC)
        self._spent: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    def __len__(self) -> int:
        return len(self._spent)

    def spend(self, scope: str, nonce: str, now: datetime) -> bool:
        """Check and spend in one step: False when `nonce` was spent in `scope` less than the window ago."""
        self._forget(now)
        key = (scope, nonce)
        if key in self._spent:
            return False
        self._spent[key] = now
        return True

    def _forget(self, now: datetime) -> None:
        spent = self._spent
        if now < self._oldest_until and len(spent) < self._count_max:
            return
        while spent:
            key = next(iter(spent))
            if len(spent) < self._count_max and now - spent[key] < self._window:
                self._oldest_until = spent[key] + self._window
                return
            del spent[key]
