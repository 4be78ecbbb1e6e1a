"""The entries of a tape: the inputs of a sandbox, each with its time.

A request is on the tape as the journal's own record, which has the request and the answer. An ordinary request is
answered within a single turn of the event loop, so its record is its only entry; the classes below are for longer
requests and for all other changes of a sandbox. `now` is the sandbox's time, `wall` the wall clock's.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from simulator.domain.commands import Command

Time = Annotated[datetime, msgspec.Meta(tz=True)]
if TYPE_CHECKING:
    AnyCommand = Command
else:
    AnyCommand = reduce(or_, Command.__subclasses__())


class Line(msgspec.Struct, frozen=True, gc=False, tag_field="entry", omit_defaults=True):
    """The base of the lines of a tape."""


class Recorded(msgspec.Struct, gc=False, kw_only=True):
    """The base of the journal's records of requests; `n` is the number in the journal, 0 before the answer."""

    n: int = 0


class Resumption(StrEnum):
    """The reason why a waiting request resumed: its delay was over, its hold was released or its body was complete; its
    body was too large; the client had left; its hold lasted too long; or too many were held."""

    READY = "ready"
    TOO_LARGE = "too_large"
    GONE = "gone"
    EXPIRED = "expired"
    FULL = "full"


class RequestBegan(msgspec.Struct, frozen=True, gc=False):
    """A request began that has to wait, for a delay or for the rest of its body."""

    exchange: Recorded


class RequestResumed(msgspec.Struct, frozen=True, gc=False):
    """A request resumed at this time, until its answer or its next wait."""

    exchange: Recorded
    now: datetime
    wall: datetime
    how: Resumption = Resumption.READY


class RequestShown(msgspec.Struct, frozen=True, gc=False):
    """A request was added to the journal that was handled elsewhere: it named another sandbox's credentials, or it
    began before a reset. It changed nothing else."""

    exchange: Recorded


Due = tuple[tuple[str, int], ...]
"""Attempts of callbacks and webhooks, each by its job and its number."""


class CommandApplied(Line, frozen=True, gc=False, tag="command"):
    """A command that is not a request of the reseller API: from the control API, the clock, or the end of an attempt.
    It may have been refused. `due` are the attempts that it made due, which begin later; `trace` has the headers of its
    trace, if any; `answer` is its answer, empty for the clock, for the end of an attempt and on older tapes."""

    now: Time
    command: AnyCommand
    due: Due = ()
    trace: tuple[tuple[str, str], ...] = ()
    answer: str = ""


class AttemptSent(msgspec.Struct, frozen=True, gc=False):
    """An attempt of a callback or webhook was sent, as this request; to an inbox it was delivered in the same turn."""

    now: datetime
    wall: datetime
    job: str
    attempt: int
    request: Any  # with the members of OutgoingRequest; its body may be rendered when it is read


class ClockSet(Line, frozen=True, gc=False, tag="clock"):
    """The clock was moved or set to another mode; `now` is its new time."""

    now: Time
    mode: str
    rate: float


class InboxReceived(msgspec.Struct, frozen=True, gc=False):
    """An inbox received a request from outside, or a probe."""

    now: datetime
    wall: datetime
    name: str
    method: str
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class InboxProgrammed(Line, frozen=True, gc=False, tag="inbox_replies"):
    """The replies of an inbox were set; the document has the form of a scenario."""

    now: Time
    name: str
    document: Mapping[str, Any]


class InboxCleared(Line, frozen=True, gc=False, tag="inbox_cleared"):
    """The messages and replies of an inbox were deleted."""

    now: Time
    name: str


Entry = (
    Recorded
    | RequestBegan
    | RequestResumed
    | RequestShown
    | CommandApplied
    | AttemptSent
    | ClockSet
    | InboxReceived
    | InboxProgrammed
    | InboxCleared
)


def plain(value: object) -> object:
    """Return a read-only mapping as a dict. Raises `NotImplementedError` for types that no command may carry."""
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise NotImplementedError(f"a command carries plain data, not {type(value).__name__}")
