"""Reads committed data in slices, so that readers neither hold back the checkpoint of the log nor take much memory.

Callable in any thread. Data may be removed while it is read, with its sandbox or by retention: `NoSandbox`.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from simulator.persistence.database import reading_connection
from simulator.persistence.errors import RESTORE, Damaged, NoSandbox, StoreError, reading_errors
from simulator.persistence.schema import (
    DATABASE,
    ENTRY_SUM,
    LAST_ENTRY,
    LIFE_SUM,
    PART_SUM,
    SNAPSHOT_SUM,
    entry_keys,
    part_keys,
)

SLICE_ROWS: Final = 512
SLICE_BYTES: Final = 4 * 1024 * 1024
_ENTRIES: Final = f"""
SELECT id & {LAST_ENTRY}, at_us, data, crc IS {ENTRY_SUM} FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?
"""
_LIFE: Final = f"SELECT id, floor, head, crc IS {LIFE_SUM} FROM lives WHERE sandbox = ?"
_SNAPSHOTS: Final = f"""
SELECT id, n, parts, crc IS {SNAPSHOT_SUM} FROM snapshots WHERE life = ? ORDER BY n, id
"""
_NEXT_ENTRY: Final = """
SELECT id FROM entries WHERE id BETWEEN ? AND ? AND substr(data, 1, ?) <> ? ORDER BY id LIMIT 1 OFFSET ?
"""


class StoredEntry(NamedTuple):
    """The `n`th entry of a life, counted from 1, with its original time in microseconds."""

    n: int
    at_us: int
    data: bytes


class Sandbox(NamedTuple):
    """A sandbox as committed. Its entries are those from `floor` + 1 to `n`. Its `life` is unique."""

    name: str
    life: int
    head: bytes
    floor: int
    n: int


class StoredSnapshot(NamedTuple):
    """A complete snapshot after entry `n`, with its number of parts."""

    key: int
    n: int
    parts: int


class Reader:
    """Reads one database."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def sandboxes(self) -> list[Sandbox]:
        """Return all sandboxes, by name. Raises `Damaged`."""
        return [self.sandbox(name) for (name,) in self._rows("SELECT sandbox FROM lives ORDER BY sandbox")]

    def sandbox(self, name: str, life: int | None = None) -> Sandbox:
        """Return a sandbox, which must have this `life` if given. Raises `NoSandbox` or `Damaged`."""
        rows = self._rows(_LIFE, name)
        if not rows:
            raise NoSandbox(f"the store has no sandbox {name!r}")
        key, floor, head, is_whole = rows[0]
        if life not in (None, key):
            raise NoSandbox(f"the sandbox {name!r} was reset")
        if not is_whole:
            raise self._damaged(f"the head of sandbox {name!r}")
        ((last,),) = self._rows(
            f"SELECT max(id) & {LAST_ENTRY} FROM entries WHERE id BETWEEN ? AND ?", *entry_keys(key)
        )
        return Sandbox(name, key, head, floor, max(floor, last or 0))

    def entries(self, sandbox: str, n: int = 1, life: int | None = None) -> Iterator[StoredEntry]:
        """Yield the entries from the `n`th on, which must be after the floor. Raises `NoSandbox` or `Damaged`."""
        found = self.sandbox(sandbox, life)
        if n <= found.floor:
            raise NoSandbox(f"the entries of sandbox {sandbox!r} up to {found.floor} are not kept any more")
        while rows := self._slice(*entry_keys(found.life, n)):
            for number, at_us, data, is_whole in rows:
                if number != n:
                    raise self._gap(sandbox, found.life, n)
                if not is_whole:
                    raise self._damaged(f"entry {n} of sandbox {sandbox!r}")
                yield StoredEntry(n, at_us, data)
                n += 1

    def place(self, sandbox: str, count: int, apart: bytes, life: int | None = None) -> tuple[int, int]:
        """Return the number of the entry after which `count` entries have come, and the bytes up to it. Entries that
        begin with `apart` do not count, and belong to the entry before. Raises `NoSandbox`."""
        found = self.sandbox(sandbox, life)
        if found.floor:
            raise NoSandbox(f"the first entries of sandbox {sandbox!r} are not kept any more")
        keys = entry_keys(found.life, last=found.n)  # without what is committed meanwhile
        following = self._rows(_NEXT_ENTRY, *keys, len(apart), apart, count)
        n = (following[0][0] & LAST_ENTRY) - 1 if following else found.n
        rows = self._rows("SELECT bytes_up_to FROM entries WHERE id = ?", entry_keys(found.life, n)[0])
        if n and not rows:
            raise self._gap(sandbox, found.life, n)
        return n, rows[0][0] if n else 0

    def marks(self, sandbox: str) -> list[tuple[str, int, bytes]]:
        """Return name, entry and note of each mark, in the order of the entries. Raises `NoSandbox`."""
        key = self.sandbox(sandbox).life
        return self._rows("SELECT name, n, note FROM marks WHERE life = ? ORDER BY n, name", key)

    def snapshots(self, sandbox: str) -> list[StoredSnapshot]:
        """Return the complete snapshots, oldest first. Raises `NoSandbox` and `Damaged`."""
        rows = self._rows(_SNAPSHOTS, self.sandbox(sandbox).life)
        if not all(is_whole for *_, is_whole in rows):
            raise self._damaged(f"a snapshot of sandbox {sandbox!r}")
        return [StoredSnapshot(*row) for *row, _ in rows]

    def parts(self, snapshot: StoredSnapshot) -> Iterator[tuple[str, bytes]]:
        """Yield name and data of each part of a snapshot. Raises `Damaged`, also when parts are missing."""
        count = 0
        statement = f"SELECT name, data, crc IS {PART_SUM} FROM parts WHERE id BETWEEN ? AND ? ORDER BY id"
        for name, data, is_whole in self._stepped(statement, *part_keys(snapshot.key)):
            if not is_whole:
                raise self._damaged(f"the part {name!r} of a snapshot")
            count += 1
            yield name, data
        if count != snapshot.parts:
            raise Damaged(f"{self._path}: a snapshot has {count} of {snapshot.parts} parts: {RESTORE}")

    def _slice(self, low: int, high: int) -> list[Any]:
        rows, size = [], 0
        with closing(self._stepped(_ENTRIES, low, high, SLICE_ROWS)) as found:
            for row in found:
                rows.append(row)
                size += len(row[2])
                if size > SLICE_BYTES:
                    break
        return rows

    def _rows(self, statement: str, *values: object) -> list[Any]:
        return list(self._stepped(statement, *values))

    def _stepped(self, statement: str, *values: object) -> Generator[Any, None, None]:
        """Yield rows as they are read. The caller must read all of them, since an unfinished read holds back the
        checkpoint."""
        with reading_errors(self._path), closing(self._db.execute(statement, values)) as cursor:
            yield from cursor

    def _gap(self, sandbox: str, life: int, n: int) -> StoreError:
        """Return the error for a missing entry `n`: it was removed, or it is lost."""
        rows = self._rows("SELECT floor FROM lives WHERE id = ?", life)
        if not rows or n <= rows[0][0]:
            return NoSandbox(f"entry {n} of sandbox {sandbox!r} is not kept any more")
        return Damaged(f"{self._path}: entry {n} of sandbox {sandbox!r} is missing: {RESTORE}")

    def _damaged(self, what: str) -> Damaged:
        return Damaged(f"{self._path}: {what} is damaged: {RESTORE}")


@contextmanager
def folder_reader(folder: Path) -> Iterator[Reader]:
    """Read a folder as of a single commit, read-only; a server may have it open. Raises `StoreError`."""
    with reading_connection(folder) as db:
        yield Reader(db, folder / DATABASE)
