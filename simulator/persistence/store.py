"""A store: the database of a folder that this process owns.

The methods of `writer` only queue statements. `request_commit`, once per turn of an event loop, writes all of them or
nothing, and reports the result. `writer`, `request_commit` and `close` belong to one thread; `reader` may be used in
any thread, and sees committed data.

Under `process` a commit runs in the calling thread, in some hundred microseconds, and ends in the page cache of the
operating system: it survives a kill of the process. Under `power` a thread commits and waits for the disk; requests
made meanwhile are grouped into the next commit. A second thread checkpoints the log when it has grown: mostly in
parallel with commits, the rest between two commits, after which the log restarts.
"""

import os
import sqlite3
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from simulator.persistence.database import Ownership, convert_format_1, create, format_of, make_folder
from simulator.persistence.errors import RESTORE, DamagedStore, StoreError, WriteFailed
from simulator.persistence.gate import CommitCallback, call_waiting
from simulator.persistence.reader import Reader
from simulator.persistence.schema import DATABASE, LIFE_SHIFT, SNAPSHOT_SHIFT, connect, reading_errors, writing_error
from simulator.persistence.writer import Keys, Retention, Statement, Writer

Durability = Literal["process", "power"]
LOG_BYTES: Final = 16 * 1024 * 1024
_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
_SWEPT_ROWS: Final = {"entries": 256, "parts": 16}
"""The number of garbage rows that a commit removes."""


