"""The store of a server in PostgreSQL: group commits in a thread, and reading from a pool of connections.

A commit sends everything that was queued since the last one as a pipeline: one transaction, one round trip. Its first
statement checks that this server was not fenced, and numbers the commit. When the connection breaks, the commit is sent
again until PostgreSQL answers; the number shows whether it was made before.
"""

import threading
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import Any, Final, Literal, NamedTuple

import psycopg
from psycopg_pool import ConnectionPool

from simulator.persistence.errors import StoreError, WriteFailed
from simulator.persistence.gate import CommitCallback, call_waiting
from simulator.persistence.reader import Reader
from simulator.persistence.schema import LIFE_SHIFT
from simulator.persistence.writer import Keys, Retention, Statement, Writer
from simulator.postgres.address import (
    PAUSE_S,
    TIMEOUT_S,
    DatabaseAddress,
    connect,
    database_errors,
    is_outage,
    set_up,
    store_error,
)

COMMITTED_ALREADY: Final = "RS002"
READERS_MAX: Final = 4
KEYS_AT_ONCE: Final = 64
SYNCHRONOUS_COMMIT: Final = {"process": "local", "power": "on"}
"""The setting of PostgreSQL for each `--durability`; both wait until the primary has flushed its log."""

_ENTRIES: Final = "INSERT INTO entries "


class _Batch(NamedTuple):
    """The statements of a turn, what waits for their commit, and since when."""

    statements: list[Statement]
    on_commit: CommitCallback
    since: float


