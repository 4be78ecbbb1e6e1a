"""Writes tapes as compressed lines: the head, the entries, the end."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from simulator.persistence.replay.codec import Numbers, entry_line, written_line
from simulator.persistence.replay.head import MarkState, TakenTape
from simulator.persistence.tape.entries import Entry, InboxCleared, InboxReceived, RequestBegan, RequestShown

_LEVEL: Final = 6
_GZIP: Final = 31
_PIECE_BYTES: Final = 64 * 1024


def packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the compressed lines, in pieces that take at most a few milliseconds each. The output is deterministic.
    Outputs can be concatenated into a single file."""
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)  # with the head and the end of gzip
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _PIECE_BYTES:
            yield packer.compress(b"".join(waiting))
            waiting, size = [], 0
    yield packer.compress(b"".join(waiting)) + packer.flush()


def tape_lines(tape: TakenTape) -> Iterator[bytes]:
    """Yield a tape line by line, with line ends, including all secrets on it."""
    yield written_line(tape.head)
    yield from entry_lines(tape.entries)
    yield written_line(replace(tape.end, outside=outside_digest(tape.entries, tape.end.marks)))


def outside_digest(entries: Iterable[Entry], marks: Iterable[MarkState]) -> str:
    """Return a digest, sixteen hexadecimal digits, of everything that a replay takes unchanged: messages to inboxes,
    requests that another program answered, and the places of marks."""
    found = sha256()
    for entry in entries:
        if isinstance(entry, InboxReceived | InboxCleared | RequestShown):
            found.update(entry_line(entry, {}))
    for mark in marks:
        found.update(written_line([mark.mark, mark.n]))
    return found.hexdigest()[:16]


def entry_lines(entries: Sequence[Entry]) -> Iterator[bytes]:
    """Yield the lines of entries, in order."""
    began: Numbers = {}
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, RequestBegan):
            began[id(entry.exchange)] = number
        yield entry_line(entry, began)
