"""Errors of a data folder or of PostgreSQL. The message is a single line: what is wrong, where, and what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

RESTORE: Final = "restore the folder from a backup, or use another folder"
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}
_PRIMARY_CODE: Final = 0xFF  # the extended codes have more in their upper bits


class StoreError(Exception):
    """The base class."""


class Unusable(StoreError):
    """The folder belongs to another program or version, is in use, or has a sandbox of this name already. Nothing was
    changed."""


class DamagedStore(StoreError):
    """A file is missing, truncated or changed."""


class WriteFailed(StoreError):
    """The disk is full or failed, the files were removed, or the store was closed. The commit was rolled back, and no
    other commit follows."""


class LeaseLost(StoreError):
    """The lease of this server has ended, and another server may own its sandboxes."""


class NoSandbox(StoreError):
    """The sandbox, its life, its snapshot or its mark is not in the store."""


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
