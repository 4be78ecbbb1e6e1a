"""Reads tapes from their lines, as the entries that were written."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import msgspec

from simulator.domain.commands import EndAttempt, PassTime, RecordTime
from simulator.persistence.replay import entry_codec, lines
from simulator.persistence.replay.bounds import OutOfBounds, Room, TooLarge, check_end, check_head, check_line
from simulator.persistence.replay.entry_codec import Answered
from simulator.persistence.replay.head import VERSION, End, Head
from simulator.persistence.tape.entries import Entry

if TYPE_CHECKING:
    _AnyLine = lines.Line
else:
    _AnyLine = reduce(or_, lines.Line.__subclasses__())


Began = entry_codec.Began


class BadTape(Exception):
    """What was read is no tape, or a damaged one; the text says where and why."""


class NoTape(BadTape):
    """It is another file, or a tape of a newer version: nothing happened to it."""


class CutShort(BadTape):
    """It ends too early, `where` the text says; `rest` is what there is of its last line."""

    def __init__(self, rest: bytes = b"", where: str = "within the head of a tape") -> None:
        super().__init__(f"the file ends too early, {where}")
        self.rest = rest


class ChangedTape(BadTape):
    """A line says what no sandbox has, so that nothing of the file is played."""


class TooLargeFile(ChangedTape):
    """What is in the file would take too much, so that nothing of it is played."""


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


class _Scenario(msgspec.Struct, frozen=True):
    """The text of a head's scenario."""

    scenario: msgspec.Raw


_BEGINNING = b'{"tape":'
_NO_HEAD = "{} is not the beginning of a tape, which is written by `exec --tape`"

_VERSION = msgspec.json.Decoder(_Version)
_SCENARIO = msgspec.json.Decoder(_Scenario)
_HEAD = msgspec.json.Decoder(Head, float_hook=Decimal)
_END = msgspec.json.Decoder(End)
_LINE = msgspec.json.Decoder(_AnyLine, float_hook=Decimal)


def read_tapes(source: Iterable[bytes]) -> Iterator[ReadTape]:
    """The tapes in these lines, one after the other. Raises `BadTape` for a line that begins no tape, and `CutShort`
    for the beginning of one; what was read before a line cannot be understood, or the source ends too early, is a tape
    without an end. The source may raise both where it is damaged or ends."""
    room = Room()
    numbered = _within_bounds(source, room)
    heads = _Heads(room)
    before: ReadTape | None = None
    while (tape := _next_tape(numbered, heads, room, before)) is not None:
        yield tape
        if tape.damage:
            return
        before = tape


def _within_bounds(source: Iterable[bytes], room: Room) -> Iterator[tuple[int, bytes]]:
    """The lines of a source with their numbers, as long as there is room for what they become."""
    for number, line in enumerate(source, 1):
        try:
            room.take(line)
        except TooLarge as error:
            raise TooLargeFile(f"line {number}: {error}") from None
        yield number, line


class _Heads:
    """Those of one file. The lives of a run mostly began with one scenario, which they share then."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._text = b""
        self._scenario: Mapping[str, Any] = {}

    def read(self, number: int, line: bytes) -> Head:
        """Raises `BadTape`."""
        head = _head(number, line)
        try:
            self._room.take_life()
        except TooLarge as error:
            raise TooLargeFile(f"line {number}: {error}") from None
        text = bytes(_SCENARIO.decode(line).scenario)
        if text == self._text:
            self._room.shrink()
            return msgspec.structs.replace(head, scenario=self._scenario)
        self._text, self._scenario = text, head.scenario
        return head


def _next_tape(
    numbered: Iterator[tuple[int, bytes]], heads: _Heads, room: Room, before: ReadTape | None
) -> ReadTape | None:
    try:
        first = next(numbered, None)
    except CutShort as cut:
        _refuse_another_file(cut.rest)
        if before is not None and not cut.rest:
            where = f"behind the last line of the tape of {before.head.sandbox}, within its checksum or the next tape"
            raise CutShort(where=where) from None
        raise
    if first is None:
        return None
    tape = ReadTape(heads.read(*first))
    began: Began = {}
    place = 0
    try:
        for number, line in numbered:
            if line.startswith(b'{"end"'):
                tape.end = _decoded(_END, number, line)
                _check_end(tape, number)
                return tape
            place += 1
            if place > tape.head.entries:
                text = f"this is entry {place}, and the head of the tape counts {tape.head.entries}"
                raise ChangedTape(f"line {number}: {text}")
            decoded = _decoded(_LINE, number, line)
            entry = _entry(number, place, decoded, began)
            if not isinstance(entry, Answered):
                tape.entries.append(entry)
            if _is_flat(decoded):
                room.shrink()
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
    if version < 1:
        raise ChangedTape(f"line {number}: the tape has version {version}, which never was")
    head: Head = _decoded(_HEAD, number, line)
    _checked(number, check_head, head)
    return head


def _checked(number: int, check: Callable[..., None], *what: Any) -> None:
    try:
        check(*what)
    except OutOfBounds as error:
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
    _checked(number, check_end, tape.end)


def _is_flat(line: lines.Line) -> bool:
    """Whether an entry has no objects whose members anybody chose."""
    if isinstance(line, lines.CommandLine):
        return isinstance(line.command, PassTime | RecordTime | EndAttempt)
    return not isinstance(line, lines.InboxRepliesLine)


def head_from(line: bytes) -> Head:
    """The head in a line. Raises `BadTape`."""
    return _head(1, line)


def entry_from(place: int, line: bytes, began: Began) -> Entry | Answered:
    """The entry in the line at a place, counted from 1, or the answer to one of those that `began` to wait. Raises
    `BadTape`."""
    return _entry(place, place, _decoded(_LINE, place, line), began)


def _entry(number: int, place: int, line: lines.Line, began: Began) -> Entry | Answered:
    _checked(number, check_line, line)
    try:
        return entry_codec.entry_of(line, place, began)
    except (ValueError, LookupError, TypeError) as error:
        raise BadTape(_not_understood(number, error)) from None
