"""When commits happen, and where: in the caller's thread, or in one beside it.

`process`: a commit is made where it is asked for, in some hundred microseconds, and is in the log of the operating
system: it survives that the process is killed, but not that the power fails, which takes away the latest commits and
damages nothing. `power`: a thread commits and waits for the disk; what is asked for meanwhile goes together into the
next commit.

The log is brought into the database by the thread, with a connection of its own, when it has grown by `LOG_BYTES`.
Under `process` that goes on beside the commits, which can keep it from ever reaching the end of a log that grows
meanwhile. So at `LOG_BYTES_MAX` the thread takes the commits to itself until it has: what is asked for then is
answered by the thread, as soon as the disk has it, and nobody is held. A log that somebody reads from (a backup,
another program) cannot begin again; it grows until that is over.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Final, Literal

from simulator.persistence.errors import Closed, StoreError
from simulator.persistence.failures import of_writing
from simulator.persistence.transactions import Transactions
from simulator.persistence.writing import Pending

Durability = Literal["process", "power"]
Done = Callable[[StoreError | None], object]
LOG_BYTES: Final = 16 * 1024 * 1024
LOG_BYTES_MAX: Final = 64 * 1024 * 1024
CUT_HERE_MAX: Final = 2_000
"""A commit that removes more entries at once, which holds its thread for longer than a few milliseconds, is made in the
thread beside the caller's."""


class Committer:
    """Commits in the order of `request`, from one thread of the caller's and one of its own."""

    def __init__(
        self,
        transactions: Transactions,
        checkpoints: sqlite3.Connection,
        durability: Durability,
        log_bytes: int = LOG_BYTES,
    ) -> None:
        self._transactions = transactions
        self._checkpoints = checkpoints
        self._is_always_here = durability == "power"
        self._log_step, self._log_max = log_bytes, log_bytes * (LOG_BYTES_MAX // LOG_BYTES)
        self._log_due = log_bytes  # the length at which it is brought in
        self._log_held = self._log_max  # and at which the thread takes the commits to itself
        self._state = threading.Condition()
        self._waiting: list[tuple[Pending, Done]] = []
        self._is_inline = False  # the caller's thread is committing
        self._is_here = self._is_always_here  # the thread commits
        self._is_closing = False
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def request(self, pending: Pending, done: Done) -> None:
        """Commit, and call `done` with what went wrong, or None: before this returns, or later from the thread."""
        with self._state:
            if self._is_closing:
                error: StoreError | None = Closed("the store is closed")
            elif self._is_here or self._is_log_full() or pending.entries_cut > CUT_HERE_MAX:
                self._is_here = True
                self._waiting.append((pending, done))
                self._state.notify_all()
                return
            else:
                self._is_inline, error = True, None
        if error is None:
            try:
                error = self._transactions.run([pending])
            finally:
                with self._state:
                    self._is_inline = False
                    if self._is_here or self._is_checkpoint_due():
                        self._state.notify_all()
        done(error)

    def close(self) -> None:
        """Commit what was asked for, and end the thread."""
        with self._state:
            self._is_closing = True
            self._state.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._waiting or self._is_closing or self._is_checkpoint_due())
                if self._is_closing and not self._waiting:
                    return
            if self._is_checkpoint_due():
                self._checkpoint()
            self._commit_waiting()

    def _commit_waiting(self) -> None:
        """Commit what has gathered, until nothing has; then the caller's thread may commit again."""
        while True:
            with self._state:
                batch, self._waiting = self._waiting, []
                if not batch:
                    self._is_here = self._is_always_here
                    return
            error = self._transactions.run([pending for pending, _ in batch])
            for _, done in batch:
                _call(done, error)

    def _is_checkpoint_due(self) -> bool:
        size = self._transactions.log_bytes
        if size < self._log_step:  # it has begun again
            self._log_due, self._log_held = self._log_step, self._log_max
        return size >= self._log_due and self._transactions.failure is None

    def _is_log_full(self) -> bool:
        return self._transactions.log_bytes >= self._log_held and self._transactions.failure is None

    def _checkpoint(self) -> None:
        """Bring the log into the database, so that a commit can begin it again."""
        is_whole = self._try_checkpoint(is_needed=False)
        with self._state:
            if not is_whole and self._is_log_full():
                self._is_here = True
            is_held = self._is_here and not self._is_always_here
            self._state.wait_for(lambda: not self._is_inline)
        if is_held:
            self._try_checkpoint(is_needed=True)
        size = self._transactions.log_bytes
        if is_held or size >= self._log_max:
            # The log is as long as it was until the next commit; and longer, as long as somebody reads from it.
            self._log_due = self._log_held = size + self._log_step
        else:
            self._log_due, self._log_held = min(size + self._log_step, self._log_max), self._log_max

    def _try_checkpoint(self, *, is_needed: bool) -> bool:
        """True when all of the log is in the database. A failure counts only when the log must not grow further."""
        try:
            is_busy, frames, done = self._checkpoints.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            if is_needed:
                self._transactions.fail(of_writing(error, self._transactions.database))
            return False
        return not is_busy and bool(frames == done)


def _call(done: Done, error: StoreError | None) -> None:
    """In the thread, which has to live on whatever its caller does: an event loop may be closed by now."""
    try:
        done(error)
    except Exception:
        logging.getLogger(__name__).exception("what waited for a commit failed")
