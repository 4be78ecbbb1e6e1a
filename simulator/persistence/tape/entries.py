"""The entries of a tape: the inputs of a sandbox, each with its time; and `EntryList`, which packs older entries.

A request is on the tape as its record in the journal, with the request and the answer. An ordinary request is
answered within a single turn of the event loop, so its record is its only entry; the classes below are for longer
requests and for all other changes of a sandbox. `now` is the sandbox's time, `wall` the wall clock's.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import reduce
from itertools import chain, islice
from operator import or_
from types import MappingProxyType
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import astuple

from simulator.domain.commands import Command, EndAttempt, PassTime

Time = Annotated[datetime, msgspec.Meta(tz=True)]
AnyCommand: Any = reduce(or_, Command.__subclasses__())


class Line(msgspec.Struct, frozen=True, gc=False, tag_field="entry", omit_defaults=True):
    """The base of the lines of a tape."""


class RequestRecord(msgspec.Struct, gc=False, kw_only=True):
    """The base of the journal's records of requests; `n` is the number in the journal, 0 before the answer."""

    n: int = 0


class Resumption(StrEnum):
    """The reason why a waiting request resumed: its delay was over, its hold was released or its body was complete
    (`READY`); its body was too large; the client had left; its hold lasted too long; or too many were held."""

    READY = "ready"
    TOO_LARGE = "too_large"
    GONE = "gone"
    EXPIRED = "expired"
    FULL = "full"


class RequestBegan(msgspec.Struct, frozen=True, gc=False):
    """A request began, and waits for a delay or for the rest of its body; `exchange` is its record."""

    exchange: Any


class RequestResumed(msgspec.Struct, frozen=True, gc=False):
    """A request resumed at `now`; it runs until its answer or its next wait."""

    exchange: Any
    now: datetime
    wall: datetime
    how: Resumption = Resumption.READY


class RequestShown(msgspec.Struct, frozen=True, gc=False):
    """The journal got a request that this tape cannot replay: another sandbox, whose credentials it had, executed
    it, or it began before a reset. Nothing else changed here."""

    exchange: Any


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
    """An attempt of a callback or webhook was sent, as this request. An inbox has received it in the same turn."""

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
    RequestRecord
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


RUN: Final = 256
"""The number of entries that are packed together."""

Run = tuple[bytes, tuple[Any, ...]]
"""Packed entries: a row for each, with its times and small members, in MessagePack; and the objects of all rows, which
the journal or the state holds anyway. An entry that cannot be packed is an object, and its row is None."""


class EntryList:
    """Entries in order. Add to `latest`, and `pack` when it has `RUN` entries. Copies share packed runs."""

    def __init__(self, entries: Iterable[Entry] = (), runs: Iterable[Run] = ()) -> None:
        self.latest = list(entries)
        self._runs = list(runs)

    def pack(self) -> None:
        """Pack the oldest unpacked entries."""
        self._runs.append(_packed(self.latest[:RUN]))
        del self.latest[:RUN]

    def __len__(self) -> int:
        return RUN * len(self._runs) + len(self.latest)

    def __iter__(self) -> Iterator[Entry]:
        return chain(chain.from_iterable(map(_unpacked, self._runs)), self.latest)

    def __getitem__(self, part: slice) -> "EntryList":
        start, stop, _ = part.indices(len(self))
        shared = [] if start else self._runs[: stop // RUN]
        first, stop = len(shared) or min(start // RUN, len(self._runs)), max(start, stop)
        rest = chain(chain.from_iterable(map(_unpacked, self._runs[first:])), self.latest)
        return EntryList(islice(rest, max(0, start - first * RUN), stop - first * RUN), shared)

    @property
    def objects(self) -> Iterator[Any]:
        """Yield everything that the list refers to, without unpacking it."""
        return chain(chain.from_iterable(objects for _, objects in self._runs), self.latest)


def _packed(entries: Iterable[Entry]) -> Run:
    rows, objects = zip(*map(_parts, entries), strict=True)
    return msgspec.msgpack.encode(rows), tuple(chain.from_iterable(objects))


def _parts(entry: Any) -> tuple[tuple[Any, ...] | None, tuple[Any, ...]]:
    """Return the row of an entry, and its objects. Only times in UTC are packed: MessagePack keeps no other zone."""
    kind, now = type(entry), getattr(entry, "now", None)
    if kind is RequestBegan:
        return (), (entry.exchange,)
    if now is None or now.tzinfo is not UTC:
        return None, (entry,)
    if kind is RequestResumed:
        return (now, None if entry.wall == now else entry.wall, entry.how), (entry.exchange,)
    if kind is AttemptSent:
        row = now, None if entry.wall == now else entry.wall, entry.job, entry.attempt
        return row, (type(entry.request), *astuple(entry.request))
    command = getattr(entry, "command", None)
    if type(command) is EndAttempt:
        return (now, command.job, command.attempt), (command.result,)
    return ((now, command.events_max, entry.due), ()) if type(command) is PassTime else (None, (entry,))


def _unpacked(run: Run) -> Iterator[Entry]:
    rows, objects = msgspec.msgpack.decode(run[0]), iter(run[1])
    for row in rows:
        match row:
            case None:
                yield next(objects)
            case []:
                yield RequestBegan(next(objects))
            case [now, wall, str() as how]:
                yield RequestResumed(next(objects), now, wall or now, Resumption(how))
            case [now, events_max, list() as due]:
                yield CommandApplied(now, PassTime(events_max), tuple(map(tuple, due)))
            case [now, job, attempt]:
                yield CommandApplied(now, EndAttempt(job, attempt, next(objects)))
            case [now, wall, job, attempt]:
                request = next(objects)
                members = islice(objects, len(request.__struct_fields__))
                yield AttemptSent(now, wall or now, job, attempt, request(*members))
