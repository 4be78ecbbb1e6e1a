"""Removes what is not kept any more, a little with each commit, so that none takes long.

What is to be removed is out of sight already: a life or a snapshot that is not `KEPT`, entries up to the floor of a
life. So it does not matter when it goes, nor that a process is killed in between: `find` sees it when the store is
opened.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from simulator.persistence.layout import KEPT, NOT_KEPT, key_of, keys_of

BYTES_MAX = 4 * 1024 * 1024  # removed in one step, but for one row that is larger


@dataclass(frozen=True, slots=True)
class _Entries:
    life: int
    floor: int


@dataclass(frozen=True, slots=True)
class _Snapshot:
    key: int


@dataclass(frozen=True, slots=True)
class _Life:
    key: int


class Sweeper:
    """What is to be removed from one database, oldest first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._jobs: deque[_Entries | _Snapshot | _Life] = deque()

    def find(self) -> None:
        """What others have left. Raises `sqlite3.Error`."""
        execute = self._connection.execute
        self._jobs.extend(_Snapshot(key) for (key,) in execute("SELECT id FROM snapshots WHERE state = ?", (NOT_KEPT,)))
        unknown = "SELECT DISTINCT snapshot FROM snapshot_parts WHERE snapshot NOT IN (SELECT id FROM snapshots)"
        self._jobs.extend(_Snapshot(key) for (key,) in execute(unknown))
        self._jobs.extend(_Life(key) for (key,) in execute("SELECT id FROM lives WHERE state = ?", (NOT_KEPT,)))
        for key, floor in execute("SELECT id, floor FROM lives WHERE state = ? AND floor > 0", (KEPT,)).fetchall():
            self.add_entries(key, floor)

    def add_entries(self, life: int, floor: int) -> None:
        """The entries of a life up to number `floor`."""
        self._jobs.append(_Entries(life, floor))

    def add_snapshots(self, keys: Iterable[int]) -> None:
        """Snapshots, and those of their parts that no other one shares."""
        self._jobs.extend(map(_Snapshot, keys))

    def add_life(self, key: int) -> None:
        """A life with all that it has written."""
        self._jobs.append(_Life(key))

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def step(self, rows_max: int) -> None:
        """Remove up to `rows_max` rows, within a commit. Raises `sqlite3.Error`."""
        while self._jobs and rows_max > 0:
            removed = self._step(self._jobs[0], rows_max)
            if removed == 0:
                self._end(self._jobs.popleft())
            rows_max -= max(removed, 1)

    def _step(self, job: _Entries | _Snapshot | _Life, rows_max: int) -> int:
        if isinstance(job, _Entries):
            return self._remove_entries(key_of(job.life, 0), key_of(job.life, job.floor), rows_max)
        if isinstance(job, _Snapshot):
            return self._remove_parts(job.key, rows_max)
        low, high = keys_of(job.key)
        return self._remove_entries(low, high, rows_max)

    def _end(self, job: _Entries | _Snapshot | _Life) -> None:
        execute = self._connection.execute
        if isinstance(job, _Snapshot):
            execute("DELETE FROM snapshots WHERE id = ?", (job.key,))
        elif isinstance(job, _Life):
            keys = [key for (key,) in execute("SELECT id FROM snapshots WHERE life = ?", (job.key,))]
            execute("UPDATE snapshots SET state = ? WHERE life = ?", (NOT_KEPT, job.key))
            self.add_snapshots(keys)
            execute("DELETE FROM marks WHERE life = ?", (job.key,))
            execute("DELETE FROM lives WHERE id = ?", (job.key,))

    def _remove_entries(self, low: int, high: int, rows_max: int) -> int:
        rows = self._connection.execute(
            "SELECT id, length(data) FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
            (low, high, rows_max),
        ).fetchall()
        if not rows:
            return 0
        count = _within([size for _, size in rows])
        self._connection.execute("DELETE FROM entries WHERE id BETWEEN ? AND ?", (low, rows[count - 1][0]))
        return count

    def _remove_parts(self, snapshot: int, rows_max: int) -> int:
        rows = self._connection.execute(
            "SELECT name, length(data), part FROM snapshot_parts JOIN parts ON parts.id = part WHERE snapshot = ? "
            "ORDER BY name LIMIT ?",
            (snapshot, rows_max),
        ).fetchall()
        rows = rows[: _within([size for _, size, _ in rows])]
        self._connection.executemany(
            "DELETE FROM snapshot_parts WHERE snapshot = ? AND name = ?", [(snapshot, name) for name, _, _ in rows]
        )
        self._connection.executemany(
            "DELETE FROM parts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM snapshot_parts WHERE part = parts.id)",
            [(part,) for _, _, part in rows],
        )
        return len(rows)


def _within(sizes: Sequence[int]) -> int:
    """How many of the rows have no more than `BYTES_MAX` together; at least one of them."""
    totals = accumulate(sizes)
    return max(1, sum(total <= BYTES_MAX for total in totals))
