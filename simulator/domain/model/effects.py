"""Network work that leaves the domain as a value, and the result of each attempt."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import msgspec


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """One HTTP request to a receiver. `url` is http(s), already encoded."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class AttemptEnd(StrEnum):
    """How an attempt ended, which the control API calls its `ending`."""

    ANSWERED = "answered"  # a status line arrived, even if the rest failed
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # refused, reset or closed before a status line, not HTTP
    DNS = "dns"  # the name did not resolve
    BLOCKED = "blocked"  # the policy forbids this address
    INTERRUPTED = "interrupted"  # the simulator ended meanwhile; the attempt is made again, and counts for no limit


class AttemptResult(msgspec.Struct, frozen=True, gc=False):
    """The result of one attempt. `status` is the receiver's HTTP status; `body` the start of its answer; `error` says
    what failed, or what was wrong with the answer after its status line."""

    kind: AttemptEnd
    status: int | None = None
    body: str = ""
    error: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Attempt(msgspec.Struct, gc=False):
    """One attempt. `at` is sandbox time; `result` is None while it is in flight. `state` is the job's when this
    attempt had ended, independent of later ones."""

    number: int
    at: datetime
    result: AttemptResult | None = None
    state: str = "pending"


class Job(Protocol):
    """What is delivered: a transaction callback or a webhook delivery. Jobs of one `lane` that are due together are
    sent sequentially."""

    @property
    def id(self) -> str:
        """Unique among all jobs of the sandbox."""
        ...

    @property
    def url(self) -> str:
        """The target: an http(s) URL or `inbox:NAME`."""
        ...

    @property
    def lane(self) -> str:
        """Jobs of one lane keep their order."""
        ...


class Send(msgspec.Struct, frozen=True):
    """Effect: make this attempt now and report its result."""

    job: Job
    attempt: Attempt


def counted(attempts: Iterable[Attempt]) -> int:
    """How many attempts count for the limit of retries."""
    return sum(one.result is None or one.result.kind is not AttemptEnd.INTERRUPTED for one in attempts)


def is_accepted(result: AttemptResult) -> bool:
    """True for any 2xx."""
    return result.kind is AttemptEnd.ANSWERED and result.status is not None and 200 <= result.status < 300


class JobCounts(msgspec.Struct):
    """Jobs that began, the `attempts` that have ended, and the jobs that ended by how they did."""

    begun: int = 0
    attempts: int = 0
    delivered: int = 0
    failed: int = 0

    @property
    def pending(self) -> int:
        """Jobs that have not ended."""
        return self.begun - self.delivered - self.failed

    def count_attempt(self, *, delivered: bool, failed: bool) -> None:
        """Count an attempt that ended, and its job if that ended with it."""
        self.attempts += 1
        self.delivered += delivered
        self.failed += failed
