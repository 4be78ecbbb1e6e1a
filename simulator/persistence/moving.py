"""One sandbox as a file of its own, and back, into this folder or another.

The file begins with `MAGIC`. Frames follow: a letter, the length of the content as four bytes, the content, and its
CRC32. `H` has the life, the floor, the bytes before it, the length of the name, the name and the head; `E` an entry:
number, time, data; `M` a mark: place, the length of the name, the name, its note; `S` begins a snapshot: place and
bytes before it; `P` is a part of it: the length of the name, the name, data; `K` the name of a part that is as in the
snapshot before; `C` ends it; `Z` ends the file, with the number of frames before. Numbers are big-endian.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from simulator.persistence.errors import Damaged, SandboxExists
from simulator.persistence.layout import BLOB_BYTES_MAX, NAME_CHARACTERS_MAX
from simulator.persistence.lives import Life
from simulator.persistence.reading import Reading
from simulator.persistence.store import Store
from simulator.persistence.writing import SnapshotWriter

MAGIC: Final = b"reseller-sim sandbox 1\n"
_FRAME = struct.Struct(">cI")
_CRC = struct.Struct(">I")
_HEAD = struct.Struct(">QQQH")
_ENTRY = struct.Struct(">Qq")
_NUMBER = struct.Struct(">Q")
_MARK = struct.Struct(">QH")
_SNAPSHOT = struct.Struct(">QQ")
_LENGTH = struct.Struct(">H")
_FRAME_BYTES_MAX = _HEAD.size + 4 * NAME_CHARACTERS_MAX + BLOB_BYTES_MAX  # numbers, a name, a blob
_NUMBER_MAX = 1 << 38
_COMMIT_BYTES = 4 * 1024 * 1024


def exported(reading: Reading, sandbox: str) -> Iterator[bytes]:
    """The file in pieces, as of what was committed. Raises `NoSandbox` or `Damaged`, also in the middle.

    Nothing may be written to the sandbox meanwhile."""
    yield MAGIC
    count = 0
    for kind, content in _contents(reading, sandbox):
        yield _FRAME.pack(kind, len(content)) + content + _CRC.pack(zlib.crc32(content))
        count += 1
    end = _NUMBER.pack(count)
    yield _FRAME.pack(b"Z", len(end)) + end + _CRC.pack(zlib.crc32(end))


def imported(store: Store, file: BinaryIO, *, name: str | None = None, replaces: bool = False) -> str:
    """Add the sandbox of a file, under its own name or another, or in the place of one of that name if it `replaces`.
    Returns the name. Commits what is listed, too.

    It is there when all of it is, or not at all. Raises `SandboxExists`, `Damaged` (of the file) or `WriteFailed`.
    """
    if (found := file.read(len(MAGIC))) != MAGIC:
        if found.startswith(MAGIC[:-2]):
            raise Damaged("it was exported by another version of reseller-sim: import it with that one")
        raise Damaged("it is no exported sandbox: `reseller-sim data export DIR FILE` writes one")
    frames = _frames(file)
    try:
        life = _begun(store, *next(frames), name, replaces=replaces)
    except (ValueError, struct.error) as error:
        raise _damaged(_said(error)) from None
    try:
        _fill(store, life, frames)
        store.writing.keep_life(life)
        store.commit()
    except (ValueError, KeyError, struct.error) as error:
        _abandon(store, life)
        raise _damaged(_said(error)) from None
    except BaseException:
        _abandon(store, life)
        raise
    return life.sandbox


def _contents(reading: Reading, sandbox: str) -> Iterator[tuple[bytes, bytes]]:
    found = reading.sandbox(sandbox)
    called = sandbox.encode()
    yield b"H", _HEAD.pack(found.life, found.floor, reading.floor_bytes(sandbox), len(called)) + called + found.head
    for entry in reading.entries(sandbox, found.floor + 1):
        yield b"E", _ENTRY.pack(entry.n, entry.at_us) + entry.data
    for mark, n, note in reading.noted_marks(sandbox):
        called = mark.encode()
        yield b"M", _MARK.pack(n, len(called)) + called + note
    before: dict[str, bytes] = {}
    for snapshot in reading.snapshots(sandbox):
        yield b"S", _SNAPSHOT.pack(snapshot.n, snapshot.bytes_up_to)
        for part, digest in snapshot.digests.items():
            if before.get(part) == digest:
                yield b"K", part.encode()
            else:
                yield b"P", _LENGTH.pack(len(part.encode())) + part.encode() + snapshot.part(part)
        yield b"C", b""
        before = snapshot.digests


def _begun(store: Store, kind: bytes, content: bytes, name: str | None, *, replaces: bool) -> Life:
    if kind != b"H":
        raise ValueError(f"it begins with a frame {kind!r}")
    number, floor, floor_bytes, length = _HEAD.unpack_from(content)
    if max(number, floor, floor_bytes) > _NUMBER_MAX:
        raise ValueError("numbers that no sandbox has")
    rest = content[_HEAD.size :]
    sandbox = name or rest[:length].decode()
    if sandbox in store.writing.lives and not replaces:
        raise SandboxExists(
            f"{store.folder}: has a sandbox {sandbox!r} already: give --replace to put this one in its place, or "
            "import into another folder"
        )
    return store.writing.begin_life(sandbox, number, rest[length:], floor, floor_bytes)


def _fill(store: Store, life: Life, frames: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises `ValueError`, `KeyError` and `struct.error` for what was not exported so."""
    size = 0
    snapshot: SnapshotWriter | None = None
    for kind, content in frames:
        if kind == b"S":
            n, bytes_up_to = _SNAPSHOT.unpack(content)
            if bytes_up_to > life.bytes_up_to:
                raise ValueError("a snapshot stands behind the last entry")
            snapshot = store.writing.begin_snapshot_of(life, n, bytes_up_to)
        elif kind in (b"P", b"K", b"C") and snapshot:
            _add_to_snapshot(snapshot, kind, content)
        else:
            _add(store, life, kind, content)
        size += len(content)
        if size > _COMMIT_BYTES:
            store.commit()
            size = 0


