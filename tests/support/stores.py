"""The content of a store as plain, comparable values, and folders in the state after a crash."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

from simulator.persistence.schema import DATABASE, ENTRY_SUM, connect
from simulator.persistence.store import Store
from simulator.persistence.writer import Writer

VERSION = "1.2.3"
LOG = f"{DATABASE}-wal"


def held(store: Store) -> dict[str, Any]:
    """All that was committed, by sandbox."""
    return {one.sandbox: held_of(store, one.sandbox) for one in store.reader.lives()}


def held_of(store: Store, sandbox: str) -> dict[str, Any]:
    """Return all committed data of a sandbox."""
    reading = store.reader
    found = reading.life(sandbox)
    return {
        "head": found.head,
        "floor": found.floor,
        "entries": list(reading.entries(sandbox, found.floor + 1)),
        "marks": {name: n for name, n, _ in reading.marks(sandbox)},
        "snapshots": [(one.n, dict(reading.parts(one))) for one in found.snapshots],
    }


def as_killed(folder: Path, target: Path) -> Path:
    """A copy of a folder in use, as the end of its process would leave it: nothing was closed."""
    target.mkdir()
    for path in folder.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, target)
    return target


def filled(folder: Path, entries: int = 20) -> dict[str, Any]:
    """Make a store with one sandbox, `shop`, that has some of everything, and close it. Returns what it holds."""
    with Store(folder, version=VERSION) as store:
        fill(store, "shop", entries)
        return held(store)


def fill(store: Store, sandbox: str, entries: int = 20) -> None:
    """Add a sandbox with all kinds of data to a store. Each commit has a single entry."""
    writing = store.writer
    writing.new_life(sandbox, b"head of " + sandbox.encode())
    for number in range(1, entries + 1):
        append(writing, sandbox, 1_000 * number, f"entry {number} of {sandbox}".encode() * 9)
        if number % 8 == 0:
            put_mark(store, sandbox, f"mark {number}")
            snapshot = writing.begin_snapshot(sandbox)
            snapshot.put("catalog", b"the same" * 99)
            snapshot.put("wallets", f"as of {number}".encode() * 99)
            snapshot.complete()
        store.commit()


def append(writer: Writer, sandbox: str, at_us: int, data: bytes) -> int:
    """Add an entry to a sandbox. Returns its number."""
    return writer.append(writer.life_of(sandbox), at_us, data)


def put_mark(store: Store, sandbox: str, name: str, n: int | None = None, note: bytes = b"") -> None:
    """Name a moment of a sandbox: after entry `n`, or the last one."""
    life = store.writer.life_of(sandbox)
    store.writer.put_mark(life, name, life.n if n is None else n, note)


def rows(store: Store, statement: str) -> list[Any]:
    """Return the rows that a statement selects from the database of a store."""
    return store.reader.rows(statement)


def put_head(store: Store, sandbox: str, head: bytes) -> None:
    """Give a sandbox another head."""
    statement = "UPDATE lives SET head = ?1, crc = checksum(sandbox, floor, floor_bytes, ?1) WHERE sandbox = ?2"
    store.writer.write(statement, (head, sandbox))


def change_entries(folder: Path, before: bytes, after: bytes) -> int:
    """Replace text in all entries of a folder that is not open, and update their checksums. Return the number of
    changed entries."""
    with closing(connect(folder / DATABASE)) as db:
        rows = [(key, data) for key, data in db.execute("SELECT id, data FROM entries").fetchall() if before in data]
        for key, data in rows:
            db.execute("UPDATE entries SET data = ? WHERE id = ?", (data.replace(before, after), key))
        db.execute(f"UPDATE entries SET crc = {ENTRY_SUM}")  # noqa: S608 - ours
    return len(rows)
