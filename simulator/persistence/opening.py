"""Opens the folder of a store, or makes one in a folder that is empty or not there yet.

A folder that has had a store and has none now, or that has files of others, is refused: a fresh start would look as if
everything were lost, or would be beside somebody's files. Names that begin with a dot and `lost+found` do not count.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from simulator.persistence import ends
from simulator.persistence.errors import Damaged, Newer, Unusable
from simulator.persistence.failures import RESTORE, of_reading
from simulator.persistence.layout import (
    APPLICATION_ID,
    DATABASE,
    FORMAT,
    LOCK,
    PAGE_BYTES,
    SCHEMA,
    TABLES,
    UNFINISHED,
    WRITTEN_BY,
)  # fmt: skip
from simulator.persistence.ownership import Ownership

_OURS = {LOCK, *(name + suffix for name in (DATABASE, UNFINISHED) for suffix in ("", "-wal", "-shm", "-journal"))}
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_POWER = "the machine was started since, and without `--durability power` the latest is lost when the power fails"
_BUSY_S = 10.0  # how long a foreign program is waited for that writes or brings the log into the database


def own(folder: Path) -> Ownership:
    """Make the folder if need be, and own it, with a database in it unless there never was one.

    Raises `Unusable`, `InUse` or `Damaged`; what is in the folder is as it was then.
    """
    _make(folder)
    _refuse_what_is_foreign(folder)
    return _owned(folder)


def own_to_read(folder: Path) -> Ownership:
    """Own a folder that has a store, to change nothing. Raises `Unusable`, `InUse` or `Damaged`."""
    if not any((folder / name).exists() for name in _OURS):
        raise Unusable(f"{folder}: is no data folder, which `serve --data-dir` makes")
    return _owned(folder, only_reads=True)


def _owned(folder: Path, *, only_reads: bool = False) -> Ownership:
    ownership = Ownership(folder, only_reads=only_reads)
    try:
        _refuse_what_is_missing(folder, ownership)
    except BaseException:
        ownership.release()
        raise
    return ownership


def create(folder: Path, version: str) -> None:
    """Make an empty database in an owned folder that has none. Raises `Unusable`."""
    path = folder / UNFINISHED
    try:
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.touch(0o600)  # it has secrets, and what SQLite makes beside it is like it
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
            connection.execute("INSERT INTO meta VALUES (?, ?)", (WRITTEN_BY, version))
        finish(folder)
    except (OSError, sqlite3.Error) as error:
        raise Unusable(f"{folder}: cannot be written ({error}): give a folder that can be, and has room") from None


def examined(folder: Path, ownership: Ownership) -> str:
    """Look at an owned folder, before its database is opened: what may be lost of it, in a line, or nothing. Raises
    `Unusable`, `Newer` or `Damaged`."""
    _refuse_what_cannot_be_read(folder)
    before = ownership.before
    has_lost = before.is_open and not before.is_of_this_boot and not before.waits_for_disk
    return f"{folder}: the latest may be missing; {_POWER}" if has_lost else ""


@contextmanager
def connected_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of `connect_to_read` to a database that has all tables. Raises `Damaged`, too."""
    with closing(connect_to_read(path)) as connection:
        refuse_what_lacks_tables(connection, path)
        yield connection


def _refuse_what_cannot_be_read(folder: Path) -> None:
    """Look at the first bytes of the database. Raises `Unusable`, `Newer` or `Damaged`.

    Only before the database is opened: closing a file takes away the locks that SQLite has on it in this process.
    """
    path = folder / DATABASE
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
            size = path.stat().st_size
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror}): give a folder that can be") from None
    if not header:
        raise Damaged(f"{path}: is empty: {RESTORE}")
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise Damaged(f"{path}: is no SQLite database, or its beginning is damaged: {RESTORE}")
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise Unusable(f"{path}: belongs to another program: give another folder")
    if (found := int.from_bytes(header[60:64])) > FORMAT:
        raise Newer(
            f"{path}: written by a newer reseller-sim{_writer(path)} (format {found}, known is {FORMAT}): use that one"
        )
    if found < FORMAT:
        raise Damaged(f"{path}: has format {found}, which never was: {RESTORE}")
    if not has_log(folder) and size < int.from_bytes(header[28:32]) * PAGE_BYTES:
        raise Damaged(f"{path}: is cut, {size} bytes long: {RESTORE}")


