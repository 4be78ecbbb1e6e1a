"""Reads tapes from their lines, as the entries that were written."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from simulator.replay import lines
from simulator.replay.head import VERSION, End, Head
from simulator.replay.written import FILE_BYTES_MAX, LINE_BYTES, NeverWritten, check_count, check_head, check_line
from simulator.runtime.journal import Exchange
from simulator.tape.entries import (
    AttemptSent,
    ClockSet,
    CommandApplied,
    Entry,
    InboxCleared,
    InboxProgrammed,
    InboxReceived,
    RequestBegan,
    RequestResumed,
    RequestShown,
)

if TYPE_CHECKING:
    _AnyLine = lines.Line
else:
    _AnyLine = reduce(or_, lines.Line.__subclasses__())


Began = dict[int, Exchange]
"""The requests that began to wait, by the places of their lines."""


class BadTape(Exception):
    """What was read is no tape, or a damaged one; the text says where and why."""


class NoTape(BadTape):
    """It is another file, or a tape of a newer version: nothing happened to it."""


class CutShort(BadTape):
    """It ends too early; `rest` is what there is of its last line."""

    def __init__(self, rest: bytes = b"") -> None:
        super().__init__("the file ends too early, within the head of a tape")
        self.rest = rest


class ChangedTape(BadTape):
    """A line says what no simulator has written, so that nothing of the file is played."""


@dataclass(slots=True)
class ReadTape:
    """One tape of a file. `end` is None when nothing could be read behind the last of the entries; `damage` says why,
    then: the file is `cut`, or its next line cannot be understood."""

    head: Head
    entries: list[Entry] = field(default_factory=list)
    end: End | None = None
    damage: str = ""
    is_cut: bool = False


class _Version(msgspec.Struct, frozen=True):
    """What tells a head from another line, and whether it can be read."""

    tape: int

    end: int | None = None


_BEGINNING = b'{"tape":'
_NO_HEAD = "{} is not the beginning of a tape, which is written by `exec --tape`"

_VERSION = msgspec.json.Decoder(_Version)
_HEAD = msgspec.json.Decoder(Head, float_hook=Decimal)
_END = msgspec.json.Decoder(End)
_LINE = msgspec.json.Decoder(_AnyLine, float_hook=Decimal)


def read_tapes(source: Iterable[bytes]) -> Iterator[ReadTape]:
    """The tapes in these lines, one after the other. Raises `BadTape` for a line that begins no tape, and `CutShort`
    for the beginning of one; what was read before a line cannot be understood, or the source ends too early, is a tape
    without an end. The source may raise both where it is damaged or ends."""
    numbered = enumerate(_within_bounds(source), 1)
    while (tape := _next_tape(numbered)) is not None:
        yield tape
        if tape.damage:
            return


def _within_bounds(source: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a source, as long as they take no more memory than there is for them."""
    taken = 0
    for number, line in enumerate(source, 1):
        taken += LINE_BYTES + len(line)
        if taken > FILE_BYTES_MAX:
            text = f"line {number}: what is read of the file would take more than {FILE_BYTES_MAX} bytes of memory"
            raise ChangedTape(f"{text}, which is the limit; write the tapes of fewer sandboxes into one file")
        yield line


def _next_tape(numbered: Iterator[tuple[int, bytes]]) -> ReadTape | None:
    try:
        first = next(numbered, None)
    except CutShort as cut:
        _refuse_another_file(cut.rest)
        raise
    if first is None:
        return None
    tape = ReadTape(_head(*first))
    began: Began = {}
    place = 0
    try:
        for number, line in numbered:
            if line.startswith(b'{"end"'):
                tape.end = _decoded(_END, number, line)
                _check_end(tape, number)
                return tape
            place += 1
            _checked(number, check_count, tape.head, place)
            entry = _entry(number, place, _decoded(_LINE, number, line), began)
            if not isinstance(entry, Answered):
                tape.entries.append(entry)
    except CutShort:
        pass
    except ChangedTape:
        raise
    except BadTape as bad:
        tape.damage = str(bad)
        return tape
    tape.is_cut = True
    tape.damage = f"the file ends too early, behind entry {len(tape.entries)} of {tape.head.entries}"
    return tape


