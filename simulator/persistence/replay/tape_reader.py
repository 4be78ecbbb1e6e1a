"""Reads files of tapes: compressed lines, a tape after the other, as the original entries."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from simulator.domain.model.instants import EARLIEST, LATEST
from simulator.persistence.replay.codec import AnsweredRequest, BadTape, Began, entry_from
from simulator.persistence.replay.tape_writer import GZIP, VERSION, End, Head
from simulator.persistence.tape.entries import Entry
from simulator.persistence.tape.tape import TAPES_BYTES_MAX
from simulator.runtime.sandboxes import is_sandbox_id

ENTRY_BYTES: Final = 500
"""The overhead of an entry besides its text; each of its headers takes `HEADER_BYTES` more."""
HEADER_BYTES: Final = 80
LIFE_BYTES: Final = 4_000
"""The overhead of a life besides its scenario."""

DOCUMENT_FACTOR: Final = 40
"""The largest ratio between the memory of a document, such as a scenario, and its text; a list of empty lists reaches
it."""

_WITHOUT_DOCUMENT: Final = re.compile(
    rb'\{"entry":"(?:request|resumed|answered|attempt|clock|inbox_message|inbox_cleared'
    rb'|command","now":"[^"]*","command":\{"command":"(?:PassTime|RecordTime|EndAttempt))"'
)
_MAGIC: Final = b"\x1f\x8b"
_STARTS: Final = b'{"tape":', b'{"entry":', b'{"end":'  # of all lines of a tape
PIECE_BYTES: Final = 64 * 1024
_UNPACKED_BYTES: Final = 1024 * 1024


class NoTape(BadTape):
    """The file is no tape, or a tape of a newer version; it is not damaged."""


class CutShort(BadTape):
    """The file ends too early."""

    def __init__(self) -> None:
        super().__init__("the file ends too early, within the head of a tape or the checksum before it")


class TooLargeFile(BadTape):
    """The file would take too much memory, so nothing of it is played."""


@dataclass(slots=True)
class ReadTape:
    """A tape of a file. `end` is None when nothing could be read after the last entry; then `damage` says why: the file
    is `cut`, or its next line cannot be parsed."""

    head: Head
    entries: list[Entry] = field(default_factory=list)
    end: End | None = None
    damage: str = ""
    is_cut: bool = False


class _Version(msgspec.Struct, frozen=True):
    """The version of a head, which distinguishes it from other lines and shows whether it can be read."""

    tape: int


_VERSION = msgspec.json.Decoder(_Version)
_HEAD = msgspec.json.Decoder(Head, float_hook=Decimal)
_END = msgspec.json.Decoder(End)
_DAMAGES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_file(path: Path) -> Iterator[ReadTape]:
    """Yield the tapes of a file, compressed or not. Raises `OSError` when it cannot be read, and the same as
    `read_tapes`."""
    with path.open("rb") as source:
        yield from read_tapes(lines_of(source))


def read_tapes(source: Iterable[bytes], bytes_max: int = TAPES_BYTES_MAX) -> Iterator[ReadTape]:
    """Yield the tapes in these lines, in order, with at most `bytes_max` of memory. Raises `BadTape` for a line that
    begins no tape, and `CutShort` for an incomplete first line. A tape that ends at an invalid line, or at a premature
    end of the source, has no end. The source may raise both errors where it is damaged or ends."""
    numbered = enumerate(source, 1)
    reader = _Reader(numbered, bytes_max)
    for first in numbered:
        tape = ReadTape(reader.head(*first))
        try:
            reader.read_entries(tape)
        except CutShort:
            tape.is_cut = True
            tape.damage = f"the file ends too early, after entry {len(tape.entries)} of {tape.head.entries}"
        except TooLargeFile:
            raise
        except BadTape as bad:
            tape.damage = str(bad)
        yield tape
        if tape.damage:
            return


class _Reader:
    """Reads a file. The lives of a run usually share a scenario, which is then stored once."""

    def __init__(self, numbered: Iterator[tuple[int, bytes]], bytes_max: int) -> None:
        self._numbered = numbered
        self._bytes_max = bytes_max
        self._scenario: Mapping[str, Any] = {}
        self._bytes = 0

    def read_entries(self, tape: ReadTape) -> None:
        """Add entries to a tape up to its end. Raises `BadTape`."""
        began: Began = {}
        for place, (number, line) in enumerate(self._numbered, 1):
            if line.startswith(_STARTS[-1]):
                end = _decoded(_END, number, line)
                if problem := _problem_of(end, len(tape.entries)):
                    raise BadTape(f"line {number}{problem}")
                tape.end = end
                return
            if place > tape.head.entries:
                text = f"this is entry {place}, and the head of the tape counts {tape.head.entries}"
                raise BadTape(f"line {number}: {text}")
            self._count(number, _size_of(line))
            entry = entry_from(place, line, began, number)
            if not isinstance(entry, AnsweredRequest):
                tape.entries.append(entry)
        raise CutShort

    def head(self, number: int, line: bytes) -> Head:
        """Return the head in a line. Raises `BadTape`."""
        self._count(number, LIFE_BYTES + len(line) * DOCUMENT_FACTOR)
        head = head_from(line, number)
        if head.scenario == self._scenario:
            self._bytes -= len(line) * DOCUMENT_FACTOR
            head = msgspec.structs.replace(head, scenario=self._scenario)
        self._scenario = head.scenario
        return head

    def _count(self, number: int, size: int) -> None:
        """Count memory. Raises `TooLargeFile`."""
        self._bytes += size
        if self._bytes > self._bytes_max:
            raise TooLargeFile(
                f"line {number}: what is read of the file would take more than {self._bytes_max} bytes of memory, which"
                " is the limit; write the tapes of fewer sandboxes into one file"
            )


def _problem_of(end: End, entries: int) -> str:
    """Return why this cannot be the end of a tape with this number of entries; empty if it can."""
    if end.end != entries:
        return f" says that there are {end.end} entries before it, and {entries} are there"
    if end.now is not None and not EARLIEST <= end.now <= LATEST:
        return f": now is not from {EARLIEST.year} to {LATEST.year}"
    wrong = (f": mark {mark.mark!r} is after entry {mark.n} of {entries}" for mark in end.marks if mark.n > entries)
    return next(wrong, "")


def _size_of(line: bytes) -> int:
    """Return the approximate memory of an entry."""
    if _WITHOUT_DOCUMENT.match(line):
        return ENTRY_BYTES + len(line) + HEADER_BYTES * line.count(b"[")
    return ENTRY_BYTES + len(line) * DOCUMENT_FACTOR


def head_from(line: bytes, number: int = 1) -> Head:
    """Return the head in a line. Raises `BadTape`."""
    try:
        version = _VERSION.decode(line).tape
    except _DAMAGES:
        text = f"line {number} is not the beginning of a tape, which is written by `exec --tape`"
        raise NoTape(text) from None
    if version > VERSION:
        text = f"line {number}: the tape has version {version}, and this reseller-sim reads up to {VERSION}"
        raise NoTape(f"{text}; replay it with a newer one")
    head: Head = _decoded(_HEAD, number, line)
    if not is_sandbox_id(head.sandbox):
        raise BadTape(f"line {number}: sandbox: {head.sandbox[:80]!r} is the id of no sandbox")
    return head


def _decoded(decoder: msgspec.json.Decoder[Any], number: int, line: bytes) -> Any:
    try:
        return decoder.decode(line)
    except _DAMAGES as error:
        raise BadTape(f"line {number} cannot be understood ({error})") from None


def lines_of(source: IO[bytes], bytes_max: int = TAPES_BYTES_MAX) -> Iterator[bytes]:
    """Yield the lines of at most `bytes_max` bytes with their line ends, as far as the file goes. Raises `CutShort`
    where it ends too early."""
    begun: list[bytes] = []  # of an incomplete line
    size = 0
    try:
        for piece in _pieces(source):
            *whole, rest = piece.split(b"\n")
            for line in whole:
                yield b"".join((*begun, line, b"\n"))
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > bytes_max:
                raise BadTape(f"a line has more than {bytes_max} bytes, which is the limit")
        msgspec.json.decode(b"".join(begun) or b"0")  # of a last line only the line end may be missing
    except (CutShort, *_DAMAGES):
        if any(start.startswith(b"".join(begun)[: len(start)]) for start in _STARTS):
            raise CutShort from None
    if size:
        yield b"".join((*begun, b"\n"))


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of the file, decompressed if needed; for a truncated file, as much as possible."""
    more = partial(source.read, PIECE_BYTES)
    raw = more()
    if not raw.startswith(_MAGIC[: len(raw)]):
        yield raw
        yield from iter(more, b"")
        return
    unpacker = None
    while raw := raw or more():
        unpacker = unpacker or zlib.decompressobj(GZIP)
        try:
            yield unpacker.decompress(raw, _UNPACKED_BYTES)
        except zlib.error as error:
            raise BadTape(f"what follows is no compressed data ({error})") from None
        raw = unpacker.unconsumed_tail
        if unpacker.eof:
            raw, unpacker = unpacker.unused_data.lstrip(b"\0"), None
    if unpacker is not None:
        yield unpacker.flush()
        if not unpacker.eof:
            raise CutShort
