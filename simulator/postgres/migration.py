"""The tables in PostgreSQL: checks of a database before its use, and numbered migrations."""

import os
import socket
from pathlib import Path
from typing import Any, Final

import psycopg

from simulator.options import LOOPBACK
from simulator.persistence.errors import Unusable
from simulator.postgres.address import SCHEMA, DatabaseAddress, connect, database_errors

MIGRATIONS: Final = tuple(sorted((Path(__file__).parent / "migrations").glob("*.sql")))
OLDEST_VERSION: Final = 13
_LOCK: Final = 0x52534C53
"""The key of the advisory lock, under which one server at a time migrates."""


def prepare_database(address: DatabaseAddress) -> tuple[tuple[str, ...], str]:
    """Check a database, and create or migrate its tables. Return the password of the connection, if any, and the
    address of this machine on the way to it. Raises `StoreError` with the database unchanged."""
    with database_errors(address), connect(address) as db:
        _refuse_unusable(db, address)
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            found = _found_number(db)
            if found > len(MIGRATIONS):
                text = f"its tables have number {found}, known are {len(MIGRATIONS)}"
                raise Unusable(f"{address.name}: a newer reseller-sim has migrated it ({text}): use the newer version")
            for number, file in enumerate(MIGRATIONS[found:], found + 1):
                db.execute(file.read_text("utf-8").encode())
                db.execute("INSERT INTO migrations VALUES (%s, now())", (number,))
        return (db.info.password,) if db.info.password else (), _own_host(db)


def _own_host(db: "psycopg.Connection[Any]") -> str:
    with socket.socket(fileno=os.dup(db.fileno())) as connection:
        own = connection.getsockname()
    return str(own[0]) if isinstance(own, tuple) else LOOPBACK


def _refuse_unusable(db: "psycopg.Connection[Any]", address: DatabaseAddress) -> None:
    if db.info.server_version < OLDEST_VERSION * 10_000:
        text = f"PostgreSQL {db.info.server_version // 10_000}, and {OLDEST_VERSION} is the oldest that is supported"
        raise Unusable(f"{address.name}: {text}")
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Unusable(f"{address.name}: its encoding is {encoding}: create a database with ENCODING 'UTF8'")
    row = db.execute("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::BOOLEAN").fetchone()
    if row is None or row[0]:
        raise Unusable(f"{address.name}: is read-only, as a replica is: give the address of the primary")


def _found_number(db: "psycopg.Connection[Any]") -> int:
    """Return the number of the last migration, 0 for a new database, which gets the schema."""
    if db.execute("SELECT FROM pg_namespace WHERE nspname = %s", (SCHEMA,)).fetchone() is None:
        db.execute(f"CREATE SCHEMA {SCHEMA}".encode())
    if db.execute(f"SELECT to_regclass('{SCHEMA}.migrations')".encode()).fetchone() == (None,):
        db.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, at TIMESTAMPTZ NOT NULL)")
    row = db.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    return int(row[0]) if row is not None else 0
