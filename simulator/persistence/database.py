"""The database of a folder: its owner, its creation, and the checks before its use.

A single process owns a folder: it holds a transaction of a second, tiny database, which ends with the process in any
case. Any process may read the database of the sandboxes, or checkpoint its log, at any time.

A folder that has lost its sandboxes, or that contains other files, is refused: a fresh start would look like a loss of
all data, or would mix with other files. Names that begin with a dot and `lost+found` do not count.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from simulator.persistence.errors import RESTORE, DamagedStore, Unusable
from simulator.persistence.schema import (
    APPLICATION_ID,
    DATABASE,
    ENTRY_SUM,
    FORMAT,
    LIFE_SHIFT,
    LIFE_SUM,
    MARK_SUM,
    code_of,
    connect,
    create_tables,
    reading_errors,
)

OWNER: Final = "owner.sqlite3"
FORMER_LOCK: Final = "lock"  # of format 1
_OURS: Final = {FORMER_LOCK, *(name + end for name in (DATABASE, OWNER) for end in ("", "-wal", "-shm", "-journal"))}

_FORMER_DAMAGE: Final = """
SELECT 'the head of ' || sandbox FROM lives WHERE state = 1 AND crc IS NOT checksum(head)
UNION ALL SELECT 'an entry' FROM entries WHERE crc IS NOT checksum(data)
"""
_CONVERSION: Final = f"""
INSERT INTO lives SELECT id, sandbox, floor, floor_bytes, {LIFE_SUM}, head FROM former_lives WHERE state = 1;
INSERT INTO marks SELECT life, name, n, {MARK_SUM}, note FROM former_marks WHERE life IN (SELECT id FROM lives);
INSERT INTO entries SELECT e.id, at_us, bytes_up_to, {ENTRY_SUM.replace("entries.", "e.")}, data
    FROM former_entries e JOIN lives ON lives.id = e.id >> {LIFE_SHIFT};
