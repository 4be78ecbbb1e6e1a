"""Transaction callbacks (SPEC 6.1): their contents, retries and attempts."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from simulator.domain.model.effects import Attempt, AttemptEnd, AttemptResult
from simulator.domain.model.transactions import Result, Transaction

_TEMPORARY = frozenset({408, 429})


class CallbackState(StrEnum):
    """The state of a callback."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"  # a rule suppressed it


@dataclass(frozen=True, slots=True)
class CallbackConfig:
    """Where a reseller receives callbacks; an empty `url` means none."""

    url: str = ""
    method: str = ""
    updated: datetime | None = None


@dataclass(slots=True, kw_only=True)
class Callback:
    """One notification of one status change. `copy` is 0 for the original, 1 and more for duplicates."""

    id: str
    transaction: Transaction
    result: Result
    url: str
    method: str
    copy: int = 0
    state: CallbackState = CallbackState.PENDING
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def lane(self) -> str:
        """Callbacks of one transaction keep their order."""
        return self.transaction.trxid


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to `retries` more attempts, each `after` the end of the previous one."""

    retries: int = 3
    after: timedelta = timedelta(seconds=60)


def is_retried(result: AttemptResult, *, redirects: bool = False) -> bool:
    """The retry table of SPEC 6.1: 5xx, 408, 429, connection errors, DNS failures and timeouts are retried.

    Statuses from 600 on do not count as 5xx. Redirects are not followed; SPEC does not say whether they are retried.
    """
    if result.kind is AttemptEnd.ANSWERED:
        assert result.status is not None
        is_redirect = 300 <= result.status < 400
        is_server_error = 500 <= result.status < 600
        return is_server_error or result.status in _TEMPORARY or (redirects and is_redirect)
    return result.kind is not AttemptEnd.BLOCKED


class CallbackLog:
    """The latest callbacks of a sandbox, by id and by transaction; the oldest are evicted."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._by_id: OrderedDict[str, Callback] = OrderedDict()
        self._by_trxid: dict[str, list[Callback]] = {}
        self.left_out = 0

    def __iter__(self) -> Iterator[Callback]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, callback: Callback) -> None:
        """Add a callback, evicting the oldest as needed."""
        self._by_id[callback.id] = callback
        self._by_trxid.setdefault(callback.transaction.trxid, []).append(callback)
        if len(self._by_id) > self._count_max:
            self._drop_oldest()

    def of(self, trxid: str) -> list[Callback]:
        """The callbacks of one transaction that are still in the log, in order."""
        return list(self._by_trxid.get(trxid, ()))

    def _drop_oldest(self) -> None:
        _, oldest = self._by_id.popitem(last=False)
        siblings = self._by_trxid[oldest.transaction.trxid]
        siblings.remove(oldest)
        if not siblings:
            del self._by_trxid[oldest.transaction.trxid]
        self.left_out += 1
