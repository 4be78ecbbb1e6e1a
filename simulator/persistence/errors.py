"""What can be wrong with a store. The message is one line: what was wrong, where, and what to do.

StoreError
 ├─ InUse           another process owns the folder, or another store of this one
 ├─ Unusable        the folder cannot hold a store, or holds something else
 ├─ Newer           a newer reseller-sim wrote it
 ├─ Damaged         what was written is not what is read
 ├─ WriteFailed     a commit failed; nothing of it is kept, and no other one follows
 ├─ Closed          the store was closed
 ├─ NoSandbox       it has no sandbox of this name, or no longer what is asked of it
 └─ SandboxExists   it has one already
"""


class StoreError(Exception):
    """Whatever is wrong with a store."""


class InUse(StoreError):
    """The folder has an owner."""


class Unusable(StoreError):
    """There is no store in the folder, and none can be made there."""


class Newer(StoreError):
    """The format is one that this program does not know yet."""


class Damaged(StoreError):
    """A file is missing, cut or changed."""


class WriteFailed(StoreError):
    """The disk is full or failed, or the files were removed."""


class Closed(StoreError):
    """Nothing can be written any more."""


class NoSandbox(StoreError):
    """The sandbox, its life, its snapshot or its mark is not in the store, or not any more."""


class SandboxExists(StoreError):
    """A sandbox is not replaced by another one of its name."""
