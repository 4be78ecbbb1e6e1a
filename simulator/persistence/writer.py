"""What a store writes: lives, entries of tapes, marks and snapshots, as statements for the next commit.

The `StoreKeeper` and the snapshots call a `Writer` in the thread of the event loop. A store takes its statements, which
are valid in SQLite and in PostgreSQL, and executes them: the writer never touches the disk. `append` and `take` are the
path of each entry.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from simulator.persistence.errors import NoSandbox
from simulator.persistence.schema import LIFE_SHIFT, checksum, entry_keys, part_keys

Statement = tuple[str, Any]
EntryData = bytes | Callable[[], bytes]
"""The content of an entry, or a function that returns it when the entry is committed. Encoding all entries of a turn
in sequence takes half as long as encoding each between other work."""

_INSERT_ENTRY: Final = "INSERT INTO entries VALUES (?, ?, ?, ?, ?)"
_PUT_MARK: Final = """
INSERT INTO marks VALUES (?, ?, ?, ?, ?)
ON CONFLICT (life, name) DO UPDATE SET n = excluded.n, crc = excluded.crc, note = excluded.note
"""
_GARBAGE: Final = """
INSERT INTO garbage VALUES (?, ?, ?, ?)
ON CONFLICT (kind, first) DO UPDATE SET last = excluded.last, is_due = excluded.is_due
"""
_COMMIT_BYTES: Final = 12 * 1024  # of pages that a commit fills only in part
_NO_GARBAGE: Final = "DELETE FROM garbage WHERE kind = ? AND first = ?"
_RAISE_FLOOR: Final = "UPDATE lives SET floor = ?, floor_bytes = ?, crc = ? WHERE id = ?"


class SnapshotSize(NamedTuple):
    """A complete snapshot after entry `n`: its key, the bytes of the life before it, its own bytes, and its number of
    parts."""

    key: int
    n: int
    bytes_up_to: int
    size: int
    parts: int = 0


BEGINNING = SnapshotSize(0, 0, 0, 0)


@dataclass(frozen=True)
class Retention:
    """What is kept of a life, by number of snapshots and by bytes of entries and snapshots.

    A restart begins at the newest snapshot, or at an earlier snapshot or the beginning of the life when that cannot be
    used. So the rule keeps the last `snapshots` snapshots, and all entries. While they exceed `bytes_max`, it drops
    first the entries before the oldest of these snapshots, then the oldest snapshot with the entries up to the next.
    The newest snapshot and the entries after it are never dropped: they are the state.
    """

    snapshots: int = 3
    bytes_max: int = 512 * 1024 * 1024


def apply_retention(
    rule: Retention, snapshots: Sequence[SnapshotSize], floor: int, bytes_up_to: int
) -> list[SnapshotSize]:
    """Return what the rule keeps of the snapshots of a life, at least one; first comes the place that all kept entries
    are after, which is `BEGINNING` when all are kept.

    `snapshots` are ordered by `n`; entries up to `floor` are already removed; `bytes_up_to` is the number of bytes that
    the life has appended in total.
    """
    kept = [*([] if floor else [BEGINNING]), *snapshots[-rule.snapshots :]]
    while len(kept) > 1:
        if bytes_up_to - kept[0].bytes_up_to + sum(snapshot.size for snapshot in kept) <= rule.bytes_max:
            break
        kept.pop(0)
    return kept


@dataclass(slots=True, eq=False)
class StoredLife:
    """A life of a sandbox in the store."""

    key: int
    sandbox: str
    head: bytes  # scenario, seed and clock
    floor: int = 0  # the last entry that retention removed
    floor_bytes: int = 0  # of the entries up to it
    n: int = 0  # the last entry
    bytes_up_to: int = 0  # of the entries up to it, including removed ones
    marks: dict[str, int] = field(default_factory=dict)  # the entry before each mark, by name
    snapshots: list[SnapshotSize] = field(default_factory=list)  # complete, oldest first
    open_snapshot: int = 0  # the key of the unfinished snapshot


class Keys:
    """Issues the keys of new lives and snapshots, in ascending order."""

    def __init__(self, last_life: int = 0, last_snapshot: int = 0) -> None:
        self.last_life, self.last_snapshot = last_life, last_snapshot

    def next_life(self) -> int:
        self.last_life += 1
        return self.last_life

    def next_snapshot(self) -> int:
        self.last_snapshot += 1
        return self.last_snapshot


class Writer:
    """The lives of a store, and the statements of its next commit."""

    def __init__(self, lives: Iterable[StoredLife], keys: Keys, retention: Retention) -> None:
        self.lives = {life.sandbox: life for life in lives}
        self.keys = keys
        self.on_pending: Callable[[], object] = lambda: None  # called at the first write after `take`
        self.bytes = 0  # about what all commits have written
        self._retention = retention
        self._statements: list[Statement] = []
        self._entries: list[tuple[StoredLife, int, int, EntryData]] = []  # after those: life, n, time, content

    def take(self) -> list[Statement]:
        """Return the pending statements, which the caller commits."""
        self._write_entries()
        self.bytes += _COMMIT_BYTES
        statements, self._statements = self._statements, []
        return statements

    def life_of(self, sandbox: str) -> StoredLife:
        """Return the life of a sandbox. Raises `NoSandbox`."""
        if sandbox not in self.lives:
            raise NoSandbox(f"the store has no sandbox {sandbox!r}")
        return self.lives[sandbox]

    def new_life(self, sandbox: str, head: bytes) -> StoredLife:
        """Create a sandbox, or reset it and delete everything it has written."""
        life = self.begin_life(sandbox, head)
        self.activate_life(life)
        return life

    def begin_life(self, sandbox: str, head: bytes) -> StoredLife:
        """Begin a life that is invisible until `activate_life`; after a crash its entries are garbage."""
        life = StoredLife(self.keys.next_life(), sandbox, head)
        self.write(_GARBAGE, ("entries", *entry_keys(life.key), False))
        return life

    def activate_life(self, life: StoredLife) -> None:
        """Make this the life of the sandbox from the next commit on."""
        row = life.sandbox, life.floor, life.floor_bytes
        crc = checksum(*row, life.head)
        if life.sandbox in self.lives:
            self.forget(life.sandbox)
        self.write("INSERT INTO lives VALUES (?, ?, ?, ?, ?, ?)", (life.key, *row, crc, life.head))
        self.write(_NO_GARBAGE, ("entries", entry_keys(life.key)[0]))
        self.lives[life.sandbox] = life

    def forget(self, sandbox: str) -> None:
        """Remove a sandbox. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        del self.lives[sandbox]
        self.write("DELETE FROM lives WHERE id = ?", (life.key,))
        self.write("DELETE FROM marks WHERE life = ?", (life.key,))
        self._drop_snapshots(life, life.snapshots)
        self.abandon_life(life)

    def abandon_life(self, life: StoredLife) -> None:
        """Remove a life that was never visible."""
        self._close_snapshot(life)
        self.write(_GARBAGE, ("entries", *entry_keys(life.key), True))

    def append(self, life: StoredLife, at_us: int, data: EntryData) -> int:
        """Add an entry to a life. Returns its number."""
        life.n = n = life.n + 1
        self._entries.append((life, n, at_us, data))
        if len(self._entries) == 1 and not self._statements:
            self.on_pending()
        return n

    def _write_entries(self) -> None:
        contents = [data if isinstance(data, bytes) else data() for *_, data in self._entries]
        entries, self._entries = self._entries, []
        for (life, n, at_us, _), data in zip(entries, contents, strict=True):
            self.bytes += len(data)
            life.bytes_up_to = total = life.bytes_up_to + len(data)
            row = life.key << LIFE_SHIFT | n, at_us, total, checksum(n, at_us, total, data), data
            self._statements.append((_INSERT_ENTRY, row))

    def put_mark(self, life: StoredLife, name: str, n: int, note: bytes = b"") -> None:
        """Mark the moment after entry `n`; `note` is the caller's. Raises `ValueError` for a name that is not valid
        text."""
        self.write(_PUT_MARK, (life.key, name, n, checksum(name, n, note), note))
        life.marks[name] = n

    def drop_mark(self, sandbox: str, name: str) -> None:
        """Delete a mark, if it exists. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        life.marks.pop(name, None)
        self.write("DELETE FROM marks WHERE life = ? AND name = ?", (life.key, name))

    def begin_snapshot(self, sandbox: str) -> "SnapshotWriter":
        """Begin a snapshot after the last entry, discarding an unfinished snapshot. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        self._close_snapshot(life)
        life.open_snapshot = self.keys.next_snapshot()
        self.write(_GARBAGE, ("parts", *part_keys(life.open_snapshot), False))
        return SnapshotWriter(self, life)

    def retain(self, life: StoredLife) -> None:
        """Apply the retention rule to a life."""
        if not life.snapshots:
            return
        kept = apply_retention(self._retention, life.snapshots, life.floor, life.bytes_up_to)
        base = kept[0]
        for name in [name for name, n in life.marks.items() if n < base.n]:
            self.drop_mark(life.sandbox, name)
        self._drop_snapshots(life, [snapshot for snapshot in life.snapshots if snapshot not in kept])
        if base.n > life.floor:
            life.floor, life.floor_bytes = floor = base.n, base.bytes_up_to
            self.write(_RAISE_FLOOR, (*floor, checksum(life.sandbox, *floor, life.head), life.key))
            self.write(_GARBAGE, ("entries", *entry_keys(life.key, last=life.floor), True))

    def write(self, statement: str, values: Any) -> None:
        """Add a statement after everything that was written."""
        self._write_entries()
        self._statements.append((statement, values))
        self.bytes += sum(len(value) for value in values if isinstance(value, bytes))
        if len(self._statements) == 1:
            self.on_pending()

    def _close_snapshot(self, life: StoredLife) -> None:
        if life.open_snapshot:
            self.write(_GARBAGE, ("parts", *part_keys(life.open_snapshot), True))
            life.open_snapshot = 0

    def _drop_snapshots(self, life: StoredLife, snapshots: list[SnapshotSize]) -> None:
        for snapshot in snapshots:
            self.write("DELETE FROM snapshots WHERE id = ?", (snapshot.key,))
            self.write(_GARBAGE, ("parts", *part_keys(snapshot.key), True))
        life.snapshots = [snapshot for snapshot in life.snapshots if snapshot not in snapshots]


