"""Memory that expires: nonces that were spent (SPEC 3.6), and how much each address asked for lately (SPEC 8)."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

Value = TypeVar("Value")

ADDRESSES_MAX = 100_000


class Nonces:
    """The nonces spent lately, by API key, bounded by time and by count.

    A nonce may be used again when the window has passed in the sandbox's time, but only with a later timestamp than
    before. It is forgotten when that timestamp is too old to be accepted, too. So no request is accepted twice, however
    far the sandbox's clock and the one that timestamps are compared with run apart.

    When more than `count_max` are alive the oldest is forgotten: it could be replayed, but memory stays bounded.
    """

    def __init__(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        self._spent: OrderedDict[tuple[str, bytes], tuple[datetime, int]] = OrderedDict()
        self._latest: tuple[tuple[str, bytes], tuple[datetime, int] | None] | None = None
        self.bound(window, tolerance_s, count_max)

    def __len__(self) -> int:
        return len(self._spent)

    def bound(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        """Remember for as long, and as many, from now on; what is remembered stays."""
        self._window, self._tolerance_s, self._count_max = window, tolerance_s, count_max
        self._oldest_until = datetime.min.replace(tzinfo=UTC)

    def spend(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime, signing_s: float) -> bool:
        """Check and spend in one step: False when `nonce` was spent in `scope` less than the window ago, or with this
        timestamp or a later one.

        `now` is the sandbox's time, `signing_s` the Unix time that `timestamp_s` was compared with.
        """
        key = (scope, nonce)
        known = self._spent.get(key)
        if known is not None:
            spent_at, newest_s = known
            if now - spent_at < self._window or timestamp_s <= newest_s:
                return False
            del self._spent[key]  # so that the newest stand last
        self._forget(now, signing_s)
        self._spent[key] = (now, timestamp_s)
        self._latest = (key, known)
        return True

    def take_back(self, scope: str, nonce: bytes) -> None:
        """Let it be as if the latest nonce, which is this one, had not been spent."""
        assert self._latest is not None, "only what was spent is taken back"
        key, before = self._latest
        assert key == (scope, nonce), "only the latest is taken back"
        del self._spent[key]
        if before is not None:
            self._spent[key] = before

    def _forget(self, now: datetime, signing_s: float) -> None:
        spent = self._spent
        if now < self._oldest_until and len(spent) < self._count_max:
            return
        while spent:
            spent_at, timestamp_s = next(iter(spent.values()))
            is_alive = now - spent_at < self._window or signing_s - timestamp_s <= self._tolerance_s
            if is_alive and len(spent) < self._count_max:
                self._oldest_until = spent_at + self._window
                return
            spent.popitem(last=False)


@dataclass(slots=True)
class _Window:
    """The requests of one address until `ends`."""

    ends: datetime
    requests: int = 1


class RequestRates:
    """Lets so many requests of an address through in an interval, and blocks who exceeds that (SPEC 8).

    An interval begins with an address's first request and the next with the first one after its end. A request during
    a block is not counted and prolongs nothing; after a block the address begins anew. When more than `ADDRESSES_MAX`
    addresses are known the oldest intervals and blocks are forgotten, so that memory stays bounded.
    """

    def __init__(self, requests_max: int, interval: timedelta, block: timedelta) -> None:
        self._requests_max = requests_max
        self._interval = interval
        self._block = block
        # Both in the order of their ends, since all intervals and all blocks are equally long.
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._blocked: OrderedDict[str, datetime] = OrderedDict()

    def __len__(self) -> int:
        return len(self._windows) + len(self._blocked)

    def admit(self, address: str, now: datetime) -> bool:
        """Count one request; False when its address is blocked, by this very request or by one before."""
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
        """When the address may ask again; None when it may now."""
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
