"""Files of tapes: compressed lines, one tape behind the other."""

import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Final

import msgspec

from simulator.persistence.replay.reading import BadTape, CutShort, ReadTape, read_tapes

LINE_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of what is in a file before it was compressed; `bounds` limits the whole file."""

_MAGIC: Final = b"\x1f\x8b"
_LEVEL: Final = 6
_GZIP: Final = 31
_PIECE_BYTES: Final = 64 * 1024
_UNPACKED_BYTES: Final = 1024 * 1024


def packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines compressed, piece by piece: each takes at most a few milliseconds. The same lines make the same bytes. What
    is joined of several is one file of all of them."""
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


def read_file(path: Path) -> Iterator[ReadTape]:
    """The tapes of a file, compressed or not. Raises `OSError` when it cannot be read, and what `read_tapes` raises."""
    with path.open("rb") as source:
        yield from read_tapes(_lines(source))


def _lines(source: IO[bytes]) -> Iterator[bytes]:
    """The lines, each with its line end, as far as the file goes. Raises `CutShort` where it ends too early."""
    begun: list[bytes] = []  # of a line whose end has not come
    size = 0
    try:
        for piece in _pieces(source):
            *whole, rest = piece.split(b"\n")
            for line in whole:
                yield b"".join((*begun, line, b"\n"))
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > LINE_BYTES_MAX:
                raise BadTape(f"a line has more than {LINE_BYTES_MAX} bytes, which is the limit")
    except CutShort:
        raise CutShort(b"".join(begun)) from None
    if size:
        yield _last_line(b"".join(begun))


def _last_line(rest: bytes) -> bytes:
    """A line whose end is missing alone, as editors leave it. Raises `CutShort` for a part of one."""
    try:
        msgspec.json.decode(rest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise CutShort(rest) from None
    return rest + b"\n"


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    """What is in the file, unpacked when it is packed. Of one that was cut, all that is there."""
    more = partial(source.read, _PIECE_BYTES)
    raw = more()
    if not raw.startswith(_MAGIC[: len(raw)]):
        yield raw
        yield from iter(more, b"")
        return
    unpacker = None
    while raw := raw or more():
        unpacker = unpacker or zlib.decompressobj(_GZIP)
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
