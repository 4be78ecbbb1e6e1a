"""Maintenance of a folder that a server may have open: finding damage, compacting, backups, and moving sandboxes.

An exported sandbox is a database with the tables of a folder.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from simulator.persistence.database import create, open_to_read, reading_connection, refuse_no_store
from simulator.persistence.errors import RESTORE, DamagedStore, StoreError, Unusable
from simulator.persistence.reader import SLICE_ROWS, Reader
from simulator.persistence.schema import (
    DATABASE,
    ENTRY_SUM,
    LAST_ENTRY,
    LIFE_SHIFT,
    LIFE_SUM,
    MARK_SUM,
    PART_SUM,
    SNAPSHOT_SHIFT,
    SNAPSHOT_SUM,
    connect,
    entry_keys,
    part_keys,
    reading_errors,
)
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention, Statement, StoredLife, Writer

UNFINISHED: Final = ".unfinished"

More = Callable[[Reader], Iterable[str]]

_DAMAGE: Final = f"""
SELECT 'sandbox ' || quote(sandbox) || ': the head is damaged' FROM lives WHERE crc IS NOT {LIFE_SUM}
UNION ALL SELECT 'mark ' || quote(name) || ' of life ' || life || ' is damaged' FROM marks WHERE crc IS NOT {MARK_SUM}
UNION ALL SELECT 'a snapshot of life ' || life || ' is damaged' FROM snapshots WHERE crc IS NOT {SNAPSHOT_SUM}
UNION ALL SELECT 'the part ' || quote(name) || ' of a snapshot is damaged' FROM parts WHERE crc IS NOT {PART_SUM}
UNION ALL SELECT 'entries of life ' || life || ', which is in no sandbox' FROM
    (SELECT DISTINCT id >> {LIFE_SHIFT} AS life FROM entries WHERE NOT EXISTS
        (SELECT 1 FROM garbage WHERE kind = 'entries' AND entries.id BETWEEN first AND last))
    WHERE life NOT IN (SELECT id FROM lives)
UNION ALL SELECT 'parts of a snapshot that no sandbox has' WHERE EXISTS
    (SELECT 1 FROM parts WHERE id >> {SNAPSHOT_SHIFT} NOT IN (SELECT id FROM snapshots) AND NOT EXISTS
        (SELECT 1 FROM garbage WHERE kind = 'parts' AND parts.id BETWEEN first AND last))
UNION ALL SELECT 'a mark of life ' || life || ', which is in no sandbox' FROM marks
    WHERE life NOT IN (SELECT id FROM lives)
UNION ALL SELECT 'a snapshot of life ' || life || ', which is in no sandbox' FROM snapshots
    WHERE life NOT IN (SELECT id FROM lives)
UNION ALL SELECT 'a snapshot of life ' || life || ' has ' || found || ' of ' || parts || ' parts' FROM
    (SELECT life, parts, (SELECT count(*) FROM parts p WHERE p.id >> {SNAPSHOT_SHIFT} = snapshots.id) AS found
        FROM snapshots)
    WHERE found <> parts
"""

_ENTRIES: Final = "SELECT * FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
_MARKS: Final = "SELECT name, n, crc, note FROM marks WHERE life = ?"
_PARTS: Final = "SELECT * FROM parts WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1"
_SNAPSHOTS: Final = "SELECT id, n, bytes_up_to, size, parts, crc FROM snapshots WHERE life = ?"


@dataclass
class StoreCheck:
    """The result of a check. `problems` has a line for each problem, but only for the first damaged entry of a sandbox;
    the folder is intact when it is empty. Answers to requests that waited count as separate `entries`."""

    sandboxes: int = 0
    entries: int = 0
    snapshots: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Return the result as a single line."""
        numbers = self.sandboxes, self.entries, self.snapshots, self.bytes
        counts = ", ".join(map(_counted, numbers, ("sandbox", "line", "snapshot", "byte")))
        return f"{_counted(len(self.problems), 'problem') if self.problems else 'undamaged'}: {counts}"


def check(folder: Path, more: More = lambda reader: ()) -> StoreCheck:
    """Check everything in a folder, read-only and as of a single commit; an intact folder is also checked by `more`,
    which yields a line per problem. Raises `Unusable`; any damage is in the result."""
    checked = StoreCheck(bytes=_bytes_of(folder))
    path = folder / DATABASE
    try:
        with reading_connection(folder) as db:
            checked.problems += [f"{path}: {problem}" for problem in problems_of(db, checked)]
            if not checked.problems:
                checked.problems += [f"{folder}: {problem}" for problem in more(Reader(db.execute, path))]
    except DamagedStore as damaged:
        checked.problems.append(str(damaged))
    return checked


