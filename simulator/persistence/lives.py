"""The lives that a store has, as far as they were written, committed or not."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from simulator.persistence.errors import RESTORE, Damaged
from simulator.persistence.retention import SnapshotSize
from simulator.persistence.schema import LAST_ENTRY, LIFE_SUM, MARK_SUM, SNAPSHOT_SUM, entry_keys

_SUMS: Final = (("lives", "sandbox", LIFE_SUM), ("marks", "name", MARK_SUM), ("snapshots", "id", SNAPSHOT_SUM))
_LAST: Final = "SELECT id & ?, bytes_up_to FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1"


@dataclass(slots=True, eq=False)
class Life:
    """A sandbox between two resets. `n` and `bytes_up_to` are those of its last entry; `marks` have the entries after
    which they stand; `open_snapshot` is the key of the one that is being written."""

    key: int
    sandbox: str
    head: bytes
    floor: int = 0
    floor_bytes: int = 0
    n: int = 0
    bytes_up_to: int = 0
    marks: dict[str, int] = field(default_factory=dict)
    snapshots: list[SnapshotSize] = field(default_factory=list)
    open_snapshot: int = 0


def last_key(db: sqlite3.Connection, owners: str, rows: str, shift: int) -> int:
    """Return the highest key of lives or snapshots that anything in the database has."""
    found = (
        db.execute(f"SELECT coalesce(max(id), 0) FROM {owners}"),
        db.execute(f"SELECT coalesce(max(id), 0) >> ? FROM {rows}", (shift,)),
        db.execute("SELECT coalesce(max(first), 0) >> ? FROM garbage WHERE kind = ?", (shift, rows)),
    )
    return max(int(cursor.fetchone()[0]) for cursor in found)


def lives_of(db: sqlite3.Connection, path: Path) -> list[Life]:
    """Read the lives of a database. Raises `Damaged` and `sqlite3.Error`."""
    for table, name, crc in _SUMS:
        wrong = db.execute(f"SELECT {name} FROM {table} WHERE crc IS NOT {crc}").fetchone()
        if wrong:
            raise Damaged(f"{path}: {wrong[0]!r} of the table {table} is damaged: {RESTORE}")
    lives = [Life(*row) for row in db.execute("SELECT id, sandbox, head, floor, floor_bytes FROM lives ORDER BY id")]
    for life in lives:
        last = db.execute(_LAST, (LAST_ENTRY, *entry_keys(life.key))).fetchone() or (0, 0)
        life.n, life.bytes_up_to = max(last, (life.floor, life.floor_bytes))
        life.marks = dict(db.execute("SELECT name, n FROM marks WHERE life = ?", (life.key,)))
        rows = db.execute("SELECT id, n, bytes_up_to, size FROM snapshots WHERE life = ? ORDER BY n, id", (life.key,))
        life.snapshots = [SnapshotSize(*row) for row in rows]
    return lives
