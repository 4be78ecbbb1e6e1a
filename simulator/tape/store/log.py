"""The write-ahead log of a database that was not closed: whether SQLite reads all that was written into it.

SQLite takes the first frame that does not fit for the end of the log and says nothing, so that a damaged log looks
like a short one. Here the frames that belong to the log by their salts are counted, and compared with those that SQLite
has found, and these with what was noted; see `committed`. Whether a shorter log is damage depends on what happened: a
killed process leaves every frame that it wrote, in whole or cut off at the end of the file, but the power may fail
before a frame is on the disk.
"""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from simulator.tape.store.committed import FRAME_BYTES, LOG_HEADER_BYTES, SALTS, Length
from simulator.tape.store.errors import Damaged
from simulator.tape.store.failures import RESTORE, of_reading
from simulator.tape.store.layout import DATABASE, PAGE_BYTES

_MAGIC: Final = (0x377F0682, 0x377F0683)
_HEADER: Final = struct.Struct(">IIIIII8s")  # magic, version, page size, checkpoints, two salts; its checksum
_FRAME: Final = struct.Struct(">II8s8s")  # page, pages of the database if a commit ends here, the salts, a checksum
_INDEX_FRAMES: Final = struct.Struct("=16xI")  # of the index: how many frames SQLite reads


class Unread(NamedTuple):
    """What SQLite does not read: `commits` are in the log, `frames` were committed and are missing or damaged."""

    commits: int = 0
    frames: int = 0


def has_log(folder: Path) -> bool:
    """Whether there is a log with anything in it."""
    path = _path(folder)
    return path.exists() and path.stat().st_size > 0


def unread(folder: Path, committed: Length | None, *, is_of_this_boot: bool) -> Unread:
    """What of the log is not read, if there is one. Raises `Damaged` when its beginning is.

    Nobody may have the database open.
    """
    if not has_log(folder):
        return Unread()
    salts, ends = _ends_of_commits(_path(folder))
    read = _frames_read(folder) if ends else 0
    missing = committed.missing_of(salts, read, is_of_this_boot=is_of_this_boot) if committed else 0
    return Unread(sum(number > read for number in ends), missing)


def _ends_of_commits(path: Path) -> tuple[bytes, list[int]]:
    """The salts, and the frames, counted from 1, with which commits end."""
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or not _is_header(header):
            raise Damaged(f"{path}: its beginning is damaged: {RESTORE}")
        count = (os.fstat(file.fileno()).st_size - LOG_HEADER_BYTES) // FRAME_BYTES
        places = (LOG_HEADER_BYTES + place * FRAME_BYTES for place in range(count))
        frames = [_FRAME.unpack(os.pread(file.fileno(), _FRAME.size, place)) for place in places]
    own = header[SALTS]
    return own, [number for number, (_, ends, salts, _) in enumerate(frames, 1) if ends and salts == own]


def _is_header(header: bytes) -> bool:
    magic, _, page_bytes, *_ = _HEADER.unpack(header)
    return magic in _MAGIC and page_bytes == PAGE_BYTES and _checksum(header[:24], magic) == header[24:]


def _checksum(content: bytes, magic: int) -> bytes:
    """SQLite's, of a header: its words are in the byte order that the magic number says, the sum is big-endian."""
    words = struct.unpack(f"{'>' if magic & 1 else '<'}{len(content) // 4}I", content)
    first = second = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)


def _frames_read(folder: Path) -> int:
    """How many frames SQLite reads, by the index that it makes of them. Changes nothing."""
    path = folder / DATABASE
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            descriptor = os.open(f"{path}-shm", os.O_RDONLY)
            index = os.pread(descriptor, _INDEX_FRAMES.size, 0)
    except sqlite3.Error as error:
        raise of_reading(error, path) from None
    os.close(descriptor)  # only now: this takes away the locks that SQLite had on it
    frames: int = _INDEX_FRAMES.unpack(index)[0]
    return frames


def _path(folder: Path) -> Path:
    return folder / f"{DATABASE}-wal"
