"""Errors of a data folder or of PostgreSQL. The message is a single line: what is wrong, where, and what to do.

StoreError
 ├─ InUse           another process owns the folder
 ├─ Unusable        the folder cannot hold sandboxes, or holds something else
 ├─ Newer           a newer reseller-sim wrote it
 ├─ Damaged         its data was lost or changed
 ├─ WriteFailed     a commit failed; it is rolled back, and no other commit follows
 ├─ LeaseLost       another server owns the sandboxes now
 ├─ Closed          the store was closed
 ├─ NoSandbox       it has no sandbox of this name, or not the requested entries or snapshot
 └─ SandboxExists   it has a sandbox of this name already
"""

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


class InUse(StoreError):
    """The folder has an owner."""


class Unusable(StoreError):
    """There is no store in the folder, and none can be created there."""


class Newer(StoreError):
    """The format is one that this program does not know yet."""


class Damaged(StoreError):
    """A file is missing, truncated or changed."""


class WriteFailed(StoreError):
    """The disk is full or failed, or the files were removed."""


class LeaseLost(StoreError):
    """The lease of this server has ended, and another server may own its sandboxes."""


class Closed(StoreError):
    """The store accepts no more writes."""


class NoSandbox(StoreError):
    """The sandbox, its life, its snapshot or its mark is not in the store."""


class SandboxExists(StoreError):
    """The sandbox already exists, and is not replaced."""


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
        raise Closed("the store is closed") from None
    except sqlite3.Error as error:
        if code_of(error) in _DAMAGED or not hasattr(error, "sqlite_errorcode"):
            raise Damaged(f"{path}: damaged ({error}): {RESTORE}") from None
        hint = "it needs a folder that can be written, and room"
        raise Unusable(f"{path}: cannot be used ({error}): {hint}") from None
    except OSError as error:
        raise Unusable(f"{path}: cannot be used ({error.strerror}): give a folder that can be") from None
    except (OverflowError, TypeError, ValueError) as error:
        raise Damaged(f"{path}: damaged ({error}): {RESTORE}") from None