class SnapshotWriter:
    """Takes the parts of a snapshot, over any number of commits. The snapshot is valid once it is complete.

    Writes for a life that has ended, or for a snapshot that was discarded, are ignored.
    """

    def __init__(self, writer: Writer, life: StoredLife) -> None:
        self._writer = writer
        self._life = life
        self._key, self._n, self._bytes_up_to = life.open_snapshot, life.n, life.bytes_up_to
        self._count = self._size = 0

    def put(self, name: str, data: bytes) -> None:
        if self._is_open():
            self._count += 1
            self._size += len(data)
            row = part_keys(self._key)[0] + self._count, name, checksum(name, data), data
            self._writer.write("INSERT INTO parts VALUES (?, ?, ?, ?)", row)

    def complete(self) -> bool:
        """Complete the snapshot with the parts added so far, and apply the retention rule. Return False when the life
        has ended."""
        if not self._is_open():
            return False
        row = self._n, self._bytes_up_to, self._size, self._count
        values = self._key, self._life.key, *row, checksum(*row)
        self._writer.write("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        self._writer.write(_NO_GARBAGE, ("parts", part_keys(self._key)[0]))
        self._life.open_snapshot = 0
        self._life.snapshots.append(SnapshotSize(self._key, *row))
        self._writer.retain(self._life)
        return True

    def _is_open(self) -> bool:
        return self._life.open_snapshot == self._key