def _refuse_another_file(rest: bytes) -> None:
    """Raise `NoTape` for the last line of a file when no tape begins so."""
    if not rest.startswith(_BEGINNING[: len(rest)]):
        raise NoTape(_NO_HEAD.format("the last line"))


def _head(number: int, line: bytes) -> Head:
    try:
        version = _VERSION.decode(line).tape
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NoTape(_NO_HEAD.format(f"line {number}")) from None
    if version > VERSION:
        text = f"line {number}: the tape has version {version}, and this reseller-sim reads up to {VERSION}"
        raise NoTape(f"{text}; replay it with a newer one")
    head: Head = _decoded(_HEAD, number, line)
    _checked(number, check_head, head)
    return head


def _checked(number: int, check: Callable[..., None], *what: Any) -> None:
    """Refuse what was never written so."""
    try:
        check(*what)
    except NeverWritten as error:
        raise ChangedTape(f"line {number}: {error}") from None


def _decoded(decoder: "msgspec.json.Decoder[Any]", number: int, line: bytes) -> Any:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadTape(_not_understood(number, error)) from None


def _not_understood(number: int, error: Exception) -> str:
    return f"line {number} cannot be understood ({error})"


def _check_end(tape: ReadTape, number: int) -> None:
    assert tape.end is not None, "it has just been read"
    if tape.end.end != len(tape.entries):
        text = f"line {number} says that there are {tape.end.end} entries before it, and {len(tape.entries)} are there"
        tape.end = None
        raise BadTape(text)


def head_from(line: bytes) -> Head:
    """The head in a line. Raises `BadTape`."""
    return _head(1, line)


class Answered(NamedTuple):
    """The record of a request that waited, which has its answer now."""

    exchange: Exchange


def entry_from(place: int, line: bytes, began: Began) -> Entry | Answered:
    """The entry in the line at a place, counted from 1, or the answer to one of those that `began` to wait. Raises
    `BadTape`."""
    return _entry(place, place, _decoded(_LINE, place, line), began)


def _entry(number: int, place: int, line: lines.Line, began: Began) -> Entry | Answered:
    _checked(number, check_line, line)
    try:
        if isinstance(line, lines.RequestLine):
            return _request(line, place, began)
        return _ENTRIES[type(line)](line, began)
    except (ValueError, LookupError, TypeError) as error:
        raise BadTape(_not_understood(number, error)) from None


def _request(line: lines.RequestLine, place: int, began: Began) -> Entry:
    one = lines.exchange_of(line)
    if line.waits:
        began[place] = one
        return RequestBegan(one)
    return RequestShown(one) if line.shown else one


def _resumed(line: lines.ResumedLine, began: Began) -> Entry:
    one = _recorded(line.request, began)
    if line.body:
        one.body = lines.bytes_of(line.body)
    return RequestResumed(one, line.now, line.wall, line.how)


def _answered(line: lines.AnsweredLine, began: Began) -> Answered:
    one = _recorded(line.request, began)
    lines.put_answer(one, line.answer)
    return Answered(one)


def _recorded(place: int, began: Began) -> Exchange:
    """The record of the request that began in the line of this number."""
    found = began.get(place)
    if found is None:
        raise ValueError(f"entry {place} is no request that waits")
    return found


def _attempt(line: lines.AttemptLine, began: Began) -> Entry:
    return AttemptSent(line.now, line.wall, line.job, line.attempt, lines.outgoing_of(line))


def _message(line: lines.InboxMessageLine, began: Began) -> Entry:
    headers, body = lines.headers_of(line.headers), lines.bytes_of(line.body)
    return InboxReceived(line.now, line.wall, line.name, line.method, line.query.encode("latin-1"), headers, body)


_ENTRIES: dict[type, Callable[[Any, Began], Entry | Answered]] = {
    lines.ResumedLine: _resumed,
    lines.AnsweredLine: _answered,
    lines.CommandLine: lambda one, _: CommandApplied(one.now, one.command, one.due),
    lines.AttemptLine: _attempt,
    lines.ClockLine: lambda one, _: ClockSet(one.now, one.mode, one.rate),
    lines.InboxMessageLine: _message,
    lines.InboxRepliesLine: lambda one, _: InboxProgrammed(one.now, one.name, one.document),
    lines.InboxClearedLine: lambda one, _: InboxCleared(one.now, one.name),
}
