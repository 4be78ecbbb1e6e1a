"""Converts a folder of format 1, where only some rows had a checksum. It drops the snapshots, since this version cannot
read them; the next start replays the tape once."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from simulator.persistence.database import FORMER_LOCK
from simulator.persistence.errors import RESTORE, Damaged, InUse, Unusable, code_of, reading_errors
from simulator.persistence.schema import (
    ENTRY_SUM,
    LIFE_SHIFT,
    LIFE_SUM,
    MARK_SUM,
    connect,
    create_tables,
)

_DAMAGE: Final = """
SELECT 'the head of ' || sandbox FROM lives WHERE state = 1 AND crc IS NOT checksum(head)
UNION ALL SELECT 'an entry' FROM entries WHERE crc IS NOT checksum(data)
"""
_COPY: Final = f"""
INSERT INTO lives SELECT id, sandbox, floor, floor_bytes, {LIFE_SUM}, head FROM former_lives WHERE state = 1;
INSERT INTO marks SELECT life, name, n, {MARK_SUM}, note FROM former_marks WHERE life IN (SELECT id FROM lives);
INSERT INTO entries SELECT e.id, at_us, bytes_up_to, {ENTRY_SUM.replace("entries.", "e.")}, data
    FROM former_entries e JOIN lives ON lives.id = e.id >> {LIFE_SHIFT};
"""


def convert_format_1(path: Path, version: str) -> None:
    """Convert a database in a single transaction. Raises `InUse`, `Unusable` and `Damaged`, without any change."""
    with reading_errors(path), closing(connect(path)) as db:
        db.execute("PRAGMA busy_timeout = 0")
        db.execute("PRAGMA locking_mode = EXCLUSIVE")  # fails while an earlier simulator has it open
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
    row = db.execute("SELECT sandbox FROM lives WHERE state = 1 AND floor > 0").fetchone()
    if row is not None:
        text = f"sandbox {row[0]!r} has dropped the beginning of its tape, and has snapshots of an earlier version"
        raise Unusable(f"{path}: {text}: continue with that version, or give another folder")
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        db.execute(f"ALTER TABLE {name} RENAME TO former_{name}")
    create_tables(db, version)
    for statement in _COPY.split(";"):
        db.execute(statement)
    for name in names:
        db.execute(f"DROP TABLE former_{name}")
