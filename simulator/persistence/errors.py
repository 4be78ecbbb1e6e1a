"""Errors of a data folder or of PostgreSQL. The message is a single line: what is wrong, where, and what to do."""

from typing import Final

RESTORE: Final = "restore the folder from a backup, or use another folder"


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
