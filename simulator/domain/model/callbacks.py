"""Transaction callbacks (SPEC 6.1): their contents, retries and attempts."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, AttemptResult
from simulator.domain.model.transactions import Distortion, PaymentResult, Transaction


class CallbackState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"  # a rule suppressed it


class CallbackConfig(msgspec.Struct, frozen=True):
    """The URL and settings of a reseller's callbacks; an empty `url` disables them."""

    url: str = ""
    method: str = ""
    updated: datetime | None = None


class Callback(msgspec.Struct, eq=False, gc=False, kw_only=True):  # no cycle leads through it
    """A notification of a status change, with the transaction as of that change. `copy` is 0 for the original, 1 and
    more for duplicates. `is_repeat` marks a callback that a rule sends again, even after a later status."""

    id: str
    transaction: Transaction
    result: PaymentResult
    url: str
    method: str
    copy: int = 0
    is_repeat: bool = False
    state: CallbackState = CallbackState.PENDING
    attempts: tuple[Attempt, ...] = ()

    @property
    def serial(self) -> int:
        """Return the number of the callback in its sandbox, in creation order."""
        return int(self.id.removeprefix("cb-"))

    @property
    def reseller(self) -> str:
        """Return the code of the reseller who is notified."""
        return self.transaction.kind.reseller

    @property
    def lane(self) -> str:
        """Return the queue of the callback: one per transaction, or its own when its rule sends concurrently."""
        return self.id if self.distortion.concurrent else self.transaction.trxid

    @property
    def distortion(self) -> Distortion:
        """Return how its rule distorts the callbacks of its status."""
        return self.transaction.kind.callbacks.of(self.result.kind.status)

    @property
    def size(self) -> int:
        """Return the approximate memory of the callback and its ended attempts, in bytes."""
        return _CALLBACK_BYTES + len(self.url) + sum(_size(one.result) for one in self.attempts if one.result)


# The estimated memory of a callback and of an attempt, without their texts.
_CALLBACK_BYTES = 1000
_ATTEMPT_BYTES = 500


def _size(result: AttemptResult) -> int:
    return _ATTEMPT_BYTES + 4 * (len(result.body) + len(result.error))


class RetryPolicy(msgspec.Struct, frozen=True):
    """A schedule of up to `retries` more attempts, each `after` the end of the previous attempt."""

    retries: int = 3
    after: timedelta = timedelta(seconds=60)


def is_retried(result: AttemptResult, *, redirects: bool = False) -> bool:
    """Return whether a result is retried (SPEC 6.1): 5xx, 408, 429, connection errors, DNS failures, timeouts.

    Statuses from 600 on do not count as 5xx. Redirects are not followed; SPEC does not say whether they are retried.
    """
    if result.kind is AttemptEnd.ANSWERED:
        assert result.status is not None
        is_redirect = 300 <= result.status < 400
        is_server_error = 500 <= result.status < 600
        return is_server_error or result.status in (408, 429) or (redirects and is_redirect)
    return result.kind is not AttemptEnd.BLOCKED


class CallbackLog(deque[Callback]):
    """The latest callbacks of a sandbox, in order of creation. Their numbers begin with 1 and have no gaps. The oldest
    are evicted, by count and by `size`, the approximate memory in bytes; `left_out` counts them.

    An evicted callback that is pending is still sent and retried, but its results are not stored.
    """

    def __init__(self, count_max: int, bytes_max: int) -> None:
        super().__init__()
        self._count_max, self._bytes_max = count_max, bytes_max
        self.size = self.left_out = 0

    def find(self, id_: str) -> Callback | None:
        """Return the callback with this id, if it is still in the log."""
        number = id_.removeprefix("cb-")
        place = int(number) - 1 - self.left_out if number != id_ and number.isdecimal() else -1
        return self[place] if 0 <= place < len(self) else None

    def add(self, callback: Callback) -> None:
        """Add a new callback, evicting the oldest as needed, never the newest."""
        self.append(callback)
        self._grow(_CALLBACK_BYTES + len(callback.url))

    def restore(self, callbacks: Iterable[Callback], left_out: int) -> None:
        """Replace all callbacks; `left_out` counts earlier evictions."""
        self.clear()
        self.extend(callbacks)
        self.size, self.left_out = sum(callback.size for callback in self), left_out

    def end_attempt(self, callback: Callback, attempt: Attempt, result: AttemptResult) -> None:
        """Store the result of an attempt, without the receiver's headers. May evict callbacks, like `add`."""
        if callback.serial <= self.left_out:
            attempt.result = replace(result, body="", headers=())
            return
        attempt.result = replace(result, headers=()) if result.headers else result
        self._grow(_size(result))

    def of(self, trxid: str) -> list[Callback]:
        """Return the callbacks of a transaction that are still in the log, in order."""
        return [callback for callback in self if callback.transaction.trxid == trxid]

    def _grow(self, size: int) -> None:
        self.size += size
        while len(self) > self._count_max or (self.size > self._bytes_max and len(self) > 1):
            oldest = self.popleft()
            self.size -= oldest.size
            self.left_out += 1
            for attempt in oldest.attempts:
                if attempt.result is not None:
                    attempt.result = replace(attempt.result, body="")
