"""Errors of SQLite and of the system as those of a store, each with what to do."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.persistence.errors import Closed, Damaged, StoreError, Unusable, WriteFailed

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}
_PRIMARY_CODE = 0xFF  # the extended codes have more in their upper bits
RESTORE = "restore the folder from a backup, or give another one"


def of_reading(error: sqlite3.Error, path: Path) -> StoreError:
    """What a failed read or the failed opening of the database at `path` means."""
    if isinstance(error, sqlite3.ProgrammingError):
        return Closed("the store is closed")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY_CODE
    if code in _DAMAGED:
        return Damaged(f"{path}: damaged ({error}): {RESTORE}")
    return Unusable(f"{path}: cannot be used ({error}): it needs a folder that can be written, and room")


def of_writing(error: BaseException, path: Path) -> WriteFailed:
    """What a failed commit means. What was committed before is safe."""
    if isinstance(error, FileNotFoundError):
        return WriteFailed(f"{path.parent}: its files were removed while in use: start again")
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    if code == sqlite3.SQLITE_FULL:
        return WriteFailed(f"{path}: the disk is full ({error}): make room and start again; nothing before is lost")
    if isinstance(error, WriteFailed):
        return error
    return WriteFailed(f"{path}: cannot be written ({error}): mend that and start again; nothing before is lost")


@contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the system as those of a store."""
    try:
        yield
    except sqlite3.Error as error:
        raise of_reading(error, path) from None
    except (
        OverflowError,
        TypeError,
        ValueError,
    ) as error:  # a value that was never written
        raise Damaged(f"{path}: damaged ({error}): {RESTORE}") from None
    except OSError as error:
        raise Unusable(f"{path}: cannot be used ({os.strerror(error.errno or 0)}): give a folder that can be") from None
