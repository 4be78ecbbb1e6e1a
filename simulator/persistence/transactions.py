"""One commit: what is pending, what the rule of retention drops, and a little of what is to be removed.

After a commit that failed the database is as it was before, and stays so: no other commit follows. Since SQLite may
have written all of it to the log before the disk refused to make it durable, the log's end is overwritten, if that can
be done.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from simulator.persistence.errors import StoreError, WriteFailed
from simulator.persistence.failures import of_writing
from simulator.persistence.layout import DATABASE, KEPT, LOCK, NOT_KEPT, key_of, keys_of
from simulator.persistence.retention import Retention, Snapshot, what_is_kept
from simulator.persistence.sweeping import Sweeper
from simulator.persistence.writing import Pending

_SWEPT_ROWS = 64  # with every commit, and twice as many as it writes


class Transactions:
    """The commits of one connection, one at a time, in any thread. `failure` is what ended them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        retention: Retention,
        sweeper: Sweeper,
    ) -> None:
        self.failure: StoreError | None = None
        self.sweeper = sweeper
        self._connection = connection
        self._retention = retention
        self.database = folder / DATABASE
        self._log = folder / f"{DATABASE}-wal"
        self._lock = folder / LOCK
        self._files = self._identities()
        self._log_bytes = 0

    @property
    def log_bytes(self) -> int:
        """How long the write-ahead log was at the last commit."""
        return self._log_bytes

    def run(self, batch: Sequence[Pending]) -> StoreError | None:
        """Write all of the batch, or nothing of it. Returns what went wrong, now or before."""
        if self.failure is None:
            try:
                self._run(batch)
            except BaseException as error:  # whatever it was, what is in memory is not what is on disk
                self.fail(of_writing(error, self.database))
                if not isinstance(error, Exception):
                    raise
        return self.failure

    def fail(self, failure: StoreError) -> None:
        """End all commits."""
        self.failure = failure
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        with suppress(sqlite3.Error):
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('failed', ?)", (str(failure),))

    def _run(self, batch: Sequence[Pending]) -> None:
        if not self.sweeper and not any(batch):
            return
        self._connection.execute("BEGIN IMMEDIATE")
        rows = sum(self._write(pending) for pending in batch)
        for pending in batch:
            self._let_go(pending)
        self.sweeper.step(_SWEPT_ROWS + 2 * rows)
        if self._identities() != self._files:
            raise WriteFailed(f"{self.database.parent}: its files were removed or replaced while in use: start again")
        self._connection.execute("COMMIT")

    def _write(self, pending: Pending) -> int:
        """Returns the number of rows."""
        connection = self._connection
        for life, n in pending.cuts.items():
            self._cut(life, n)
        for statement, values in pending.statements:
            connection.execute(statement, values)
        crc = zlib.crc32
        rows = [(key, at_us, total, crc(data), data) for key, at_us, total, data in pending.entries]
        if rows:
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
        if pending.shares:
            connection.executemany("INSERT INTO snapshot_parts VALUES (?, ?, ?)", pending.shares)
        return len(rows) + len(pending.statements) + len(pending.shares)

    def _cut(self, life: int, n: int) -> None:
        """Remove what came behind entry `n` of a life, before others take the places of its entries."""
        execute = self._connection.execute
        execute("DELETE FROM entries WHERE id > ? AND id <= ?", (key_of(life, n), keys_of(life)[1]))
        execute("DELETE FROM marks WHERE life = ? AND n > ?", (life, n))
        later = "SELECT id FROM snapshots WHERE life = ? AND state = ? AND n > ?"
        self._drop_snapshots([key for (key,) in execute(later, (life, KEPT, n))])

    def _let_go(self, pending: Pending) -> None:
        self.sweeper.add_snapshots(pending.snapshots_gone)
        for life in pending.lives_gone:
            self.sweeper.add_life(life)
        for life in dict.fromkeys(pending.lives_with_snapshots):
            self.apply_retention(life)

    def apply_retention(self, life: int) -> None:
        """Within a transaction. Raises `sqlite3.Error`."""
        execute = self._connection.execute
        snapshots = [
            Snapshot(*row)
            for row in execute(
                "SELECT id, n, bytes_up_to, bytes_own FROM snapshots WHERE life = ? AND state = ? ORDER BY n, id",
                (life, KEPT),
            )
        ]
        row = execute("SELECT floor, floor_bytes FROM lives WHERE id = ?", (life,)).fetchone()
        if not snapshots or row is None:
            return
        marks = execute("SELECT name, n FROM marks WHERE life = ? ORDER BY n, name", (life,)).fetchall()
        last = execute(
            "SELECT bytes_up_to FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", keys_of(life)
        ).fetchone()
        kept = what_is_kept(self._retention, snapshots, marks, row[0], max(row[1], last[0] if last else 0))
        self._drop_marks(life, {name for name, _ in marks} - kept.marks)
        self._drop_snapshots([one.key for one in snapshots if one.key not in kept.snapshots])
        if kept.floor.n > row[0]:
            execute(
                "UPDATE lives SET floor = ?, floor_bytes = ? WHERE id = ?",
                (kept.floor.n, kept.floor.bytes_up_to, life),
            )
            self.sweeper.add_entries(life, kept.floor.n)

    def _drop_marks(self, life: int, names: Iterable[str]) -> None:
        self._connection.executemany("DELETE FROM marks WHERE life = ? AND name = ?", [(life, name) for name in names])

    def _drop_snapshots(self, keys: Sequence[int]) -> None:
        self._connection.executemany("UPDATE snapshots SET state = ? WHERE id = ?", [(NOT_KEPT, key) for key in keys])
        self.sweeper.add_snapshots(keys)

    def _identities(self) -> list[tuple[int, int]]:
        """Which files these are. SQLite goes on writing to one that has no name any more. Raises `OSError`."""
        found = [os.stat(path) for path in (self.database, self._lock, self._log)]
        self._log_bytes = found[-1].st_size
        return [(one.st_dev, one.st_ino) for one in found]
