"""Network work that leaves the domain as a value, and the result of each attempt."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import msgspec


class OutgoingRequest(msgspec.Struct, frozen=True, gc=False):
    """One HTTP request to a receiver. `url` is http(s), already encoded. Without `verifies`, any certificate is
    accepted."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    verifies: bool = True


class AttemptEnd(StrEnum):
    """The ending of an attempt, which the control API calls `ending`."""

    ANSWERED = "answered"  # a status line arrived, even if the rest failed
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # refused, reset or closed before a status line, not HTTP
    DNS = "dns"  # the name did not resolve
    BLOCKED = "blocked"  # the policy forbids this address
    INTERRUPTED = "interrupted"  # the simulator ended meanwhile; retried, without counting for a limit


class AttemptResult(msgspec.Struct, frozen=True, gc=False):
    """The result of an attempt. `status` is the receiver's HTTP status, None without an answer; `body` the start of its
    answer; `error` describes the failure, or an error in the answer after its status line."""

    kind: AttemptEnd
    status: int | None = None
    body: str = ""
    error: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Attempt(msgspec.Struct, gc=False):
    """An attempt. `at` is sandbox time; `result` is None while it is in flight. `state` is the job's at the end of this
    attempt, independent of later attempts."""

    number: int
    at: datetime
    result: AttemptResult | None = None
    state: str = "pending"


class Job(Protocol):
    """A delivery job: a transaction callback or a webhook delivery. `id` is unique within the sandbox, `url` is an
    http(s) URL or `inbox:NAME`. Jobs that share a `lane` and are due together are sent sequentially, in order."""

    id: str
    url: str

    @property
    def reseller(self) -> str:
        """Return the code of the reseller who is notified."""

    @property
    def lane(self) -> str:
        """Return the lane of the job."""


class Send(msgspec.Struct, frozen=True):
    """An effect: make this attempt now and report its result."""

    job: Job
    attempt: Attempt


def counted(attempts: Iterable[Attempt]) -> int:
    """Return how many attempts count for the limit of retries."""
    return sum(attempt.result is None or attempt.result.kind is not AttemptEnd.INTERRUPTED for attempt in attempts)


def is_accepted(result: AttemptResult) -> bool:
    """Return whether the result is any 2xx."""
    return result.status is not None and 200 <= result.status < 300


class JobCounts(msgspec.Struct):
    """The number of jobs begun, of ended `attempts`, and of ended jobs by ending."""

    begun: int = 0
    attempts: int = 0
    delivered: int = 0
    failed: int = 0

    @property
    def pending(self) -> int:
        """Return the number of jobs that have not ended."""
        return self.begun - self.delivered - self.failed