class PostgresStore:
    """See `Storage`. `begin` must be called before the first write, and after each lost lease."""

    def __init__(self, address: DatabaseAddress, durability: Literal["process", "power"]) -> None:
        self.place = address.name
        self.server_id = 0
        self.commits = self.outages = 0
        self.down_since: float | None = None  # a monotonic time, while PostgreSQL does not answer
        self._address = address
        self._durability = durability
        self._pool = ConnectionPool[psycopg.Connection[Any]](
            address.conninfo,
            kwargs={"autocommit": True, "client_encoding": "utf8"},
            min_size=1,
            max_size=READERS_MAX,
            timeout=TIMEOUT_S,
            reconnect_timeout=1.0,  # then the next reader tries again; the pauses of the pool would double without end
            configure=set_up,
            check=ConnectionPool.check_connection,
            open=True,
        )
        self.reader = Reader(self._execute, address.name)
        self._keys = SequenceKeys(self.reader)
        self.writer = Writer((), self._keys, Retention())
        self._db: psycopg.Connection[Any] | None = None
        self._serial = 0
        self._waiting: deque[_Batch] = deque()
        self._changed = threading.Condition()
        self._failure: StoreError | None = None
        self._given_up: StoreError | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="postgres", daemon=True)
        self._thread.start()

    def begin(self, server_id: int) -> None:
        """Write as this server from now on, without sandboxes."""
        self._disconnect()
        self.server_id, self._serial = server_id, 0
        self._failure = self._given_up = None
        self.writer.take()
        for life in self.writer.lives.values():
            life.open_snapshot = 0  # another server may own this life now
        self.writer.lives.clear()

    @property
    def waits_s(self) -> float:
        """Return for how long the oldest commit has been waiting."""
        with self._changed:
            return monotonic() - self._waiting[0].since if self._waiting else 0.0

    def unsaved_lives(self) -> set[int]:
        """Return the keys of the lives whose last entries are not committed yet."""
        with self._changed:
            rows = [row for batch in self._waiting for row in batch.statements]
        return {values[0] >> LIFE_SHIFT for statement, values in rows if statement.startswith(_ENTRIES)}

    def request_commit(self, on_commit: CommitCallback) -> None:
        """See `Storage`; `on_commit` is called in the thread of the store."""
        if self._is_closed or self._given_up is not None:
            on_commit(self._given_up or WriteFailed("the store is closed"))
            return
        with self._changed:
            self._waiting.append(_Batch(self.writer.take(), on_commit, monotonic()))
            self._changed.notify_all()

    def give_up(self, error: StoreError) -> None:
        """See `Storage`."""
        with self._changed:
            self._given_up = error
            self._changed.notify_all()

    def wait_until_idle(self) -> None:
        """Wait until all requested commits were made or have failed. Raises `WriteFailed` when that takes too long."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._waiting, TIMEOUT_S):
                raise WriteFailed(f"{self.place}: does not answer: what was not acknowledged is lost")

    def close(self) -> None:
        """Commit the queue and close the connections. Raises `StoreError` when that takes too long."""
        if self._is_closed:
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(TIMEOUT_S)
        self._pool.close(timeout=1.0)
        if self._thread.is_alive():
            raise WriteFailed(f"{self.place}: does not answer: what was not acknowledged is lost")

    def _execute(self, statement: str, values: Sequence[Any]) -> Generator[Any, None, None]:
        """Yield the rows of a statement of the reader, in any thread. Raises `StoreError`."""
        with database_errors(self._address), self._pool.connection() as db:
            rows = db.execute(to_postgres(statement), values, binary=True).fetchall()
        yield from rows

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                batches = list(self._waiting)
            if not batches:
                self._disconnect()
                return
            if self._failure is None:
                self._failure = self._commit([statement for batch in batches for statement in batch.statements])
            for batch in batches:
                call_waiting(partial(batch.on_commit, self._failure))
            with self._changed:
                for _ in batches:
                    self._waiting.popleft()
                self._changed.notify_all()
            if self._failure is None:
                self._keys.refill()

    def _commit(self, statements: Sequence[Statement]) -> StoreError | None:
        """Commit, as often as it takes. Return the error after which no commit can follow."""
        if not statements:
            return None
        self._serial += 1
        while True:
            try:
                self._send(statements)
            except Exception as error:
                if getattr(error, "sqlstate", None) != COMMITTED_ALREADY:
                    self._disconnect()
                    if not is_outage(error):
                        self.down_since = None
                        return store_error(error, self._address)
                    if self.down_since is None:
                        self.down_since = monotonic()
                        self.outages += 1
                    with self._changed:
                        self._changed.wait_for(lambda: self._given_up is not None, PAUSE_S)
                    if self._given_up is not None:
                        return self._given_up
                    continue
            self.commits += 1
            self.down_since = None
            return None

    def _send(self, statements: Sequence[Statement]) -> None:
        if self._db is None:
            self._db = connect(
                self._address,
                application_name=f"reseller-sim server {self.server_id}",  # `fence` finds its sessions by this name
                synchronous_commit=SYNCHRONOUS_COMMIT[self._durability],
                reseller_sim__server=str(self.server_id),
            )
        with self._db.pipeline(), self._db.transaction():
            cursor = self._db.cursor()
            cursor.execute("SELECT begin_commit(%s, %s)", (self.server_id, self._serial))
            for statement, rows in groupby(statements, itemgetter(0)):
                cursor.executemany(to_postgres(statement), [values for _, values in rows])

    def _disconnect(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
            self._db = None


@cache
def to_postgres(statement: str) -> bytes:
    """Return a statement for SQLite and PostgreSQL with the placeholders of psycopg."""
    return statement.replace("?", "%s").encode()


class SequenceKeys(Keys):
    """Keys that no other server has. `refill` fetches some ahead, so that the event loop need not wait for them."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self._reader = reader
        self._lives: deque[int] = deque()
        self._snapshots: deque[int] = deque()

    def next_life(self) -> int:
        """See `Keys`. Raises `StoreError`."""
        return self._next(self._lives, "life_keys")

    def next_snapshot(self) -> int:
        """See `Keys`. Raises `StoreError`."""
        return self._next(self._snapshots, "snapshot_keys")

    def refill(self) -> None:
        """Fetch keys when few are left, in any thread."""
        for keys, sequence in ((self._lives, "life_keys"), (self._snapshots, "snapshot_keys")):
            if len(keys) < KEYS_AT_ONCE // 2:
                with suppress(StoreError):
                    self._fetch(keys, sequence)

    def _next(self, keys: deque[int], sequence: str) -> int:
        if not keys:
            self._fetch(keys, sequence)
        return keys.popleft()

    def _fetch(self, keys: deque[int], sequence: str) -> None:
        statement = f"SELECT nextval('{sequence}') FROM generate_series(1, {KEYS_AT_ONCE})"
        keys.extend(key for (key,) in self._reader.rows(statement))
