"""What was committed, read in slices: nothing that is read keeps the log from beginning again, or is large in memory.

Callable in any thread. What is being read can go meanwhile, with its sandbox or by the rule of retention: `NoSandbox`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from simulator.persistence.errors import Damaged, NoSandbox
from simulator.persistence.failures import RESTORE, of_reading
from simulator.persistence.layout import KEPT, is_whole, key_of, keys_of, n_of
from simulator.persistence.writing import digest_of

_SLICE_ROWS = 512
_SLICE_PARTS = 64
_SLICE_BYTES = 4 * 1024 * 1024


class Entry(NamedTuple):
    """The `n`th of a life, counted from 1, with its time in microseconds as it was given."""

    n: int
    at_us: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox as it was committed. Its entries are those from `floor` + 1 to `n`. `key` is that of its life, which is
    not another's, while numbers of lives begin anew when it is deleted."""

    name: str
    life: int
    head: bytes
    floor: int
    n: int
    key: int


class Reading:
    """Reads one database."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def sandboxes(self) -> list[Sandbox]:
        """All of them, by name. Raises `Damaged`."""
        names = self._rows(
            "SELECT sandbox FROM lives WHERE state = ? ORDER BY sandbox",
            KEPT,
        )
        return [self.sandbox(name) for (name,) in names]

    def sandbox(self, name: str) -> Sandbox:
        """Raises `NoSandbox` or `Damaged`."""
        key, number, floor, crc, head = self._life(name)
        if not is_whole(head, crc):
            raise self._damaged("the head", name)
        (last,) = self._row("SELECT max(id) FROM entries WHERE id BETWEEN ? AND ?", *keys_of(key))
        return Sandbox(name, number, head, floor, max(floor, n_of(last) if last else 0), key)

    def entries(self, sandbox: str, n: int = 1, life: int | None = None) -> Iterator[Entry]:
        """Those from the `n`th on, which must be behind the floor; with the key of a `life`, only of that one. Raises
        `NoSandbox` or `Damaged`."""
        key, _, floor, _, _ = self._life(sandbox, life)
        if n <= floor:
            raise NoSandbox(f"the entries of sandbox {sandbox!r} up to {floor} are not kept any more")
        while rows := self._slice(key_of(key, n), keys_of(key)[1]):
            for row, at_us, crc, data in rows:
                if n_of(row) != n:
                    raise self._gap(sandbox, key, n)
                if not is_whole(data, crc):
                    raise self._damaged(f"entry {n}", sandbox)
                yield Entry(n, at_us, data)
                n += 1

    def last_at(self, sandbox: str, at_us: int) -> int:
        """The last entry that is not later, or the floor, of entries whose times never go back. Raises `NoSandbox`."""
        key, _, floor, _, _ = self._life(sandbox)
        low, high = floor, self.sandbox(sandbox).n
        while low < high:
            middle = (low + high + 1) // 2
            row = self._row("SELECT at_us FROM entries WHERE id = ?", key_of(key, middle))
            if row is None:
                raise self._gap(sandbox, key, middle)
            low, high = (middle, high) if row[0] <= at_us else (low, middle - 1)
        return low

    def marks(self, sandbox: str) -> dict[str, int]:
        """By name: the entry behind which it stands. Raises `NoSandbox`."""
        return {name: n for name, n, _ in self.noted_marks(sandbox)}

    def noted_marks(self, sandbox: str) -> list[tuple[str, int, bytes]]:
        """Name, entry and note of each mark, in the order of the entries. Raises `NoSandbox`."""
        key = self._life(sandbox)[0]
        return self._rows("SELECT name, n, note FROM marks WHERE life = ? ORDER BY n, name", key)

    def place(self, sandbox: str, count: int, apart: bytes, life: int | None = None) -> tuple[int, int]:
        """The number of the entry behind which `count` have come, those apart that begin so, and the bytes up to it.
        Those apart that follow it count with it. With the key of a `life` only of that one. Raises `NoSandbox`."""
        key, _, floor, _, _ = self._life(sandbox, life)
        first = (
            "SELECT id FROM entries WHERE id BETWEEN ? AND ? AND substr(data, 1, ?) <> ? ORDER BY id LIMIT 1 OFFSET ?"
        )
        low, high = keys_of(key)
        # What is committed between the two that follow would come behind the place, and not be known to.
        newest = self._row("SELECT max(id) FROM entries WHERE id BETWEEN ? AND ?", low, high)[0] or low
        row = self._row(first, low, newest, len(apart), apart, count)
        end = row[0] - 1 if row else newest
        last = self._row(
            "SELECT id, bytes_up_to FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", low, end
        )
        if floor:
            raise NoSandbox(f"the first entries of sandbox {sandbox!r} are not kept any more")
        return (n_of(last[0]), last[1]) if last else (0, 0)

    def snapshots(self, sandbox: str) -> list["StoredSnapshot"]:
        """The complete ones, oldest first. Raises `NoSandbox`."""
        key = self._life(sandbox)[0]
        rows = self._rows(
            "SELECT id, n, bytes_up_to FROM snapshots WHERE life = ? AND state = ? ORDER BY n, id", key, KEPT
        )
        return [StoredSnapshot(self, sandbox, *row) for row in rows]

    def snapshot(self, sandbox: str, n: int | None = None) -> "StoredSnapshot | None":
        """The newest complete one at or before entry `n`, or the newest of all. Raises `NoSandbox`."""
        found = [one for one in self.snapshots(sandbox) if n is None or one.n <= n]
        return found[-1] if found else None

    def parts_of(self, snapshot: int) -> dict[str, tuple[bytes, int]]:
        """By name: digest and key. Raises `Damaged`."""
        rows = self._rows(
            "SELECT name, digest, part FROM snapshot_parts LEFT JOIN parts ON parts.id = part WHERE snapshot = ?",
            snapshot,
        )
        if any(not isinstance(digest, bytes) for _, digest, _ in rows):
            raise Damaged(f"{self._path}: a part of a snapshot is missing: {RESTORE}")
        return {name: (digest, part) for name, digest, part in rows}

    def newest_parts(self, life: int) -> dict[str, tuple[bytes, int]]:
        """Those of the newest complete snapshot of a life; none without one."""
        row = self._row(
            "SELECT id FROM snapshots WHERE life = ? AND state = ? ORDER BY n DESC, id DESC LIMIT 1", life, KEPT
        )
        return self.parts_of(row[0]) if row else {}

    def part(self, sandbox: str, part: int, digest: bytes) -> bytes:
        """The data of a part. Raises `NoSandbox` or `Damaged`."""
        row = self._row(
            "SELECT data FROM parts WHERE id = ?",
            part,
        )
        if row is None:
            raise NoSandbox(f"the snapshot of sandbox {sandbox!r} is not kept any more")
        if not isinstance(row[0], bytes) or digest_of(row[0]) != digest:
            raise self._damaged("a snapshot", sandbox)
        return row[0]

    def contents(self, sandbox: str, snapshot: int, unchecked: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Name and data of all parts of a snapshot; of those whose names begin so, damage stays unseen here. Nothing
        may be written meanwhile. Raises `Damaged`."""
        found = self.parts_of(snapshot)
        try:
            ordered = sorted(found.items(), key=lambda one: one[1][1])  # as they lie on the disk
            keys = [part for _, (_, part) in ordered]
            for (name, (digest, _)), data in zip(ordered, self._parts(keys), strict=True):
                if not isinstance(data, bytes) or not (name.startswith(unchecked) or digest_of(data) == digest):
                    raise self._damaged(f"the part {name!r} of a snapshot", sandbox)
                yield name, data
        except sqlite3.Error as error:
            raise of_reading(error, self._path) from None

    def _parts(self, keys: list[int]) -> Iterator[bytes]:
        """The data of parts, whose keys are given in their order."""
        for begin in range(0, len(keys), _SLICE_PARTS):
            some = keys[begin : begin + _SLICE_PARTS]
            statement = f"SELECT data FROM parts WHERE id IN ({','.join('?' * len(some))}) ORDER BY id"  # noqa: S608 - ours
            rows = [data for (data,) in self._connection.execute(statement, some)]
            places = {key: place for place, key in enumerate(dict.fromkeys(some))}
            yield from (rows[places[key]] for key in some)

    def floor_bytes(self, sandbox: str) -> int:
        """How many bytes the entries up to the floor had. Raises `NoSandbox`."""
        key = self._life(sandbox)[0]
        row = self._row(
            "SELECT floor_bytes FROM lives WHERE id = ?",
            key,
        )
        return int(row[0]) if row else 0

    def _life(self, sandbox: str, life: int | None = None) -> tuple[int, int, int, int, bytes]:
        row: tuple[int, int, int, int, bytes] | None = self._row(
            "SELECT id, number, floor, crc, head FROM lives WHERE sandbox = ? AND state = ?", sandbox, KEPT
        )
        if row is None:
            raise NoSandbox(f"the store has no sandbox {sandbox!r}")
        if life not in (None, row[0]):
            raise NoSandbox(f"the sandbox {sandbox!r} began anew")
        return row

    def _slice(self, low: int, high: int) -> list[tuple[int, int, int, bytes]]:
        rows: list[tuple[int, int, int, bytes]] = []
        size = 0
        statement = "SELECT id, at_us, crc, data FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        for row in self._stepped(statement, low, high, _SLICE_ROWS):
            rows.append(row)
            size += len(row[3])
            if size > _SLICE_BYTES:
                break
        return rows

    def _row(self, statement: str, *values: object) -> Any:
        """The only one, or None."""
        return next(iter(self._rows(statement, *values)), None)

    def _rows(self, statement: str, *values: object) -> list[Any]:
        return list(self._stepped(statement, *values))

    def _stepped(self, statement: str, *values: object) -> Iterator[Any]:
        """Rows as they are read, of which none may be left for later: what is read from keeps the log."""
        try:
            with closing(self._connection.execute(statement, values)) as cursor:
                yield from cursor
        except sqlite3.Error as error:
            raise of_reading(error, self._path) from None

    def _gap(self, sandbox: str, key: int, n: int) -> Damaged | NoSandbox:
        """What it means that entry `n` is not there: is it gone, or lost?"""
        row = self._row("SELECT floor FROM lives WHERE id = ? AND state = ?", key, KEPT)
        if row is None or n <= row[0]:
            return NoSandbox(f"entry {n} of sandbox {sandbox!r} is not kept any more")
        return Damaged(f"{self._path}: entry {n} of sandbox {sandbox!r} is missing: {RESTORE}")

    def _damaged(self, what: str, sandbox: str) -> Damaged:
        return Damaged(f"{self._path}: {what} of sandbox {sandbox!r} is damaged: {RESTORE}")


class StoredSnapshot:
    """A complete snapshot, which stands behind entry `n`."""

    def __init__(self, reading: Reading, sandbox: str, key: int, n: int, bytes_up_to: int) -> None:
        self.n = n
        self.bytes_up_to = bytes_up_to
        self._reading = reading
        self._sandbox = sandbox
        self._key = key

    @cached_property
    def _parts(self) -> dict[str, tuple[bytes, int]]:
        return self._reading.parts_of(self._key)

    @property
    def names(self) -> list[str]:
        """Of its parts, sorted."""
        return sorted(self._parts)

    @property
    def digests(self) -> dict[str, bytes]:
        """Of its parts, by name: what has the same digest is the same."""
        return {name: self._parts[name][0] for name in self.names}

    def contents(self, unchecked: tuple[str, ...] = ()) -> Iterator[tuple[str, bytes]]:
        """All parts: see `Reading.contents`."""
        return self._reading.contents(self._sandbox, self._key, unchecked)

    def part(self, name: str) -> bytes:
        """Raises `KeyError`, `NoSandbox` (it is not kept any more) or `Damaged`."""
        digest, key = self._parts[name]
        return self._reading.part(self._sandbox, key, digest)
