"""Request rates of addresses (SPEC 8), and spent nonces with their expiry (SPEC 3.6)."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Final, TypeVar

import msgspec

Value = TypeVar("Value")

ADDRESSES_MAX = 100_000


class _Window(msgspec.Struct):
    """The request count of an address until `ends`."""

    ends: datetime
    requests: int = 1


class RequestRates:
    """A limit on the requests of each address per interval, which blocks addresses that exceed it (SPEC 8).

    An address's interval starts with its first request, the next interval with the first request after its end.
    Requests during a block are not counted and do not extend it; after the block, the address starts from zero. Above
    `ADDRESSES_MAX` addresses, the oldest intervals and blocks are evicted, so that memory stays bounded.
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
        """Return the state for a snapshot: end and requests of each address's interval, and the end of each block."""
        windows = [(address, window.ends, window.requests) for address, window in self._windows.items()]
        return windows, list(self._blocked.items())

    def restore(self, windows: Iterable[tuple[str, datetime, int]], blocked: Iterable[tuple[str, datetime]]) -> None:
        self._windows = OrderedDict((address, _Window(ends, requests)) for address, ends, requests in windows)
        self._blocked = OrderedDict(blocked)

    def allow(self, address: str, now: datetime) -> bool:
        """Count a request; return False when its address is blocked, by this or an earlier request."""
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
        """Return when the block of the address ends; None when it is not blocked."""
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


EXPIRED_AT_ONCE: Final = 2_000
"""The maximum number of nonces removed per request, which takes ten milliseconds; the next request continues. Many
nonces expire at once when the clock was moved, or when a scenario lowers the limit."""


class SpentNonce(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A nonce by its key, the sandbox's time at which it was spent, and its timestamp in Unix seconds."""

    key: int
    at: datetime
    timestamp_s: int


class Nonces:
    """The recently spent nonces, by scope (a reseller or an API key), bounded by time and by count.

    A nonce can be reused after the window in sandbox time, but only with a later timestamp. An entry expires only once
    its timestamp is also too old to be accepted. So no request is accepted twice, however far the sandbox's clock and
    the clock of the timestamps diverge.

    Above `count_max`, the oldest nonce is evicted: it could be replayed, but memory stays bounded. An expired nonce
    that was not removed yet refuses only requests that their timestamp refuses anyway.
    """

    def __init__(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        self._spent: dict[int, SpentNonce] = {}
        self._order: deque[SpentNonce] = deque()  # oldest first; a nonce that was spent again stays until it is first
        self._replaced: SpentNonce | None = None  # by the latest nonce, which has the same key
        self.bound(window, tolerance_s, count_max)

    def __len__(self) -> int:
        return len(self._spent)

    def __iter__(self) -> Iterator[SpentNonce]:
        """Yield all nonces, oldest first."""
        return (spent for spent in self._order if self._spent.get(spent.key) is spent)

    def bound(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        """Change the bounds from now on, keeping spent nonces."""
        self._window, self._tolerance_s, self._count_max = window, tolerance_s, count_max
        self._oldest_until = datetime.min.replace(tzinfo=UTC)

    def kept(self) -> tuple[datetime, SpentNonce | None]:
        """Return the state for a snapshot besides the nonces: the time until which no nonce expires, and the nonce that
        the latest replaced."""
        return self._oldest_until, self._replaced

    def restore(self, spent: Iterable[SpentNonce], oldest_until: datetime, replaced: SpentNonce | None) -> None:
        """Replace all nonces by the nonces of a snapshot."""
        self._order = deque(spent)
        self._spent = {one.key: one for one in self._order}
        self._oldest_until, self._replaced = oldest_until, replaced

    def is_spent(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime) -> bool:
        """Return whether `spend` would refuse this nonce."""
        spent = self._spent.get(_key(scope, nonce))
        return spent is not None and (now - spent.at < self._window or timestamp_s <= spent.timestamp_s)

    def spend(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime, signing_s: float) -> bool:
        """Check and spend atomically. Return False when `nonce` was spent in `scope` within the window, or with this
        timestamp or a later one.

        `now` is the sandbox's time, `signing_s` the Unix time with which `timestamp_s` was compared.
        """
        key = _key(scope, nonce)
        known = self._spent.get(key)
        if known is not None:
            if now - known.at < self._window or timestamp_s <= known.timestamp_s:
                return False
            del self._spent[key]
        if now >= self._oldest_until or len(self._order) >= self._count_max:
            self._expire(now, signing_s)
        self._add(SpentNonce(key, now, shared_second(timestamp_s)))
        self._replaced = known
        return True

    def take_back(self, scope: str, nonce: bytes) -> None:
        """Undo the spending of `nonce`, which must be the latest."""
        latest = self._order.pop()
        assert latest.key == _key(scope, nonce), "only the latest is taken back"
        del self._spent[latest.key]
        if self._replaced is not None:
            self._add(self._replaced)

    def _add(self, spent: SpentNonce) -> None:
        self._spent[spent.key] = spent
        self._order.append(spent)

    def _expire(self, now: datetime, signing_s: float) -> None:
        order = self._order
        for _ in range(min(len(order), EXPIRED_AT_ONCE)):
            oldest = order[0]
            if self._spent.get(oldest.key) is oldest:
                is_alive = now - oldest.at < self._window or signing_s - oldest.timestamp_s <= self._tolerance_s
                if is_alive and len(order) < self._count_max:
                    self._oldest_until = oldest.at + self._window
                    return
                del self._spent[oldest.key]
            order.popleft()


shared_second = lru_cache(maxsize=64)(int)  # one object for all nonces with the same timestamp


def _key(scope: str, nonce: bytes) -> int:
    """Return a key that practically no other nonce has. A small number saves memory."""
    text = b"%b\n%b" % (scope.encode(), nonce)  # headers contain no line breaks
    return int.from_bytes(sha256(text).digest()[:7], "big")
