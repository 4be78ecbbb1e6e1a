"""Network work that leaves the domain as a value, and what comes back of it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One HTTP request to be sent to a receiver. `url` is http(s), already encoded."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class Ending(StrEnum):
    """How an attempt ended."""

    ANSWERED = "answered"  # a status line arrived, whatever became of the rest
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # refused, reset or closed before a status line, not HTTP
    DNS = "dns"  # the name did not resolve
    BLOCKED = "blocked"  # we refuse to call this address


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one attempt. `status` is the receiver's HTTP status; `body` the start of its answer; `error` says
    what failed, or what was wrong with an answer behind its status line."""

    ending: Ending
    status: int | None = None
    body: str = ""
    error: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=())


@dataclass(slots=True)
class Attempt:
    """One try. `at` is sandbox time; `outcome` is None while it is in the air. `state` is the job's once this attempt
    had ended, whatever later ones made of it."""

    number: int
    at: datetime
    outcome: Outcome | None = None
    state: str = "pending"


class Job(Protocol):
    """What is delivered: a transaction callback or a webhook delivery. Those of one `lane` that are due together go
    out one after the other."""

    @property
    def id(self) -> str:
        """Its own, among all jobs of the sandbox."""
        ...

    @property
    def url(self) -> str:
        """Where it goes: an http(s) URL or `inbox:NAME`."""
        ...

    @property
    def lane(self) -> str:
        """What keeps its order."""
        ...


@dataclass(frozen=True, slots=True)
class Send:
    """Effect: make this attempt now and bring its outcome back."""

    job: Job
    attempt: Attempt


def is_accepted(outcome: Outcome) -> bool:
    """True for any 2xx."""
    return outcome.ending is Ending.ANSWERED and outcome.status is not None and 200 <= outcome.status < 300
