"""The request rate of each address (SPEC 8)."""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

Value = TypeVar("Value")

ADDRESSES_MAX = 100_000


class _Window(msgspec.Struct):
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