class Store(AbstractContextManager["Store"]):
    """An open folder, until `close` or the end of the process."""

    def __init__(
        self,
        folder: Path | str,
        durability: Durability = "process",
        *,
        version: str,
        retention: Retention | None = None,
        log_bytes: int = LOG_BYTES,
    ) -> None:
        """Own a folder and open or create it; a folder of an earlier version is converted. `version` is the version of
        the program, for the messages of older programs; the log is checkpointed after about `log_bytes`, and is
        overwritten from then on, which costs less than to write a new file. Raises `Unusable` or `DamagedStore`; then
        it changes nothing."""
        self.folder = Path(folder)
        self.path = self.folder / DATABASE
        self.place = str(self.path)
        self._log_bytes = self._log_due = log_bytes
        self._lock = Lock()
        self._waiting: deque[tuple[list[Statement], CommitCallback]] = deque()
        self._commits_in_thread = durability == "power"
        self._committer = ThreadPoolExecutor(1, "store")
        self._checkpointer = ThreadPoolExecutor(1, "checkpoint")
        self._failure: StoreError | None = None
        self._given_up: StoreError | None = None
        self._is_closed = False
        self.is_swept = False  # True when a commit has found no garbage; each removes a little, even an empty one
        self._connections: list[sqlite3.Connection] = []
        make_folder(self.folder)
        self._ownership = Ownership(self.folder)
        try:
            _prepare(self.path, self._ownership, version)
            with reading_errors(self.path):
                self._db = self._connection(_SYNCHRONOUS[durability])
                self.reader = Reader(self._connection().execute, self.path)
                self.writer = Writer(self.reader.lives(), _last_keys(self._db), retention or Retention())
                # Proves that the database is writable, and removes the unfinished work of a killed process.
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('written_by', ?)", (version,))
                self._db.execute("UPDATE garbage SET is_due = 1")
            self._ownership.announce()
        except BaseException:
            self._release()
            raise

    def request_commit(self, on_commit: CommitCallback) -> None:
        """See `Storage`. `on_commit` is called before this returns under `process`, in another thread under `power`."""
        if self._is_closed or self._given_up is not None:
            on_commit(self._given_up or WriteFailed("the store is closed"))
            return
        self._waiting.append((self.writer.take(), on_commit))
        if self._commits_in_thread:
            self._committer.submit(self._commit_waiting)
        else:
            self._commit_waiting()

    def give_up(self, error: StoreError) -> None:
        """See `Storage`. Committed data and earlier commit requests stay."""
        self._given_up = error

    def commit(self) -> None:
        """Commit, and wait for it. Raises `StoreError`."""
        result: Future[StoreError | None] = Future()
        self.request_commit(result.set_result)
        if (error := result.result()) is not None:
            raise error

    def compact(self) -> None:
        """Apply the retention rule to all lives, remove the garbage, and free the space. Raises `StoreError`.

        An interruption changes nothing, or leaves some garbage.
        """
        for life in self.writer.lives.values():
            self.writer.retain(life)
        self.commit()
        while not self.is_swept:
            self.commit()
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise writing_error(error, self.path) from None

    def import_all(self, statements: Iterable[Statement]) -> None:
        """Commit these statements, which may be more than the memory holds, with lives that the writer does not know.
        Raises `StoreError`; then nothing was written."""
        with self._lock:
            error = self._commit(statements)
        if error is not None:
            raise error
        self.writer.lives = {life.sandbox: life for life in self.reader.lives()}
        self.writer.keys = _last_keys(self._db)

    def close(self) -> None:
        """Commit the queue, checkpoint the log, and release the folder. Raises `StoreError`.

        The folder is released in any case. Further calls do nothing.
        """
        if self._is_closed:
            return
        try:
            if self._given_up is None and self._failure is None:
                self.commit()
        finally:
            self._is_closed = True
            self._release()

    def _connection(self, synchronous: str = "NORMAL") -> sqlite3.Connection:
        db = connect(self.path)
        self._connections.append(db)
        db.execute("PRAGMA journal_mode = WAL")  # a copy by `data backup` is not, yet
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute(f"PRAGMA journal_size_limit = {2 * self._log_bytes}")
        return db

    def _release(self) -> None:
        self._committer.shutdown()
        self._checkpointer.shutdown()
        for db in reversed(self._connections):
            db.close()  # the last one brings the log into the database
        self._ownership.release()

    def _commit_waiting(self) -> None:
        with self._lock:
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            error = self._commit([act for batch, _ in waiting for act in batch])
        for _, on_commit in waiting:
            call_waiting(partial(on_commit, error))

    def _commit(self, batch: Iterable[Statement]) -> StoreError | None:
        if self._failure is None:
            try:
                self._run(batch)
                os.stat(f"{self.place}-wal")  # raises when the files were removed
                if self.writer.bytes >= self._log_due:
                    self._log_due = self.writer.bytes + self._log_bytes
                    self._checkpointer.submit(self._bring_in_log)
            except BaseException as error:  # after any error, the disk lacks data that memory has
                self._failure = writing_error(error, self.path)
                if not isinstance(error, Exception):
                    raise
        return self._failure

    def _run(self, batch: Iterable[Statement]) -> None:
        if not batch and self.is_swept:
            return
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for statement, rows in groupby(batch, itemgetter(0)):
                self._db.executemany(statement, (values for _, values in rows))
                self.is_swept &= "garbage" not in statement
            if not self.is_swept:
                self._sweep()

    def _sweep(self) -> None:
        """Remove some garbage rows."""
        row = self._db.execute("SELECT kind, first, last FROM garbage WHERE is_due LIMIT 1").fetchone()
        if row is None:
            self.is_swept = True
        else:
            kind, first, last = row
            rows = f"SELECT id FROM {kind} WHERE id BETWEEN ? AND ? LIMIT ?"
            removed = self._db.execute(f"DELETE FROM {kind} WHERE id IN ({rows})", (first, last, _SWEPT_ROWS[kind]))
            if removed.rowcount < _SWEPT_ROWS[kind]:
                self._db.execute("DELETE FROM garbage WHERE kind = ? AND first = ?", (kind, first))

    def _bring_in_log(self) -> None:
        with suppress(sqlite3.Error), closing(connect(self.path)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            with self._lock:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def __exit__(self, *_: object) -> None:
        self.close()


def _prepare(path: Path, ownership: Ownership, version: str) -> None:
    """Create the database of an owned folder, or convert it. Raises `StoreError`."""
    found = 0
    if path.exists():
        with reading_errors(path), closing(connect(path)) as db:
            found = format_of(db, path)
    if found == 0 and ownership.had_store:
        raise DamagedStore(f"{path}: is missing or empty: {RESTORE}; or empty this folder to begin again")
    if found == 0:
        create(path, version)
    elif found == 1:
        convert_format_1(path, version)


def _last_keys(db: sqlite3.Connection) -> Keys:
    """Return the highest keys of lives and snapshots in use in the database. Raises `sqlite3.Error`."""
    return Keys(_last_key(db, "lives", "entries", LIFE_SHIFT), _last_key(db, "snapshots", "parts", SNAPSHOT_SHIFT))


def _last_key(db: sqlite3.Connection, owners: str, rows: str, shift: int) -> int:
    found = (
        db.execute(f"SELECT coalesce(max(id), 0) FROM {owners}"),
        db.execute(f"SELECT coalesce(max(id), 0) >> ? FROM {rows}", (shift,)),
        db.execute("SELECT coalesce(max(first), 0) >> ? FROM garbage WHERE kind = ?", (shift, rows)),
    )
    return max(int(cursor.fetchone()[0]) for cursor in found)
