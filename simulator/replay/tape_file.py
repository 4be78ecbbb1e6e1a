"""Files of tapes: compressed lines, one tape behind the other."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from simulator.replay.reading import BadTape, ReadTape, read_tapes

LINE_BYTES_MAX = 128 * 1024 * 1024
"""Of what is in a file before it was compressed; `replay/written` bounds the whole file."""

_MAGIC = b"\x1f\x8b"
_LEVEL = 6
_PIECE_BYTES = 64 * 1024


def packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines compressed, piece by piece: each takes at most a few milliseconds. The same lines make the same bytes. What
    is joined of several is one file of all of them."""
    packer = zlib.compressobj(_LEVEL, wbits=31)  # with the head and the end of gzip
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
    """The tapes of a file, compressed or not. Raises `OSError` when it cannot be read, `BadTape` when it is none."""
    with path.open("rb") as file:
        is_packed = file.read(len(_MAGIC)) == _MAGIC
    with gzip.open(path) if is_packed else path.open("rb") as source:
        yield from read_tapes(_lines(source))


def _lines(source: "IO[bytes] | gzip.GzipFile") -> Iterator[bytes]:
    while True:
        try:
            line = source.readline(LINE_BYTES_MAX)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadTape(f"the compressed file is damaged or ends too early: {error}") from None
        if not line:
            return
        if not line.endswith(b"\n"):
            raise BadTape("the last line is not whole")
        yield line