def problems_of(db: sqlite3.Connection, checked: StoreCheck) -> Iterator[str]:
    """Yield the problems of a database, and count its contents."""
    try:
        for (line,) in db.execute("PRAGMA integrity_check"):
            if line != "ok":
                yield " ".join(line.split())
        for (line,) in db.execute(_DAMAGE):
            yield str(line)
        for sandbox, life, floor, size in db.execute("SELECT sandbox, id, floor, floor_bytes FROM lives"):
            checked.sandboxes += 1
            for problem in _problems_of_life(db, checked, life, floor, size):
                yield f"sandbox {sandbox!r}: {problem}"
    except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:  # values can be damaged, too
        yield f"damaged ({error})"


def compact(folder: Path, *, version: str, retention: Retention | None = None, more: More = lambda reader: ()) -> str:
    """Apply the retention rule, and free the space. Returns a summary line. Raises `StoreError`; then nothing has
    changed, or only garbage is removed.

    Refuses a folder that fails `check` with `more`, since the dropped data might be needed for its recovery.
    """
    refuse_no_store(folder)
    before = _bytes_of(folder)
    with Store(folder, version=version, retention=retention) as store:
        if problems := check(folder, more).problems:
            others = f" (and {len(problems) - 1} more: `data check` says which)" if len(problems) > 1 else ""
            raise DamagedStore(f"{problems[0]}{others}; nothing was compacted, since {folder} is damaged")
        store.compact()
    return f"compacted: {before} bytes before, {_bytes_of(folder)} after"


def back_up(folder: Path, target: Path) -> int:
    """Copy a folder as of a single commit into an empty or new folder, even while a server uses it; its log grows
    meanwhile. Returns the bytes of the copy. Raises `StoreError` without leaving a copy."""
    _refuse_used_target(folder, target)
    path = target / f"{DATABASE}{UNFINISHED}"
    with reading_connection(folder) as db:
        db.execute("COMMIT")  # a copy is one statement, and allowed only outside of a transaction
        try:
            target.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            # The original contains secrets, so the copy gets its permissions regardless of the umask.
            mode = stat.S_IMODE((folder / DATABASE).stat().st_mode)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            db.execute("VACUUM INTO ?", (str(path),))
            with path.open("r+b") as file:
                os.fsync(file.fileno())
            path.replace(target / DATABASE)
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                path.unlink()
            raise _unwritable_target(target, error) from None
    return _bytes_of(target)


def export_sandbox(reader: Reader, sandbox: str, file: Path, *, version: str) -> None:
    """Write a sandbox of a folder or a database, which servers may use, to a new file. Raises `StoreError`, and leaves
    the file incomplete then."""
    create(file, version, "DELETE")
    with reading_errors(file), closing(connect(file)) as db, db:
        db.execute("BEGIN IMMEDIATE")
        life = reader.life(sandbox)
        for statement, values in _copy_statements(reader, life, life.key, {}):
            db.execute(statement, values)
        for problem in problems_of(db, StoreCheck()):
            raise DamagedStore(f"{reader.name}: {problem}: {RESTORE}")


@contextmanager
def exported_reader(file: Path) -> Iterator[Reader]:
    """Open the file of a sandbox for reading. Raises `DamagedStore` if it is incomplete, or is another kind of file."""
    file.open("rb").close()  # an `OSError` says best why it cannot be read
    try:
        db = open_to_read(file)
    except StoreError as error:
        text = "it is not an exported sandbox, or it is damaged: `reseller-sim data export DIR FILE` writes one"
        raise DamagedStore(f"{text} ({error})") from None
    with closing(db):
        for problem in problems_of(db, checked := StoreCheck()):
            raise DamagedStore(f"it is damaged ({problem}): export it again")
        if checked.sandboxes != 1:
            raise DamagedStore(f"it has {checked.sandboxes} sandboxes: `reseller-sim data export DIR FILE` writes one")
        yield Reader(db.execute, file)


def import_sandbox(store: Store, file: Path, *, replaces: bool = False) -> str:
    """Import the sandbox of a file and return its name; with `replaces` it replaces the sandbox of its name. Also
    commits the queue. Raises `Unusable`, `DamagedStore` (the file) and `WriteFailed` without adding anything."""
    with exported_reader(file) as reader:
        (found,) = reader.lives()
        store.import_all(import_statements(reader, found, store.writer, store.folder, replaces=replaces))
    return found.sandbox


