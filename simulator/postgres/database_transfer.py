"""Reads a sandbox in PostgreSQL for an export, and imports a file. Data folders have files of the same format."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import psycopg

from simulator.persistence.errors import StoreError, Unusable
from simulator.persistence.maintenance import exported_reader, import_statements
from simulator.persistence.reader import Reader
from simulator.persistence.writer import Retention, SnapshotSize, StoredLife, Writer
from simulator.postgres.address import DatabaseAddress, connect, database_errors, parse_address, set_up
from simulator.postgres.leases import Leases
from simulator.postgres.migration import prepare_database
from simulator.postgres.postgres_store import SequenceKeys, to_postgres

LEASE_S: Final = 600.0
"""The longest time of an import."""

LOCK_TIMEOUT: Final = "10s"
"""How long to wait for the end of a transaction whose connection was lost, longer than `IDLE_IN_TRANSACTION`."""

SENT_AT_ONCE: Final = 64
"""The number of rows that are sent before their results are read."""


@contextmanager
def database_reader(address: str) -> Iterator[Reader]:
    """Read a database as of a single moment; servers may use it. Raises `StoreError`."""
    parsed = parse_address(address)
    prepare_database(parsed)
    with database_errors(parsed), closing(connect(parsed)) as db:
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield Reader(partial(_execute, db), parsed.name)


def import_to_database(address: str, file: Path, *, replaces: bool = False) -> str:
    """Import the sandbox of a file and return its name; a server takes it over then. Raises `Unusable`, and the same
    as `exported_reader`, without any change."""
    parsed = parse_address(address)
    prepare_database(parsed)
    with exported_reader(file) as reader, database_errors(parsed), closing(connect(parsed)) as db:
        (found,) = reader.lives()
        target = Reader(partial(_execute, db), parsed.name)
        leases = Leases(target, LEASE_S)
        server_id = leases.register("", "")
        try:
            if leases.claim(found.sandbox, server_id, creates=True) != server_id:
                hint = "delete it there, or stop it"
                raise Unusable(f"{parsed.name}: a server has the sandbox {found.sandbox!r} in use: {hint}")
            set_up(db, reseller_sim__server=str(server_id))
            writer = Writer(_replaceable_lives(target, found.sandbox), SequenceKeys(target), Retention())
            statements = import_statements(reader, found, writer, parsed.name, replaces=replaces)
            with db.transaction():
                db.execute("SELECT begin_commit(%s, 1)", (server_id,))
                while rows := list(islice(statements, SENT_AT_ONCE)):
                    with db.pipeline():
                        for statement, values in rows:
                            db.execute(to_postgres(statement), values)
            return found.sandbox
        finally:
            _end_lease(parsed, server_id)


def _replaceable_lives(reader: Reader, sandbox: str) -> list[StoredLife]:
    """Return the life of a sandbox, if it exists, with as much as `Writer.forget` needs: the rest may be damaged."""
    lives = [StoredLife(key, sandbox, b"") for (key,) in reader.rows("SELECT id FROM lives WHERE sandbox = ?", sandbox)]
    for life in lives:
        snapshots = reader.rows("SELECT id FROM snapshots WHERE life = ?", life.key)
        life.snapshots = [SnapshotSize(key, 0, 0, 0) for (key,) in snapshots]
    return lives


def _end_lease(address: DatabaseAddress, server_id: int) -> None:
    """End the lease of an import on a new connection, since its own may be lost. Otherwise the lease ends by itself."""
    with suppress(StoreError), database_errors(address), closing(connect(address, lock_timeout=LOCK_TIMEOUT)) as db:
        Leases(Reader(partial(_execute, db), address.name), LEASE_S).end(server_id)


def _execute(db: "psycopg.Connection[Any]", statement: str, values: Sequence[Any]) -> Generator[Any, None, None]:
    """Yield the rows of a statement of a `Reader`. Raises `psycopg.Error`."""
    yield from db.execute(to_postgres(statement), values, binary=True).fetchall()
