"""Exports a sandbox from PostgreSQL to a file, and imports a file. Data folders have files of the same format."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg

from simulator.persistence.database import create
from simulator.persistence.errors import Unusable
from simulator.persistence.maintenance import exported_reader
from simulator.persistence.reader import SLICE_ROWS, Reader
from simulator.persistence.schema import (
    LAST_ENTRY,
    LAST_PART,
    LIFE_SHIFT,
    SNAPSHOT_SHIFT,
    connect,
    entry_keys,
    part_keys,
    reading_errors,
)
from simulator.persistence.writer import Statement
from simulator.postgres.address import DatabaseAddress, database_errors, parse_address
from simulator.postgres.address import connect as connect_to
from simulator.postgres.leases import Leases
from simulator.postgres.migration import prepare_database
from simulator.postgres.postgres_store import SequenceKeys, open_pool, to_postgres

LEASE_S: Final = 600.0
"""The longest time of an import."""

_ENTRIES: Final = "SELECT * FROM entries WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
_PARTS: Final = "SELECT * FROM parts WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1"
_SNAPSHOTS: Final = "SELECT id, n, bytes_up_to, size, parts, crc FROM snapshots WHERE life = ?"
_FORGET: Final = """
WITH gone AS (DELETE FROM lives WHERE sandbox = %s RETURNING id),
    marked AS (DELETE FROM marks WHERE life IN (SELECT id FROM gone)),
    taken AS (DELETE FROM snapshots WHERE life IN (SELECT id FROM gone) RETURNING id),
    parted AS (INSERT INTO garbage SELECT 'parts', id << %s, (id << %s) + %s, TRUE FROM taken)
INSERT INTO garbage SELECT 'entries', (id << %s) + 1, (id << %s) + %s, TRUE FROM gone
"""


@contextmanager
def database_reader(address: str) -> Iterator[Reader]:
    """Read a database as of a single moment; servers may use it. Raises `StoreError`."""
    parsed = parse_address(address)
    prepare_database(parsed)
    with database_errors(parsed), closing(connect_to(parsed)) as db:
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield Reader(partial(_execute, db), parsed.name)


def export_from_database(address: str, sandbox: str, file: Path, *, version: str) -> None:
    """Write a sandbox of a database to a new file. Raises `StoreError`, and leaves the file incomplete then."""
    create(file, version, "DELETE")
    with database_reader(address) as reader, reading_errors(file), closing(connect(file)) as db, db:
        db.execute("BEGIN IMMEDIATE")
        life = reader.life(sandbox).key
        for statements in copy_statements(reader, life, life, {}):
            for statement, values in statements:
                db.execute(statement, values)


def import_to_database(address: str, file: Path, *, replaces: bool = False) -> str:
    """Import the sandbox of a file and return its name; a server takes it over then. Raises `Unusable`, and the same
    as `exported_reader`, without any change."""
    parsed = parse_address(address)
    prepare_database(parsed)
    pool = open_pool(parsed)
    try:
        leases = Leases(parsed, pool, LEASE_S)
        server_id = leases.register("", "")
        try:
            return _import(parsed, leases, server_id, file, replaces=replaces)
        finally:
            leases.end(server_id)
    finally:
        pool.close(timeout=1.0)


def _import(address: DatabaseAddress, leases: Leases, server_id: int, file: Path, *, replaces: bool) -> str:
    with (
        exported_reader(file) as reader,
        database_errors(address),
        closing(connect_to(address, reseller_sim__server=str(server_id))) as db,
    ):
        (found,) = reader.lives()
        if leases.claim(found.sandbox, server_id, creates=True) != server_id:
            raise Unusable(
                f"{address.name}: a server has the sandbox {found.sandbox!r} in use: delete it there, or stop it"
            )
        target = Reader(partial(_execute, db), address.name)
        if not replaces and target.lives(found.sandbox):
            hint = "give --replace to replace it, or import into another database"
            raise Unusable(f"{address.name}: has a sandbox {found.sandbox!r} already: {hint}")
        keys = SequenceKeys(target)
        life, snapshots = keys.next_life(), {}
        for key, *_ in reader.rows(_SNAPSHOTS, found.key):
            snapshots[key] = keys.next_snapshot()
        with db.transaction():
            db.execute("SELECT begin_commit(%s, 1)", (server_id,))
            shifts = (SNAPSHOT_SHIFT, SNAPSHOT_SHIFT, LAST_PART, LIFE_SHIFT, LIFE_SHIFT, LAST_ENTRY)
            db.execute(_FORGET, (found.sandbox, *shifts))
            for statements in copy_statements(reader, found.key, life, snapshots):
                with db.pipeline():
                    for statement, values in statements:
                        db.execute(to_postgres(statement), values)
    return found.sandbox


def copy_statements(reader: Reader, life: int, target: int, snapshots: dict[int, int]) -> Iterator[list[Statement]]:
    """Yield the statements that write a life, some at a time, under another key and with other keys of snapshots."""
    insert = partial("INSERT INTO {} VALUES ({})".format)
    ((_, *row),) = reader.rows("SELECT * FROM lives WHERE id = ?", life)
    yield [(insert("lives", "?, ?, ?, ?, ?, ?"), (target, *row))]
    low, high = entry_keys(life)
    while rows := reader.rows(_ENTRIES, low, high, SLICE_ROWS):
        low = rows[-1][0] + 1
        moved = (target - life) << LIFE_SHIFT
        yield [(insert("entries", "?, ?, ?, ?, ?"), (key + moved, *values)) for key, *values in rows]
    marks = reader.rows("SELECT name, n, crc, note FROM marks WHERE life = ?", life)
    yield [(insert("marks", "?, ?, ?, ?, ?"), (target, *values)) for values in marks]
    for key, *values in reader.rows(_SNAPSHOTS, life):
        new = snapshots.get(key, key)
        low, high = part_keys(key)
        while parts := reader.rows(_PARTS, low, high):
            ((part, *content),) = parts
            low = part + 1
            yield [(insert("parts", "?, ?, ?, ?"), (part + ((new - key) << SNAPSHOT_SHIFT), *content))]
        yield [(insert("snapshots", "?, ?, ?, ?, ?, ?, ?"), (new, target, *values))]


def _execute(db: "psycopg.Connection[Any]", statement: str, values: Sequence[Any]) -> Generator[Any, None, None]:
    """Yield the rows of a statement of a `Reader`. Raises `psycopg.Error`."""
    yield from db.execute(to_postgres(statement), values, binary=True).fetchall()
