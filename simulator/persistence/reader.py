"""Reads committed data in slices, so that readers neither hold back the checkpoint of the log nor take much memory.

Callable in any thread. Data may be removed while it is read, with its sandbox or by retention: `NoSandbox`. The
statements are valid in SQLite and in PostgreSQL.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from simulator.persistence.database import reading_connection
from simulator.persistence.errors import RESTORE, DamagedStore, NoSandbox, StoreError
from simulator.persistence.schema import DATABASE, LAST_ENTRY, checksum, entry_keys, part_keys, reading_errors
from simulator.persistence.writer import SnapshotSize, StoredLife

SLICE_ROWS: Final = 512
SLICE_BYTES: Final = 4 * 1024 * 1024
_ENTRIES: Final = f"""
SELECT id & {LAST_ENTRY}, at_us, bytes_up_to, data, crc FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?
"""
_LIFE: Final = "SELECT id, sandbox, floor, floor_bytes, head, crc FROM lives WHERE sandbox = ?"
_MARKS: Final = "SELECT name, n, note, crc FROM marks WHERE life = ? ORDER BY n, name"
_SNAPSHOTS: Final = "SELECT id, n, bytes_up_to, size, parts, crc FROM snapshots WHERE life = ? ORDER BY n, id"
_PARTS: Final = "SELECT name, data, crc FROM parts WHERE id BETWEEN ? AND ? ORDER BY id"
_LAST: Final = f"""
SELECT id & {LAST_ENTRY}, bytes_up_to FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1
"""


class Reader:
    """Reads one database, which messages call `name`. `execute` returns the rows of a statement with question marks as
    parameters, and can be closed."""

    def __init__(self, execute: Callable[[str, Sequence[Any]], Any], name: object) -> None:
        self._execute = execute
        self.name = name

    def lives(self, sandbox: str | None = None) -> list[StoredLife]:
        """Return the lives of all sandboxes by name, or of one, if it exists. Raises `DamagedStore`."""
        found = [(sandbox,)] if sandbox is not None else self.rows("SELECT sandbox FROM lives ORDER BY sandbox")
        return [self._life(*row) for (name,) in found for row in self.rows(_LIFE, name)]

    def _life(self, key: int, sandbox: str, floor: int, floor_bytes: int, head: bytes, crc: int) -> StoredLife:
        if crc != checksum(sandbox, floor, floor_bytes, head):
            raise self._damaged(f"the head of sandbox {sandbox!r}")
        last = next(iter(self.rows(_LAST, *entry_keys(key))), (0, 0))
        life = StoredLife(key, sandbox, head, floor, floor_bytes, *max(tuple(last), (floor, floor_bytes)))
        for name, n, note, found in self.rows(_MARKS, key):
            if found != checksum(name, n, note):
                raise self._damaged(f"{name!r} of the table marks")
            life.marks[name] = n
        for snapshot, *row, found in self.rows(_SNAPSHOTS, key):
            if found != checksum(*row):
                raise self._damaged(f"{snapshot!r} of the table snapshots")
            life.snapshots.append(SnapshotSize(snapshot, *row))
        return life

    def life(self, sandbox: str, key: int | None = None) -> StoredLife:
        """Return the life of a sandbox, which must have this `key` if given. Raises `NoSandbox` or `DamagedStore`."""
        lives = self.lives(sandbox)
        if not lives:
            raise NoSandbox(f"the store has no sandbox {sandbox!r}")
        if key not in (None, lives[0].key):
            raise NoSandbox(f"the sandbox {sandbox!r} was reset")
        return lives[0]

    def entries(self, sandbox: str, n: int = 1, life: int | None = None) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, time in microseconds and data of the entries from the `n`th on, which must be after the floor.
        Raises `NoSandbox` or `DamagedStore`."""
        found = self.life(sandbox, life)
        if n <= found.floor:
            raise NoSandbox(f"the entries of sandbox {sandbox!r} up to {found.floor} are not kept any more")
        while rows := self._slice(*entry_keys(found.key, n)):
            for number, at_us, bytes_up_to, data, crc in rows:
                if number != n:
                    raise self._gap(sandbox, found.key, n)
                if crc != checksum(number, at_us, bytes_up_to, data):
                    raise self._damaged(f"entry {n} of sandbox {sandbox!r}")
                yield n, at_us, data
                n += 1

    def marks(self, sandbox: str) -> list[tuple[str, int, bytes]]:
        """Return name, entry and note of each mark, in the order of the entries. Raises `NoSandbox`."""
        return [(name, n, note) for name, n, note, _ in self.rows(_MARKS, self.life(sandbox).key)]

    def parts(self, snapshot: SnapshotSize) -> Iterator[tuple[str, bytes]]:
        """Yield name and data of each part of a snapshot. Raises `DamagedStore`, also when parts are missing."""
        count = 0
        for name, data, crc in self._stepped(_PARTS, *part_keys(snapshot.key)):
            if crc != checksum(name, data):
                raise self._damaged(f"the part {name!r} of a snapshot")
            count += 1
            yield name, data
        if count != snapshot.parts:
            raise DamagedStore(f"{self.name}: a snapshot has {count} of {snapshot.parts} parts: {RESTORE}")

    def _slice(self, low: int, high: int) -> list[Any]:
        rows, size = [], 0
        with closing(self._stepped(_ENTRIES, low, high, SLICE_ROWS)) as found:
            for row in found:
                rows.append(row)
                size += len(row[3]) if isinstance(row[3], bytes) else 0  # damage may change the type
                if size > SLICE_BYTES:
                    break
        return rows

    def rows(self, statement: str, *values: object) -> list[Any]:
        """Return the rows of a statement. Raises `StoreError`."""
        return list(self._stepped(statement, *values))

    def _stepped(self, statement: str, *values: object) -> Generator[Any, None, None]:
        """Yield rows as they are read. The caller must read all of them, since an unfinished read holds back the
        checkpoint."""
        with reading_errors(self.name), closing(self._execute(statement, values)) as cursor:
            yield from cursor

    def _gap(self, sandbox: str, life: int, n: int) -> StoreError:
        """Return the error for a missing entry `n`: it was removed, or it is lost."""
        rows = self.rows("SELECT floor FROM lives WHERE id = ?", life)
        if not rows or n <= rows[0][0]:
            return NoSandbox(f"entry {n} of sandbox {sandbox!r} is not kept any more")
        return DamagedStore(f"{self.name}: entry {n} of sandbox {sandbox!r} is missing: {RESTORE}")

    def _damaged(self, what: str) -> DamagedStore:
        return DamagedStore(f"{self.name}: {what} is damaged: {RESTORE}")


@contextmanager
def folder_reader(folder: Path) -> Iterator[Reader]:
    """Read a folder as of a single commit, read-only; a server may have it open. Raises `StoreError`."""
    with reading_connection(folder) as db:
        yield Reader(db.execute, folder / DATABASE)
