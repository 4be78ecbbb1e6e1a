"""What a store holds, as plain values that can be compared; and folders as a crash leaves them."""

import shutil
from pathlib import Path
from typing import Any

from simulator.persistence.layout import DATABASE, LOCK
from simulator.persistence.ownership import boot
from simulator.persistence.store import Store

VERSION = "1.2.3"
LOG = f"{DATABASE}-wal"


def held(store: Store) -> dict[str, Any]:
    """All that was committed, by sandbox."""
    return {one.name: held_of(store, one.name) for one in store.reading.sandboxes()}


def held_of(store: Store, sandbox: str) -> dict[str, Any]:
    """All that was committed of one sandbox."""
    reading = store.reading
    found = reading.sandbox(sandbox)
    return {
        "life": found.life,
        "head": found.head,
        "floor": found.floor,
        "entries": [tuple(entry) for entry in reading.entries(sandbox, found.floor + 1)],
        "marks": reading.marks(sandbox),
        "snapshots": [(one.n, {name: one.part(name) for name in one.names}) for one in reading.snapshots(sandbox)],
    }


def as_killed(folder: Path, target: Path) -> Path:
    """A copy of a folder in use, as the end of its process would leave it: nothing was closed."""
    target.mkdir()
    for path in folder.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, target)
    return target


def after_a_power_failure(folder: Path) -> None:
    """The machine was started since the store of this folder was open."""
    lock = folder / LOCK
    lock.write_text(lock.read_text().replace(f"boot={boot()}", "boot=of-another-time"))


def filled(folder: Path, entries: int = 20) -> dict[str, Any]:
    """Make a store with one sandbox, `shop`, that has some of everything, and close it. Returns what it holds."""
    with Store.open(folder, version=VERSION) as store:
        fill(store, "shop", entries)
        return held(store)


def fill(store: Store, sandbox: str, entries: int = 20) -> None:
    """Give a store a sandbox with some of everything, in commits of one entry."""
    writing = store.writing
    writing.new_life(sandbox, b"head of " + sandbox.encode())
    for number in range(1, entries + 1):
        writing.append(sandbox, 1_000 * number, f"entry {number} of {sandbox}".encode() * 9)
        if number % 8 == 0:
            writing.put_mark(sandbox, f"mark {number}")
            snapshot = writing.begin_snapshot(sandbox)
            snapshot.put("catalog", b"the same" * 99)
            snapshot.put("wallets", f"as of {number}".encode() * 99)
            snapshot.complete()
        store.commit()
