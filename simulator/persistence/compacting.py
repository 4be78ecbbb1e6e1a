"""Makes folders smaller, and copies of them while they are in use."""

import os
import sqlite3
import stat
from dataclasses import dataclass
from pathlib import Path

from simulator.persistence.checking import More, check
from simulator.persistence.errors import Damaged, InUse, Unusable
from simulator.persistence.failures import of_writing
from simulator.persistence.layout import DATABASE, UNFINISHED
from simulator.persistence.opening import connected_to_read, examined, finish, own, own_to_read, refuse_no_store
from simulator.persistence.retention import Retention
from simulator.persistence.store import Store


@dataclass(frozen=True)
class Compacted:
    """How large the database and its log were, and are."""

    bytes_before: int
    bytes_after: int

    @property
    def summary(self) -> str:
        """In one line."""
        return f"compacted: {self.bytes_before} bytes before, {self.bytes_after} after"


def compact(
    folder: Path | str, *, version: str, retention: Retention | None = None, more: More = lambda reading: ()
) -> Compacted:
    """Drop what the rule allows, and give the space back. Raises `StoreError`; then everything is as it was, or swept.

    Nobody else may have the folder open. One that is not whole, by `check` with `more`, is refused: what is dropped may
    be what it could be saved with.
    """
    folder = Path(folder)
    refuse_no_store(folder)
    _refuse_damage(folder, more)
    before = _bytes_of(folder)
    with Store.open(folder, version=version, retention=retention) as store:
        store.compact()
    return Compacted(before, _bytes_of(folder))


def _refuse_damage(folder: Path, more: More) -> None:
    if problems := check(folder, more).problems:
        others = f" (and {len(problems) - 1} more: `data check` says which)" if len(problems) > 1 else ""
        raise Damaged(f"{problems[0]}{others}; nothing was compacted, since {folder} is not whole")


def back_up(store: Store, folder: Path | str) -> int:
    """Copy an open store, as of one commit, into an empty or a new folder. Returns the bytes of the copy.

    In any thread, while the store goes on; its log grows meanwhile. Raises `StoreError`, and then has made nothing.
    """
    return _copy(store.path, Path(folder))


def back_up_folder(source: Path, folder: Path) -> int:
    """The same of a folder that a server may have open in another process: all that it had committed by now, and so
    all that was answered. One that nobody has open is looked at first, and not changed."""
    try:
        ownership = own_to_read(source)
    except InUse:
        if not (source / DATABASE).exists():
            raise
        return _copy(source / DATABASE, folder)
    try:
        examined(source, ownership)
        return _copy(source / DATABASE, folder)
    finally:
        ownership.release()


def _copy(database: Path, folder: Path) -> int:
    if database.parent.resolve() in folder.resolve().parents:
        raise Unusable(f"{folder}: is inside of {database.parent}, which it is to save: give a folder elsewhere")
    ownership = own(folder)
    path = folder / UNFINISHED
    try:
        if (folder / DATABASE).exists():
            raise Unusable(f"{folder}: has sandboxes already: give an empty or a new folder")
        path.unlink(missing_ok=True)
        # Whoever may not read the original, which has secrets, may not read the copy, whatever the umask is now.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(database.stat().st_mode)))
        with connected_to_read(database) as connection:
            connection.execute("VACUUM INTO ?", (str(path),))
        finish(folder)
        return _bytes_of(folder)
    except (OSError, sqlite3.Error) as error:
        for left in (path, path.with_name(f"{path.name}-journal")):
            left.unlink(missing_ok=True)
        raise of_writing(error, folder) from None
    finally:
        ownership.release()


def _bytes_of(folder: Path) -> int:
    paths = (folder / DATABASE, folder / f"{DATABASE}-wal")
    return sum(path.stat().st_size for path in paths if path.exists())
