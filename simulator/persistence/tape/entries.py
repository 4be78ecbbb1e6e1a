"""What a tape is made of: the inputs of a sandbox, each with the time at which it came.

A request is on the tape as the journal's own record of it, which has what came and what was answered. An ordinary
request is answered within one turn of the event loop, so its record alone is its entry; the entries below are of what
takes longer, and of everything else that changes a sandbox. `now` is the sandbox's time, `wall` the wall clock's.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from simulator.domain.commands import Command
from simulator.domain.model.effects import Outgoing

Time = Annotated[datetime, msgspec.Meta(tz=True)]
if TYPE_CHECKING:
    AnyCommand = Command
else:
    AnyCommand = reduce(or_, Command.__subclasses__())


class Line(msgspec.Struct, frozen=True, gc=False, tag_field="entry", omit_defaults=True):
    """The base of what is written as a line of a tape."""


class Recorded(msgspec.Struct, gc=False, kw_only=True):
    """The base of what the journal records of a request; `n` is its number there, 0 before it is answered."""

    n: int = 0


class Resumption(StrEnum):
    """Why a request that waited went on: its delay was over, its hold released or its body complete; its body was over
    its bound; the client had left; its hold lasted too long; or too many were held for it to wait."""

    READY = "ready"
    TOO_LARGE = "too_large"
    GONE = "gone"
    EXPIRED = "expired"
    FULL = "full"


class RequestBegan(msgspec.Struct, frozen=True, gc=False):
    """A request that has to wait, for a delay or for the rest of its body, began."""

    exchange: Recorded


class RequestResumed(msgspec.Struct, frozen=True, gc=False):
    """It went on at this time, until its answer or until it waited again."""

    exchange: Recorded
    now: datetime
    wall: datetime
    how: Resumption = Resumption.READY


class RequestShown(msgspec.Struct, frozen=True, gc=False):
    """A request was written into the journal that was handled elsewhere: it named another sandbox's credentials, or it
    began before a reset. It changed nothing else."""

    exchange: Recorded


Due = tuple[tuple[str, int], ...]
"""Attempts of callbacks and webhooks, each by its job and its number."""


class CommandApplied(Line, frozen=True, gc=False, tag="command"):
    """A command came from anywhere but a request of the reseller API: the control API, the clock, the end of an
    attempt. It may have been refused. `due` are the attempts that it made due, which are begun later; `trace` are the
    headers that say which trace it belongs to, if it does; `answer` says what it answered, empty of the clock, of the
    end of an attempt and on older tapes."""

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
    request: Outgoing


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
    """Somebody set the replies of an inbox, as a scenario writes them."""

    now: Time
    name: str
    document: Mapping[str, Any]


class InboxCleared(Line, frozen=True, gc=False, tag="inbox_cleared"):
    """Somebody deleted the messages and replies of an inbox."""

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
    """A read-only mapping as a dict. Raises `NotImplementedError` for what no command may carry."""
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise NotImplementedError(f"a command carries plain data, not {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER = msgspec.json.Decoder(AnyCommand, float_hook=Decimal)


def write(command: Command) -> bytes:
    """Encode a command as one line of JSON, without a line end."""
    return _ENCODER.encode(command)


def read(line: bytes) -> Command:
    """Decode a command. Raises `msgspec.ValidationError` for invalid input."""
    return _DECODER.decode(line)
