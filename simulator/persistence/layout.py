"""The files of a store and its tables.

A life is a sandbox between two resets. Its number in the store is the upper part of the keys of all that it has
written, so that what belongs together lies together and is found without an index: entry `n` of life 3 has the key `3
<< LIFE_SHIFT | n`. A row of `lives` or `snapshots` counts only when it is `KEPT`; any other is unfinished or is being
removed, and nobody sees it.
"""

import zlib
from typing import Final

DATABASE: Final = "sandboxes.sqlite3"
LOCK: Final = "lock"
UNFINISHED: Final = "sandboxes.sqlite3.new"  # what is made gets its name when it is whole
APPLICATION_ID: Final = 0x52534C53  # "RSLS"
FORMAT: Final = 1
PAGE_BYTES: Final = 4096

LIFE_SHIFT: Final = 38  # 274 thousand million entries in a life
LIVES_MAX: Final = 1 << 25
BLOB_BYTES_MAX: Final = 64 * 1024 * 1024  # of an entry, a part or a head
NAME_CHARACTERS_MAX: Final = 1000  # of a sandbox, a mark or a part

KEPT: Final = 1
NOT_KEPT: Final = 0

SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lives (
    id INTEGER PRIMARY KEY, sandbox TEXT NOT NULL, number INTEGER NOT NULL, state INTEGER NOT NULL,
    floor INTEGER NOT NULL, floor_bytes INTEGER NOT NULL, crc INTEGER NOT NULL, head BLOB NOT NULL
);
CREATE UNIQUE INDEX lives_by_sandbox ON lives (sandbox) WHERE state = 1;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, bytes_up_to INTEGER NOT NULL, crc INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE marks (
    life INTEGER NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, note BLOB NOT NULL, PRIMARY KEY (life, name)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, life INTEGER NOT NULL, n INTEGER NOT NULL, bytes_up_to INTEGER NOT NULL,
    bytes_own INTEGER NOT NULL, state INTEGER NOT NULL
);
CREATE INDEX snapshots_by_life ON snapshots (life, n);
CREATE TABLE parts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE snapshot_parts (
    snapshot INTEGER NOT NULL, name TEXT NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (snapshot, name)
) WITHOUT ROWID;
CREATE INDEX snapshot_parts_by_part ON snapshot_parts (part);
"""
WRITTEN_BY: Final = "written_by"  # in `meta`: the version that opened it last, and whether it closed it: see `ends`
TABLES: Final = ("meta", "lives", "entries", "marks", "snapshots", "parts", "snapshot_parts")


def key_of(life: int, n: int) -> int:
    """The key of the `n`th row that a life has written to `entries`."""
    return life << LIFE_SHIFT | n


def n_of(key: int) -> int:
    """The number of a row within its life."""
    return key & ((1 << LIFE_SHIFT) - 1)


def keys_of(life: int) -> tuple[int, int]:
    """The first and the last key that rows of a life can have."""
    return key_of(life, 0), key_of(life + 1, 0) - 1


def is_whole(data: object, crc: object) -> bool:
    """Whether a value is what was written with this sum. One that is damaged can be of another type."""
    return isinstance(data, bytes) and zlib.crc32(data) == crc


def is_number(value: object) -> bool:
    """Whether a value can be the number of a life among those of its sandbox."""
    return isinstance(value, int) and value > 0
