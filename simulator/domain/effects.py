"""Network work that leaves the domain as a value, and what comes back of it."""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One HTTP request to be sent to a receiver. `url` is http(s), already encoded."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class Ending(StrEnum):
    """How an attempt ended."""

    ANSWERED = "answered"  # a status line arrived
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # refused, reset, closed in mid-answer, not HTTP
    DNS = "dns"  # the name did not resolve
    BLOCKED = "blocked"  # we refuse to call this address


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one attempt. `status` is the receiver's HTTP status; `body` the start of its answer."""

    ending: Ending
    status: int | None = None
    body: str = ""
    error: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=())
