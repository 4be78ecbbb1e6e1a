"""Ownership in the database: the leases of servers, claims of sandboxes, and the garbage of servers that ended.

A thread renews the lease and looks for sandboxes without an owner. Leases follow the clock of the database. A server
also trusts its lease by its own monotonic clock, from the moment when it sent the last renewal.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NamedTuple

import psycopg

from simulator.persistence.reader import Reader
from simulator.postgres.address import DatabaseAddress, connect

RENEWALS_PER_LEASE: Final = 5
ORPHANS_AT_ONCE: Final = 8
SWEPT_ROWS: Final = {"entries": 512, "parts": 32}
FORGET_AFTER: Final = "1 day"
_ENDS: Final = "greatest(lease_ends, pg_postmaster_start_time() + lease)"
"""When others may fence a server: see `fence` in the migrations."""

_ORPHANS: Final = f"""
SELECT sandbox FROM lives LEFT JOIN owners USING (sandbox) LEFT JOIN servers ON servers.id = owners.server
WHERE servers.id IS NULL OR servers.is_fenced OR {_ENDS} < clock_timestamp()
ORDER BY random() LIMIT %s
"""
_SERVERS: Final = f"SELECT id FROM servers WHERE NOT is_fenced AND {_ENDS} > clock_timestamp()"
_GARBAGE: Final = """
SELECT kind, first, last FROM garbage
WHERE is_due OR server IN (SELECT id FROM servers WHERE is_fenced) OR server NOT IN (SELECT id FROM servers)
LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_FORGET: Final = """
DELETE FROM servers WHERE is_fenced AND lease_ends < clock_timestamp() - %s::INTERVAL
AND NOT EXISTS (SELECT FROM owners WHERE server = servers.id)
"""


class Peer(NamedTuple):
    """A server that answers requests: its fencing number, and how others forward to it."""

    id: int
    url: str
    secret: str


class Leases:
    """Ownership in the database. All methods block, may be called in any thread, and raise `StoreError`."""

    def __init__(self, reader: Reader, lease_s: float) -> None:
        self._reader, self._lease_s = reader, lease_s

    def register(self, url: str, secret: str) -> int:
        """Register this server, and return its fencing number."""
        statement = """
        INSERT INTO servers (url, secret, lease, lease_ends)
        VALUES (%s, %s, %s * INTERVAL '1 second', clock_timestamp() + %s * INTERVAL '1 second') RETURNING id
        """
        ((server_id,),) = self._reader.rows(statement, url, secret, self._lease_s, self._lease_s)
        return int(server_id)

    def end(self, server_id: int) -> None:
        """End the lease of this server, so that others take its sandboxes over at once."""
        self._reader.rows("UPDATE servers SET is_fenced = TRUE WHERE id = %s RETURNING id", server_id)

    def claim(self, sandbox: str, server_id: int, *, creates: bool = False) -> int | None:
        """Return the owner of a sandbox; this server becomes the owner if it has none. Return None for an unknown
        sandbox, unless this server is about to create it. Raises `LeaseLost`."""
        ((owner,),) = self._reader.rows("SELECT claim(%s, %s, %s)", sandbox, server_id, creates)
        return owner if owner is None else int(owner)

    def peer(self, server_id: int) -> Peer | None:
        """Return a server, unless it is fenced."""
        return next((peer for peer in self.peers() if peer.id == server_id), None)

    def peers(self) -> list[Peer]:
        """Return the servers that are not fenced."""
        rows = self._reader.rows("SELECT id, url, secret FROM servers WHERE NOT is_fenced ORDER BY id")
        return [Peer(*row) for row in rows]

    def release(self, sandboxes: Sequence[str], server_id: int) -> None:
        """Give up the names of sandboxes that do not exist."""
        statement = """
        DELETE FROM owners WHERE server = %s AND sandbox = ANY(%s)
        AND NOT EXISTS (SELECT FROM lives WHERE lives.sandbox = owners.sandbox) RETURNING sandbox
        """
        self._reader.rows(statement, server_id, list(sandboxes))


class LeaseKeeper:
    """A thread that renews the lease of a server, and calls `on_lost` when it is lost, `on_seen` with the servers that
    have a lease and with sandboxes that are without an owner. It also removes garbage. The functions are called in the
    thread."""

    def __init__(
        self,
        address: DatabaseAddress,
        lease_s: float,
        on_lost: Callable[[int], object],
        on_seen: Callable[[list[int], list[str]], object],
    ) -> None:
        self._address, self._lease_s = address, lease_s
        self._on_lost, self._on_seen = on_lost, on_seen
        self.server_id = 0
        self.fresh_until = 0.0
        self.is_failing = False
        self._woken = threading.Event()
        self._is_closed = False
        self._db: psycopg.Connection[Any] | None = None
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def begin(self, server_id: int, registered_s: float) -> None:
        """Renew the lease of this server, which was registered after this monotonic time."""
        self.fresh_until = registered_s + self._lease_s
        self.server_id = server_id
        if not self._thread.is_alive():
            self._thread.start()

    def lose(self) -> None:
        """Stop renewing until the next `begin`."""
        self.server_id, self.fresh_until = 0, 0.0

    def hurry(self) -> None:
        """Renew, and look for sandboxes without an owner, now instead of at the next renewal."""
        self._woken.set()

    def close(self) -> None:
        """Stop renewing, and end the thread, which closes its connection."""
        self._is_closed = True
        self.lose()
        self._woken.set()

    def _run(self) -> None:
        while True:
            self._woken.wait(self._lease_s / RENEWALS_PER_LEASE)
            self._woken.clear()
            server_id = self.server_id
            if self._is_closed:
                self._disconnect()
                return
            if not server_id:
                continue
            try:
                self._renew(server_id)
                self.is_failing = False
            except Exception:  # the thread must continue
                self.is_failing = True
                self._disconnect()

    def _disconnect(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
        self._db = None

    def _renew(self, server_id: int) -> None:
        if self._db is None:
            self._db = connect(self._address)
        sent_s = monotonic()
        statement = """
        UPDATE servers SET lease_ends = clock_timestamp() + lease WHERE id = %s AND NOT is_fenced RETURNING id
        """
        if self._db.execute(statement, (server_id,)).fetchone() is None:
            self._on_lost(server_id)
            return
        if self.server_id == server_id:
            self.fresh_until = sent_s + self._lease_s
        orphans = [name for (name,) in self._db.execute(_ORPHANS.encode(), (ORPHANS_AT_ONCE,)).fetchall()]
        servers = [server for (server,) in self._db.execute(_SERVERS.encode()).fetchall()]
        self._on_seen(servers, orphans)
        self._sweep(self._db)
        self._db.execute(_FORGET, (FORGET_AFTER,))

    @staticmethod
    def _sweep(db: "psycopg.Connection[Any]") -> None:
        """Remove some garbage rows."""
        with db.transaction():
            row = db.execute(_GARBAGE).fetchone()
            if row is None:
                return
            kind, first, last = row
            rows = f"SELECT id FROM {kind} WHERE id BETWEEN %s AND %s LIMIT %s"
            removed = db.execute(f"DELETE FROM {kind} WHERE id IN ({rows})".encode(), (first, last, SWEPT_ROWS[kind]))
            if removed.rowcount < SWEPT_ROWS[kind]:
                db.execute("DELETE FROM garbage WHERE kind = %s AND first = %s", (kind, first))