def import_statements(
    reader: Reader, found: StoredLife, writer: Writer, place: object, *, replaces: bool
) -> Iterator[Statement]:
    """Return the statements that write a life of `reader` into the store of `writer`, which messages call `place`.
    Raises `Unusable` for a sandbox that the store has, unless it is replaced."""
    if found.sandbox in writer.lives:
        if not replaces:
            hint = "give --replace to replace it, or import it elsewhere"
            raise Unusable(f"{place}: has a sandbox {found.sandbox!r} already: {hint}")
        writer.forget(found.sandbox)
    snapshots = {snapshot.key: writer.keys.next_snapshot() for snapshot in found.snapshots}
    return chain(writer.take(), _copy_statements(reader, found, writer.keys.next_life(), snapshots))


def _copy_statements(reader: Reader, life: StoredLife, key: int, snapshots: Mapping[int, int]) -> Iterator[Statement]:
    """Yield the statements that write a life under another key and with other keys of snapshots."""
    insert = partial("INSERT INTO {} VALUES ({})".format)
    ((_, *row),) = reader.rows("SELECT * FROM lives WHERE id = ?", life.key)
    yield insert("lives", "?, ?, ?, ?, ?, ?"), (key, *row)
    low, high = entry_keys(life.key, life.floor + 1)
    while rows := reader.rows(_ENTRIES, low, high, SLICE_ROWS):
        low = rows[-1][0] + 1
        for entry, *values in rows:
            yield insert("entries", "?, ?, ?, ?, ?"), (entry + ((key - life.key) << LIFE_SHIFT), *values)
    for values in reader.rows(_MARKS, life.key):
        yield insert("marks", "?, ?, ?, ?, ?"), (key, *values)
    for snapshot, *values in reader.rows(_SNAPSHOTS, life.key):
        new = snapshots.get(snapshot, snapshot)
        low, high = part_keys(snapshot)
        while parts := reader.rows(_PARTS, low, high):
            ((part, *content),) = parts
            low = part + 1
            yield insert("parts", "?, ?, ?, ?"), (part + ((new - snapshot) << SNAPSHOT_SHIFT), *content)
        yield insert("snapshots", "?, ?, ?, ?, ?, ?, ?"), (new, key, *values)


def _refuse_used_target(folder: Path, target: Path) -> None:
    """Raise `Unusable` unless the target is a new or empty folder for a copy."""
    try:
        if folder.resolve() in (target.resolve(), *target.resolve().parents):
            raise Unusable(f"{target}: is the folder to save, or inside it: give a folder elsewhere")
        if not target.exists():
            return
        if not target.is_dir():
            raise Unusable(f"{target}: is a file: give a folder")
        if any(entry.name != f"{DATABASE}{UNFINISHED}" for entry in target.iterdir()):
            raise Unusable(f"{target}: has files already: give an empty or a new folder")
    except (OSError, RuntimeError) as error:  # the latter for a link to itself
        raise _unwritable_target(target, error) from None


def _unwritable_target(target: Path, error: Exception) -> Unusable:
    reason = error.strerror if isinstance(error, OSError) else error
    return Unusable(f"{target}: cannot be written ({reason}): give a writable folder with free space")


def _problems_of_life(db: sqlite3.Connection, checked: StoreCheck, life: int, floor: int, size: int) -> Iterator[str]:
    last = floor
    rows = db.execute(
        f"SELECT id & {LAST_ENTRY}, bytes_up_to, length(data), crc IS {ENTRY_SUM} FROM entries "
        "WHERE id BETWEEN ? AND ? ORDER BY id",
        entry_keys(life, floor + 1),
    )
    for n, bytes_up_to, length, is_whole in rows:
        checked.entries += 1
        if n != last + 1:
            yield f"entry {last + 1} is missing" if n == last + 2 else f"entries {last + 1} to {n - 1} are missing"
            return
        if not is_whole or bytes_up_to != size + length:
            yield f"entry {n} is damaged"
            return
        last, size = n, bytes_up_to
    for name, n in db.execute("SELECT name, n FROM marks WHERE life = ?", (life,)):
        if not floor <= n <= last:
            yield f"mark {name!r} is at {n}, outside the entries"
    for (n,) in db.execute("SELECT n FROM snapshots WHERE life = ?", (life,)):
        checked.snapshots += 1
        if not floor <= n <= last:
            yield f"a snapshot is at {n}, outside the entries"


def _bytes_of(folder: Path) -> int:
    paths = (folder / DATABASE, folder / f"{DATABASE}-wal")
    return sum(path.stat().st_size for path in paths if path.exists())


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing if number == 1 else thing + ('es' if thing.endswith('x') else 's')}"