def refuse_no_store(folder: Path) -> None:
    """For what makes none. Raises `Unusable` when there is none, nor traces of one."""
    own_to_read(folder).release()


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection for any one thread at a time, which changes nothing. Of a database that nobody has open, and that
    has no log, not even the files are made that tell others who reads. Raises `Unusable` or `Damaged`."""
    is_in_use = path.with_name(f"{DATABASE}-shm").exists()
    mode = "mode=ro" if is_in_use or has_log(path.parent) else "mode=ro&immutable=1"
    try:
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise of_reading(error, path) from None


def connect(folder: Path, synchronous: str = "NORMAL") -> sqlite3.Connection:
    """A connection that may write, for any one thread at a time. Raises `Unusable` or `Damaged`.

    No commit of it brings the log into the database, as SQLite would do by itself when the log has grown.
    """
    path = folder / DATABASE
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_S,
        )
    except sqlite3.Error as error:
        raise of_reading(error, path) from None
    try:
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA journal_mode = WAL")  # a backup is not, yet
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        # A log that begins again is cut to what is in it, so that its size says how much that is.
        connection.execute("PRAGMA journal_size_limit = 0")
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise of_reading(error, path) from None
        raise
    return connection


def refuse_what_lacks_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raises `Damaged`."""
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if missing := set(TABLES) - found:
        raise Damaged(f"{path}: lacks the table {min(missing)}: {RESTORE}")


def sign(connection: sqlite3.Connection, version: str, path: Path) -> None:
    """Write who writes, which shows that it can be done, and makes the log; the lives go on from where they ended.
    Raises `Unusable` or `Damaged`."""
    try:
        ends.forget(connection)
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (WRITTEN_BY, version))
    except sqlite3.Error as error:
        raise of_reading(error, path) from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        for path in (folder, *folder.parents):
            if path.is_symlink() and not path.exists():
                raise Unusable(f"{path}: is a link to a folder that is not there: mount or make that one") from None
        raise Unusable(f"{folder}: is a file: give a folder") from None
    except OSError as error:
        raise Unusable(f"{folder}: cannot be made ({error.strerror}): give a folder that can be") from None


def _refuse_what_is_foreign(folder: Path) -> None:
    try:
        names = set(os.listdir(folder))
    except OSError as error:
        raise Unusable(f"{folder}: cannot be read ({error.strerror}): give a folder that can be") from None
    foreign = sorted(name for name in names - _OURS - {"lost+found"} if not name.startswith("."))
    if DATABASE not in names and foreign:
        raise Unusable(f"{folder}: has other files ({foreign[0]!r}) and no sandboxes: give an empty or a new folder")


def _refuse_what_is_missing(folder: Path, ownership: Ownership) -> None:
    """The text of the lock tells of a store that was here; see `ownership`."""
    path = folder / DATABASE
    if path.is_symlink() and not path.exists():
        raise Unusable(f"{path}: is a link to a file that is not there: {RESTORE}")
    if not path.exists() and (ownership.text_before or has_log(folder)):
        raise Damaged(f"{folder}: {DATABASE} is missing: {RESTORE}; or empty this one to begin anew")


def has_log(folder: Path) -> bool:
    """Whether there is a log with anything in it."""
    path = folder / f"{DATABASE}-wal"
    return path.exists() and path.stat().st_size > 0


def _writer(path: Path) -> str:
    """The version that wrote a newer database, as far as it can be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (text,) = connection.execute("SELECT value FROM meta WHERE name = ?", (WRITTEN_BY,)).fetchone()
            return f", {ends.unsealed(str(text))}"
    except (sqlite3.Error, TypeError):
        return ""


def finish(folder: Path) -> None:
    """Give its name to a database that is whole, and make it durable. Raises `OSError`."""
    path = folder / UNFINISHED
    _sync(path)
    path.rename(folder / DATABASE)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
