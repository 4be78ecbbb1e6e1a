"""Expiring memory: spent nonces (SPEC 3.6), and the request rate of each address (SPEC 8)."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from operator import is_not
from typing import TypeVar

from simulator.domain.model.holdings import Holding
from simulator.domain.model.part_counts import PartCounts

Value = TypeVar("Value")

ADDRESSES_MAX = 100_000


Spent = tuple[str, bytes]
"""A nonce in its scope."""

SpentAt = tuple[datetime, int, int]
"""The sandbox's time at which it was spent, the timestamp, in Unix seconds, and its number among all that were spent.
"""

LatestSpent = tuple[Spent, SpentAt | None] | None
"""The nonce that was spent last, with what was known of it before."""


class Nonces:
    """The recently spent nonces, by API key, bounded by time and by count.

    A nonce can be reused after the window in sandbox time, but only with a later timestamp. An entry expires only after
    its timestamp, too, is too old to be accepted. So no request is accepted twice, however far the sandbox's clock and
    the clock that timestamps are compared with diverge.

    Above `count_max` the oldest is evicted: it could be replayed, but memory stays bounded.
    """

    def __init__(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        self._spent: OrderedDict[Spent, SpentAt] = OrderedDict()
        self._latest: LatestSpent = None
        self._added = 0
        self.removed = PartCounts()
        self.bound(window, tolerance_s, count_max)

    def __len__(self) -> int:
        return len(self._spent)

    def bound(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        """Change the bounds from now on; remembered nonces stay."""
        self._window, self._tolerance_s, self._count_max = window, tolerance_s, count_max
        self._oldest_until = datetime.min.replace(tzinfo=UTC)

    def kept(self) -> tuple[OrderedDict[Spent, SpentAt], datetime, LatestSpent, int]:
        """All of it, for a snapshot: what was spent, in the order of the numbers; until when nothing expires; the
        latest; and how many were ever spent."""
        return self._spent, self._oldest_until, self._latest, self._added

    def holding(self) -> Holding:
        """Its container."""
        return Holding(self._spent)

    def restore(
        self,
        spent: Iterable[tuple[Spent, SpentAt]],
        oldest_until: datetime,
        latest: LatestSpent,
        added: int,
    ) -> None:
        """Remember what was kept, instead of all else."""
        self._spent, self._oldest_until, self._latest, self._added = OrderedDict(spent), oldest_until, latest, added

    def share(self, others: "list[tuple[Spent, SpentAt]]") -> int:
        """Have these very objects in the place of equal ones, so that they take no memory twice: what is spent
        elsewhere, in the same order, of which the first may be gone here. Answers how many there are without one."""
        first = next(iter(self._spent), None)
        begin = next((place for place, (spent, _) in enumerate(others) if spent == first), len(others))
        pairs = zip_longest(list(self._spent.items()), others[begin : begin + len(self._spent)])
        found = [theirs if own == theirs else own for own, theirs in pairs]
        self._spent = OrderedDict(found)
        if self._latest is not None and found and found[-1][0] == self._latest[0]:
            self._latest = found[-1][0], self._latest[1]
        return sum(map(is_not, found, others[begin:])) + max(0, len(found) - len(others) + begin)

    def is_spent(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime) -> bool:
        """Whether `spend` would refuse this nonce."""
        known = self._spent.get((scope, nonce))
        return known is not None and (now - known[0] < self._window or timestamp_s <= known[1])

    def spend(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime, signing_s: float) -> bool:
        """Check and spend atomically: False when `nonce` was spent in `scope` within the window, or with this timestamp
        or a later one.

        `now` is the sandbox's time, `signing_s` the Unix time that `timestamp_s` was compared with.
        """
        key, spent = (scope, nonce), self._spent
        known = spent.get(key)
        if known is not None:
            spent_at, newest_s, number = known
            if now - spent_at < self._window or timestamp_s <= newest_s:
                return False
            del spent[key]  # keeps the newest last
            self.removed.count(number)
        if now >= self._oldest_until or len(spent) >= self._count_max:
            self._forget(now, signing_s)
        self._added = number = self._added + 1
        spent[key] = (now, timestamp_s, number)
        self._latest = (key, known)
        return True

    def take_back(self, scope: str, nonce: bytes) -> None:
        """Undo the spending of the latest nonce, which is this one."""
        assert self._latest is not None, "only what was spent is taken back"
        key, before = self._latest
        assert key == (scope, nonce), "only the latest is taken back"
        self.removed.count(self._spent.pop(key)[2])
        if before is not None:
            self._added += 1
            self._spent[key] = (*before[:2], self._added)

    def _forget(self, now: datetime, signing_s: float) -> None:
        spent = self._spent
        while spent:
            spent_at, timestamp_s, number = next(iter(spent.values()))
            is_alive = now - spent_at < self._window or signing_s - timestamp_s <= self._tolerance_s
            if is_alive and len(spent) < self._count_max:
                self._oldest_until = spent_at + self._window
                return
            spent.popitem(last=False)
            self.removed.count(number)


@dataclass(slots=True)
class _Window:
    """The requests of one address until `ends`."""

    ends: datetime
    requests: int = 1


class RequestRates:
    """Limits the requests of each address per interval, and blocks addresses that exceed the limit (SPEC 8).

    An address's interval starts with its first request, the next with the first request after its end. Requests during
    a block are not counted and do not extend it; after it the address starts afresh. Above `ADDRESSES_MAX` addresses
    the oldest intervals and blocks are evicted, so that memory stays bounded.
    """

    def __init__(self, requests_max: int, interval: timedelta, block: timedelta) -> None:
        self._requests_max = requests_max
        self._interval = interval
        self._block = block
        # Both are ordered by end, since all intervals and all blocks have the same length.
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._blocked: OrderedDict[str, datetime] = OrderedDict()

    def __len__(self) -> int:
        return len(self._windows) + len(self._blocked)

    def kept(self) -> tuple[list[tuple[str, datetime, int]], list[tuple[str, datetime]]]:
        """All of it, for a snapshot: each address with the end and the requests of its interval; each blocked one with
        the end of its block."""
        windows = [(address, one.ends, one.requests) for address, one in self._windows.items()]
        return windows, list(self._blocked.items())

    def restore(self, windows: Iterable[tuple[str, datetime, int]], blocked: Iterable[tuple[str, datetime]]) -> None:
        """Go on with what was kept."""
        self._windows = OrderedDict((address, _Window(ends, requests)) for address, ends, requests in windows)
        self._blocked = OrderedDict(blocked)

    def allow(self, address: str, now: datetime) -> bool:
        """Count one request; False when its address is blocked, by this or an earlier request."""
        if self._blocked and self.blocked_until(address, now) is not None:
            return False
        window = self._windows.get(address)
        if window is None or now >= window.ends:
            self._begin(address, now)
            return True
        window.requests += 1
        if window.requests <= self._requests_max:
            return True
        del self._windows[address]
        self._put(self._blocked, address, now + self._block)
        return False

    def blocked_until(self, address: str, now: datetime) -> datetime | None:
        """When the block of the address ends; None when it is not blocked."""
        until = self._blocked.get(address)
        if until is None or now < until:
            return until
        del self._blocked[address]
        return None

    def _begin(self, address: str, now: datetime) -> None:
        windows, blocked = self._windows, self._blocked
        windows.pop(address, None)
        while windows and next(iter(windows.values())).ends <= now:
            windows.popitem(last=False)
        while blocked and next(iter(blocked.values())) <= now:
            blocked.popitem(last=False)
        self._put(windows, address, _Window(now + self._interval))

    @staticmethod
    def _put(known: OrderedDict[str, Value], address: str, value: Value) -> None:
        if len(known) >= ADDRESSES_MAX:
            known.popitem(last=False)
        known[address] = value
