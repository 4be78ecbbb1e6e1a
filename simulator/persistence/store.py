"""A store: a folder that this process owns, in which sandboxes are kept.

`append`, `put_mark` and the others of `writing` only list what is to be written. `request_commit`, once for each
turn of an event loop, writes all of it or nothing, and says so. `writing`, `request_commit` and `close` belong to one
thread; `reading` may be used in any, and sees what was committed.
"""

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from simulator.persistence import ends
from simulator.persistence.committing import LOG_BYTES, Committer, Done, Durability
from simulator.persistence.errors import StoreError
from simulator.persistence.failures import of_writing, reading_errors
from simulator.persistence.layout import DATABASE
from simulator.persistence.lives import load_lives
from simulator.persistence.opening import connect, create, examined, own, refuse_what_lacks_tables, sign
from simulator.persistence.ownership import Ownership
from simulator.persistence.reading import Reading
from simulator.persistence.retention import Retention
from simulator.persistence.sweeping import Sweeper
from simulator.persistence.transactions import Transactions
from simulator.persistence.writing import Counters, Writing

_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


class Store:
    """An open one. `open` makes it; `close` ends it, or the end of the process."""

    def __init__(
        self,
        folder: Path,
        ownership: Ownership,
        connections: list[sqlite3.Connection],
        durability: Durability,
        retention: Retention,
        log_bytes: int,
        version: str,
    ) -> None:
        commits, checkpoints, reads = connections
        self.missing = ""  # what was lost when the power failed, in a line
        self.folder = folder
        self.path = folder / DATABASE
        self.reading = Reading(reads, self.path)
        self.writing = Writing(load_lives(commits, self.path), _counters(commits), self.reading.newest_parts)
        sweeper = Sweeper(commits)
        sweeper.find()
        self._is_closed = False
        self._given_up: StoreError | None = None
        self._ownership = ownership
        self._connections = connections
        ends.refuse_what_is_missing(commits, self.path)
        sign(commits, version, self.path)
        ownership.announce(durability)
        self._transactions = Transactions(commits, folder, retention, sweeper)
        self._committer = Committer(self._transactions, checkpoints, durability, log_bytes)

    @classmethod
    def open(
        cls,
        folder: Path | str,
        durability: Durability = "process",
        *,
        version: str,
        retention: Retention | None = None,
        log_bytes: int = LOG_BYTES,
    ) -> "Store":
        """Own the folder and open what is in it; make it where nothing is.

        `version` is that of the program, for the message of an older one. `log_bytes` is how far the write-ahead log
        grows before it is brought into the database. Raises `InUse`, `Unusable`, `Newer` or `Damaged`, and then has
        changed nothing, but for an empty folder and its lock.
        """
        folder = Path(folder)
        ownership = own(folder)
        connections: list[sqlite3.Connection] = []
        try:
            if not (folder / DATABASE).exists():
                create(folder, version)
            missing = examined(folder, ownership)
            with reading_errors(folder / DATABASE):
                for _ in range(3):
                    connections.append(connect(folder, _SYNCHRONOUS[durability]))
                refuse_what_lacks_tables(connections[0], folder / DATABASE)
                store = cls(folder, ownership, connections, durability, retention or Retention(), log_bytes, version)
            store.missing = missing
            return store
        except BaseException:
            for connection in connections:
                connection.close()
            ownership.mark_closed()
            ownership.release()
            raise

    @property
    def failure(self) -> StoreError | None:
        """What ended all commits, if something did."""
        return self._given_up or self._transactions.failure

    @property
    def is_swept(self) -> bool:
        """Whether all that is not kept is removed. Each commit removes a little, an empty one, too."""
        return not self._transactions.sweeper

    def request_commit(self, done: Done) -> None:
        """Commit all that is listed so far, and call `done` with the error, or None when it is durable.

        Under `process` mostly before this returns, and else in another thread, as always under `power`; in the order
        of the requests. `done` must not wait for the store. After an error every further one ends with it.
        """
        if self._given_up is not None:
            done(self._given_up)
        else:
            self._committer.request(self.writing.take(), done)

    def give_up(self, error: StoreError) -> None:
        """Write nothing from now on, also not what is listed, which is not all that it should be. What was committed,
        or asked to be, stays."""
        self._given_up = error

    def commit(self) -> None:
        """Commit, and wait for it. Raises `StoreError`."""
        errors: list[StoreError | None] = []
        is_done = threading.Event()

        def done(error: StoreError | None) -> None:
            errors.append(error)
            is_done.set()

        self.request_commit(done)
        is_done.wait()
        if errors[0] is not None:
            raise errors[0]

    def compact(self) -> None:
        """Apply the rule of retention to all, remove what is not kept, and give the space back. Raises `StoreError`.

        Takes as long as it takes to write everything, and as much free space. What interrupts it changes nothing."""
        self.writing.pending.lives_with_snapshots.extend(life.key for life in self.writing.lives.values())
        self.commit()
        while not self.is_swept:
            self.commit()
        try:
            # Earlier versions made this one, and never wrote to it.
            self._connections[0].execute("DROP TABLE IF EXISTS packs")
            self._connections[0].execute("VACUUM")
            self._connections[0].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise of_writing(error, self.path) from None

    def close(self) -> None:
        """Commit what is listed, bring the log into the database, and let go of the folder. Raises `StoreError`.

        The folder is let go of, however that ends. Once is enough.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self.failure is None:
                self.commit()
        finally:
            self._committer.close()
            if self.failure is None:
                with suppress(sqlite3.Error):  # then nothing is missed the next time
                    ends.note(self._connections[0])
            self._let_go()

    def _let_go(self) -> None:
        for connection in reversed(self._connections):
            connection.close()  # the last one brings the log into the database
        self._ownership.mark_closed()
        self._ownership.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _counters(connection: sqlite3.Connection) -> Counters:
    life, snapshot, part, named = [
        connection.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0]  # noqa: S608 - ours
        for key, table in (("id", "lives"), ("id", "snapshots"), ("id", "parts"), ("snapshot", "snapshot_parts"))
    ]
    return Counters(life + 1, max(snapshot, named) + 1, part + 1)