def _add(store: Store, life: Life, kind: bytes, content: bytes) -> None:
    if kind == b"E":
        n, at_us = _ENTRY.unpack_from(content)
        if n != life.n + 1:
            raise ValueError(f"entry {n} comes behind {life.n}")
        store.writing.append_to(life, at_us, content[_ENTRY.size :])
    elif kind == b"M":
        n, length = _MARK.unpack_from(content)
        rest = content[_MARK.size :]
        store.writing.put_mark_of(life, rest[:length].decode(), n, rest[length:])
    else:
        raise ValueError(f"a frame {kind!r} is out of place")


def _add_to_snapshot(snapshot: SnapshotWriter, kind: bytes, content: bytes) -> None:
    if kind == b"P":
        (length,) = _LENGTH.unpack_from(content)
        rest = content[_LENGTH.size :]
        snapshot.put(rest[:length].decode(), rest[length:])
    elif kind == b"K":
        snapshot.keep(content.decode())
    else:
        snapshot.complete(applies_rule=False)  # what was exported is all kept


def _frames(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """All but the last one, which says how many they are. Raises `Damaged`."""
    count = 0
    while True:
        kind, length = _FRAME.unpack(_read(file, _FRAME.size))
        if length > _FRAME_BYTES_MAX:
            raise _damaged(f"frame {count + 1} would have {length} bytes")
        content = _read(file, length)
        if _CRC.unpack(_read(file, _CRC.size)) != (zlib.crc32(content),):
            raise _damaged(f"frame {count + 1}")
        if kind == b"Z":
            if content != _NUMBER.pack(count) or file.read(1):
                raise _damaged("its end")
            return
        count += 1
        yield kind, content


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise _damaged("it is cut")
    return data


def _abandon(store: Store, life: Life) -> None:
    if store.writing.lives.get(life.sandbox) is life:
        del store.writing.lives[life.sandbox]
    store.writing.abandon_life(life)


def _said(error: Exception) -> str:
    return "a frame is shorter or longer than one of its kind" if isinstance(error, struct.error) else str(error)


def _damaged(what: str) -> Damaged:
    return Damaged(f"it is damaged ({what}): export it again")