"""


class Ownership:
    """The right to write into a folder, until `release` or the end of the process. `had_store` unless the folder is
    new. Raises `Unusable`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / OWNER
        with reading_errors(self.path):
            self.path.touch()
            self._db = connect(self.path)
        self._db.execute("PRAGMA busy_timeout = 0")
        try:
            with reading_errors(self.path):
                self._db.execute("CREATE TABLE IF NOT EXISTS owner (id INTEGER PRIMARY KEY, pid INTEGER, since TEXT)")
                self._lock()
                has_owner = self._db.execute("SELECT 1 FROM owner").fetchone() is not None
            self.had_store = has_owner or (folder / FORMER_LOCK).exists()
        except BaseException:
            self._db.close()
            raise

    def announce(self) -> None:
        """Write the name of the owner. Raises `Unusable`."""
        with reading_errors(self.path):
            now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            self._db.execute("INSERT OR REPLACE INTO owner VALUES (1, ?, ?)", (os.getpid(), now))
            self._db.execute("COMMIT")
            self._lock()

    def release(self) -> None:
        """Release the folder to other processes."""
        self._db.close()

    def _lock(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY:
                raise
            pid, since = self._db.execute("SELECT pid, since FROM owner").fetchone() or ("?", "a moment ago")
            owner = f"the process with pid {pid}, since {since}"
            raise Unusable(f"{self.path.parent}: in use by {owner}: stop it, or give another folder") from None


def make_folder(folder: Path) -> None:
    """Create a folder if needed. Raises `Unusable` if that fails, or if it contains other files."""
    if folder.exists() and not folder.is_dir():
        raise Unusable(f"{folder}: is a file: give a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = set(os.listdir(folder))
    except OSError as error:
        raise Unusable(f"{folder}: cannot be created ({error.strerror}): give another folder") from None
    foreign = sorted(name for name in names - _OURS - {"lost+found"} if not name.startswith("."))
    if DATABASE not in names and foreign:
        raise Unusable(f"{folder}: has other files ({foreign[0]!r}) and no sandboxes: give an empty or a new folder")


def create(path: Path, version: str, journal: str = "WAL") -> None:
    """Create a database, or finish a database whose creation was interrupted. Raises `Unusable`."""
    try:
        path.touch(0o600)  # it has secrets, and the files that SQLite creates beside it have the same mode
        with closing(connect(path)) as db:
            db.execute(f"PRAGMA journal_mode = {journal}")
            with db:
                db.execute("BEGIN IMMEDIATE")
                create_tables(db, version)
    except (OSError, sqlite3.Error) as error:
        raise Unusable(f"{path}: cannot be written ({error}): give a writable folder with free space") from None


def format_of(db: sqlite3.Connection, path: Path) -> int:
    """Return the format of a database, 0 for an empty database. Raises `Unusable` and `DamagedStore`."""
    with reading_errors(path):
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (found,) = db.execute("PRAGMA user_version").fetchone()
        if application == found == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchall():
            return 0
        if application != APPLICATION_ID:
            raise Unusable(f"{path}: belongs to another program: give another folder")
        if found > FORMAT:
            raise Unusable(
                f"{path}: written by a newer reseller-sim (format {found}, known is {FORMAT}): use the newer version"
            )
        if found < 1:
            raise DamagedStore(f"{path}: has format {found}, which never was: {RESTORE}")
        return int(found)


def convert_format_1(path: Path, version: str) -> None:
    """Convert a database of format 1, where only some rows had a checksum, in a single transaction. It drops the
    snapshots; the next start replays the tape once. Raises `Unusable` and `DamagedStore`, without any change."""
    with reading_errors(path), closing(connect(path)) as db, db:
        db.execute("BEGIN EXCLUSIVE")
        for query in ("PRAGMA integrity_check(1)", _FORMER_DAMAGE):
            row = db.execute(query).fetchone()
            if row is not None and row[0] != "ok":
                raise DamagedStore(f"{path}: {row[0]} is damaged, so that the folder cannot be converted: {RESTORE}")
        row = db.execute("SELECT sandbox FROM lives WHERE state = 1 AND floor > 0").fetchone()
        if row is not None:
            text = f"sandbox {row[0]!r} has dropped the beginning of its tape, and has snapshots of an earlier version"
            raise Unusable(f"{path}: {text}: continue with that version, or give another folder")
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for name in names:
            db.execute(f"ALTER TABLE {name} RENAME TO former_{name}")
        create_tables(db, version)
        for statement in _CONVERSION.split(";"):
            db.execute(statement)
        for name in names:
            db.execute(f"DROP TABLE former_{name}")


@contextmanager
def reading_connection(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open a read-only connection that sees a folder as of a single commit; a server may have the folder open. Raises
    `StoreError`."""
    refuse_no_store(folder)
    with closing(open_to_read(folder / DATABASE)) as db:
        yield db


def refuse_no_store(folder: Path) -> None:
    """Raise `Unusable` or `DamagedStore` for a folder without sandboxes."""
    if not any((folder / name).exists() for name in _OURS):
        raise Unusable(f"{folder}: is not a data folder, which `serve --data-dir` creates")
    if not (folder / DATABASE).exists():
        raise DamagedStore(f"{folder}: {DATABASE} is missing: {RESTORE}")


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a database read-only, as of a single commit. Raises `StoreError`."""
    with reading_errors(path):
        db = connect(path, reading_mode(path))
    try:
        if (found := format_of(db, path)) == 0:
            raise DamagedStore(f"{path}: is empty: {RESTORE}")
        if found < FORMAT:
            hint = "`serve --data-dir` and `reseller-sim data compact DIR` convert its folder"
            raise Unusable(f"{path}: written by an earlier reseller-sim: {hint}")
        db.execute("BEGIN")
    except BaseException:
        db.close()
        raise
    return db


def reading_mode(path: Path) -> str:
    """Return the mode for opening a database that another process may have open. Without such a process, not even the
    shared-memory files of readers are created."""
    return "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
