"""Exports a sandbox to a file, and imports it into this folder or another. The file is a database with the tables of a
folder."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from simulator.persistence.database import create, open_to_read, reading_connection, reading_mode
from simulator.persistence.errors import RESTORE, Damaged, Newer, SandboxExists, StoreError, reading_errors
from simulator.persistence.maintenance import Checked, problems_of
from simulator.persistence.reader import Reader
from simulator.persistence.schema import DATABASE, LIFE_SHIFT, SNAPSHOT_SHIFT, connect, entry_keys
from simulator.persistence.store import Store
from simulator.persistence.writer import Life

_COPY: Final = (
    "INSERT INTO lives SELECT :life, sandbox, floor, floor_bytes, crc, head FROM source.lives WHERE id = :from",
    f"INSERT INTO entries SELECT id + ((:life - :from) << {LIFE_SHIFT}), at_us, bytes_up_to, crc, data "
    "FROM source.entries WHERE id BETWEEN :first AND :last",
    "INSERT INTO marks SELECT :life, name, n, crc, note FROM source.marks WHERE life = :from",
    f"INSERT INTO parts SELECT p.id + (:added << {SNAPSHOT_SHIFT}), name, p.crc, data "
    "FROM source.snapshots s CROSS JOIN source.parts p "
    f"ON p.id BETWEEN s.id << {SNAPSHOT_SHIFT} AND ((s.id + 1) << {SNAPSHOT_SHIFT}) - 1 WHERE life = :from",
    "INSERT INTO snapshots SELECT id + :added, :life, n, bytes_up_to, size, parts, crc FROM source.snapshots "
    "WHERE life = :from",
)
"""Copies the life with the key `:from` of `source`; `:added` is added to the keys of its snapshots."""


def export_sandbox(folder: Path, sandbox: str, file: Path, *, version: str) -> None:
    """Write a sandbox of a folder, which a server may have open, to a new file. Raises `StoreError`, and leaves the
    file incomplete then."""
    path = folder / DATABASE
    create(file, version, "DELETE")
    with reading_connection(folder) as source, reading_errors(path), closing(connect(file)) as db:
        found = Reader(source, path).life(sandbox)
        db.execute("ATTACH ? AS source", (f"{path.absolute().as_uri()}?{reading_mode(path)}",))
        with db:
            db.execute("BEGIN IMMEDIATE")
            for statement in _COPY:
                db.execute(statement, _values(found, found.key, 0))
        for problem in problems_of(db, Checked()):
            raise Damaged(f"{folder}: {problem}: {RESTORE}")


@contextmanager
def exported_reader(file: Path) -> Iterator[Reader]:
    """Open the file of a sandbox for reading. Raises `Damaged` if it is incomplete, or is another kind of file."""
    file.open("rb").close()  # an `OSError` says best why it cannot be read
    try:
        db = open_to_read(file)
    except Newer:
        raise
    except StoreError:
        text = "it is not an exported sandbox, or it is damaged: `reseller-sim data export DIR FILE` writes one"
        raise Damaged(text) from None
    with closing(db):
        for problem in problems_of(db, checked := Checked()):
            raise Damaged(f"it is damaged ({problem}): export it again")
        if checked.sandboxes != 1:
            raise Damaged(f"it has {checked.sandboxes} sandboxes: `reseller-sim data export DIR FILE` writes one")
        yield Reader(db, file)


def import_sandbox(store: Store, file: Path, *, replaces: bool = False) -> str:
    """Import the sandbox of a file and return its name; with `replaces` it replaces the sandbox of its name. Also
    commits the queue. Raises `SandboxExists`, `Damaged` (the file) and `WriteFailed` without adding anything."""
    with exported_reader(file) as reader:
        (found,) = reader.lives()
    writer = store.writer
    if found.sandbox in writer.lives:
        if not replaces:
            hint = "give --replace to replace it, or import into another folder"
            raise SandboxExists(f"{store.folder}: has a sandbox {found.sandbox!r} already: {hint}")
        writer.forget(found.sandbox)
    values = _values(found, writer.keys.next_life(), writer.keys.last_snapshot)
    with store.attached(file):
        writer.write((statement, values) for statement in _COPY)
        store.commit()
    return found.sandbox


def _values(found: Life, life: int, added: int) -> dict[str, int]:
    first, last = entry_keys(found.key, found.floor + 1)
    return {"life": life, "from": found.key, "first": first, "last": last, "added": added}
