"""Makes folders smaller, and copies of them while they are in use."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from simulator.tape.store.checking import More, check
from simulator.tape.store.errors import Damaged, Unusable
from simulator.tape.store.failures import of_writing
from simulator.tape.store.layout import DATABASE, UNFINISHED
from simulator.tape.store.opening import connect_to_read, finish, own, refuse_no_store
from simulator.tape.store.retention import Retention
from simulator.tape.store.store import Store


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
    folder = Path(folder)
    ownership = own(folder)
    path = folder / UNFINISHED
    try:
        if (folder / DATABASE).exists():
            raise Unusable(f"{folder}: has sandboxes already: give an empty or a new folder")
        path.unlink(missing_ok=True)
        with closing(connect_to_read(store.path)) as connection:
            connection.execute("VACUUM INTO ?", (str(path),))
        finish(folder)
        return _bytes_of(folder)
    except (OSError, sqlite3.Error) as error:
        path.unlink(missing_ok=True)
        raise of_writing(error, folder) from None
    finally:
        ownership.release()


def _bytes_of(folder: Path) -> int:
    paths = (folder / DATABASE, folder / f"{DATABASE}-wal")
    return sum(path.stat().st_size for path in paths if path.exists())
