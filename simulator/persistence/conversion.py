"""Converts a folder of format 1, in which snapshots shared their parts and only some rows had a checksum."""

import sqlite3
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from simulator.persistence.database import FORMER_LOCK
from simulator.persistence.errors import RESTORE, Damaged, InUse, code_of, reading_errors
from simulator.persistence.schema import (
    ENTRY_SUM,
    LAST_ENTRY,
    LIFE_SHIFT,
    LIFE_SUM,
    MARK_SUM,
    PART_SUM,
    SNAPSHOT_SHIFT,
    connect,
    create_tables,
)

_DAMAGE: Final = """
SELECT 'the head of ' || sandbox FROM lives WHERE state = 1 AND crc IS NOT checksum(head)
UNION ALL SELECT 'an entry' FROM entries WHERE crc IS NOT checksum(data)
UNION ALL SELECT 'a part of a snapshot' FROM parts WHERE digest IS NOT digest(data)
"""
_COPY: Final = f"""
INSERT INTO lives SELECT id, sandbox, floor, floor_bytes, {LIFE_SUM}, head FROM former_lives WHERE state = 1;
INSERT INTO marks SELECT life, name, n, {MARK_SUM}, note FROM former_marks WHERE life IN (SELECT id FROM lives);
INSERT INTO entries SELECT e.id, at_us, bytes_up_to, {ENTRY_SUM.replace("entries.", "e.")}, data
    FROM former_entries e JOIN lives ON lives.id = e.id >> {LIFE_SHIFT} WHERE e.id & {LAST_ENTRY} > floor;
INSERT INTO parts
    SELECT s.id << {SNAPSHOT_SHIFT} | row_number() OVER (PARTITION BY s.id), name, {PART_SUM}, data
    FROM former_snapshots s JOIN former_snapshot_parts ON snapshot = s.id JOIN former_parts p ON p.id = part
    WHERE state = 1 AND life IN (SELECT id FROM lives);
INSERT INTO snapshots
    SELECT s.id, life, n, bytes_up_to, size, parts, checksum(n, bytes_up_to, size, parts) FROM former_snapshots s
    JOIN (SELECT id >> {SNAPSHOT_SHIFT} AS key, sum(length(data)) AS size, count(*) AS parts FROM parts GROUP BY 1)
    ON key = s.id;
"""


def convert_format_1(path: Path, version: str) -> None:
    """Convert a database in one transaction. Raises `InUse` and `Damaged`, and then has changed nothing."""
    with reading_errors(path), closing(connect(path)) as db:
        db.create_function("digest", 1, lambda data: blake2b(data, digest_size=16).digest(), deterministic=True)
        db.execute("PRAGMA locking_mode = EXCLUSIVE")  # fails while the simulator of then has it open
        try:
            with db:
                db.execute("BEGIN EXCLUSIVE")
                _convert(db, path, version)
        except sqlite3.OperationalError as error:
            if code_of(error) == sqlite3.SQLITE_BUSY:
                raise InUse(f"{path.parent}: in use by an earlier version of this program: stop it") from None
            raise
    with suppress(OSError):
        (path.parent / FORMER_LOCK).unlink(missing_ok=True)


def _convert(db: sqlite3.Connection, path: Path, version: str) -> None:
    for query in ("PRAGMA integrity_check(1)", _DAMAGE):
        row = db.execute(query).fetchone()
        if row is not None and row[0] != "ok":
            raise Damaged(f"{path}: {row[0]} is damaged, so that the folder cannot be converted: {RESTORE}")
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        db.execute(f"ALTER TABLE {name} RENAME TO former_{name}")
    create_tables(db, version)
    for statement in _COPY.split(";"):
        db.execute(statement)
    for name in names:
        db.execute(f"DROP TABLE former_{name}")
