"""The tables of a data folder, with the keys and the checksums of their rows, and the errors of SQLite.

The upper bits of an entry's key are the key of its life, and the upper bits of a part's key are the key of its
snapshot: related rows are adjacent, and are read and removed as a range of keys.
`garbage` has the ranges that are incomplete or no longer needed; each later commit removes some of their rows.
"""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from simulator.persistence.errors import RESTORE, DamagedStore, Unusable, WriteFailed

DATABASE: Final = "sandboxes.sqlite3"
APPLICATION_ID: Final = 0x52534C53  # "RSLS"
FORMAT: Final = 2

LIFE_SHIFT: Final = 38  # 274 thousand million entries in a life
SNAPSHOT_SHIFT: Final = 24
LAST_ENTRY: Final = (1 << LIFE_SHIFT) - 1
LAST_PART: Final = (1 << SNAPSHOT_SHIFT) - 1
BUSY_S: Final = 10.0  # how long a commit waits for another program that writes

SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lives (
    id INTEGER PRIMARY KEY, sandbox TEXT NOT NULL UNIQUE, floor INTEGER NOT NULL, floor_bytes INTEGER NOT NULL,
    crc INTEGER NOT NULL, head BLOB NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, bytes_up_to INTEGER NOT NULL, crc INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE marks (
    life INTEGER NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, crc INTEGER NOT NULL, note BLOB NOT NULL,
    PRIMARY KEY (life, name)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, life INTEGER NOT NULL, n INTEGER NOT NULL, bytes_up_to INTEGER NOT NULL,
    size INTEGER NOT NULL, parts INTEGER NOT NULL, crc INTEGER NOT NULL
);
CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE garbage (
    kind TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, is_due INTEGER NOT NULL,
    PRIMARY KEY (kind, first)
) WITHOUT ROWID;
"""

LIFE_SUM: Final = "checksum(sandbox, floor, floor_bytes, head)"
ENTRY_SUM: Final = f"checksum(entries.id & {LAST_ENTRY}, at_us, bytes_up_to, data)"
MARK_SUM: Final = "checksum(name, n, note)"
SNAPSHOT_SUM: Final = "checksum(n, bytes_up_to, size, parts)"
PART_SUM: Final = "checksum(name, data)"

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}
_PRIMARY_CODE: Final = 0xFF  # the extended codes have more in their upper bits


def checksum(*values: object) -> int:
    """Return the checksum of the columns of a row, which SQL calls by this name."""
    crc = 0
    for value in values:
        if not isinstance(value, bytes):
            value = (f"'{value}'" if isinstance(value, str) else repr(value)).encode()
        crc = zlib.crc32(value, crc)
    return crc


def entry_keys(life: int, first: int = 1, last: int = LAST_ENTRY) -> tuple[int, int]:
    """Return the first and the last key of these entries of a life."""
    return life << LIFE_SHIFT | first, life << LIFE_SHIFT | last


def part_keys(snapshot: int) -> tuple[int, int]:
    """Return the first and the last key that parts of a snapshot can have."""
    return snapshot << SNAPSHOT_SHIFT, snapshot << SNAPSHOT_SHIFT | LAST_PART


def connect(path: Path, mode: str = "mode=rw") -> sqlite3.Connection:
    """Open a database, which must be there, for any one thread at a time. Raises `sqlite3.Error`."""
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_S
    )
    db.execute("PRAGMA cell_size_check = ON")
    db.execute("PRAGMA trusted_schema = OFF")
    db.create_function("checksum", -1, checksum, deterministic=True)
    return db


def create_tables(db: sqlite3.Connection, version: str) -> None:
    """Create the tables in an open transaction. Raises `sqlite3.Error`."""
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.execute("INSERT INTO meta VALUES ('written_by', ?)", (version,))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def code_of(error: BaseException) -> int:
    """Return the primary result code of an error of SQLite; 0 for any other error."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY_CODE


def writing_error(error: BaseException, path: Path) -> WriteFailed:
    """Return the error for a failed commit. Earlier commits are safe."""
    if isinstance(error, FileNotFoundError):
        return WriteFailed(f"{path.parent}: its files were removed while in use: start again")
    if code_of(error) == sqlite3.SQLITE_FULL:
        return WriteFailed(f"{path}: the disk is full ({error}): make room and start again; nothing before is lost")
    return WriteFailed(f"{path}: cannot be written ({error}): mend that and start again; nothing before is lost")


@contextmanager
def reading_errors(path: object) -> Iterator[None]:
    """Raise errors of SQLite, of the system and of foreign values as errors of the store."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise WriteFailed("the store is closed") from None
    except sqlite3.Error as error:
        if code_of(error) in _DAMAGED or not hasattr(error, "sqlite_errorcode"):
            raise DamagedStore(f"{path}: damaged ({error}): {RESTORE}") from None
        hint = "it needs a folder that can be written, and room"
        raise Unusable(f"{path}: cannot be used ({error}): {hint}") from None
    except OSError as error:
        raise Unusable(f"{path}: cannot be used ({error.strerror}): give a folder that can be") from None
    except (OverflowError, TypeError, ValueError) as error:
        raise DamagedStore(f"{path}: damaged ({error}): {RESTORE}") from None
