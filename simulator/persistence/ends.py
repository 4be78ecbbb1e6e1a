"""Where each life ended, noted when a store is closed: what somebody takes away by hand meanwhile is missed.

Each entry, part and head has a sum, and entries are numbered without gaps, so that of all else that is lost something
tells. Of the last entries of a life, of its marks, of parts of snapshots that have one another's names, and of a life
that is gone with all that it had, nothing would. Of a process that was killed there is no such note, but its log has to
be whole: see `opening`.

The note is sealed: behind the version that closed the folder, the database says so. Every version writes its own when
it opens a folder, also one that knows nothing of notes, so that what that has changed is not missed. Who notes other
things gives the note another name.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from simulator.persistence.errors import Damaged
from simulator.persistence.failures import RESTORE
from simulator.persistence.layout import KEPT, WRITTEN_BY, keys_of, n_of

_NAME: Final = "ends"
_FORMER: Final = "closed"  # versions before noted less, and some never forgot it
_SEAL: Final = ", closed"
_LAST: Final = "SELECT id, CAST(at_us AS INTEGER) FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1"
_PARTS: Final = """
SELECT snapshots.id, n, name, part FROM snapshots LEFT JOIN snapshot_parts ON snapshot = snapshots.id
WHERE life = ? AND state = ? ORDER BY snapshots.id, name
"""


class _End(NamedTuple):
    """Of one life: its sandbox, its last entry, how many marks it has, and a sum of where they and its snapshots are,
    and of the names of their parts: a part has a sum of its content alone. `at_us` is the time of the last entry, from
    which a clock that runs goes on; those of the others mean nothing."""

    sandbox: str
    n: int
    marks: int
    places: int
    at_us: int


def note(connection: sqlite3.Connection) -> None:
    """Note where the lives end. Raises `sqlite3.Error`."""
    text = json.dumps(_ends(connection), separators=(",", ":"))
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_NAME, text))
    connection.execute("UPDATE meta SET value = value || ? WHERE name = ?", (_SEAL, WRITTEN_BY))


def forget(connection: sqlite3.Connection) -> None:
    """Forget the note, since the lives go on. Raises `sqlite3.Error`."""
    connection.execute("DELETE FROM meta WHERE name IN (?, ?)", (_NAME, _FORMER))


def unsealed(written_by: str) -> str:
    """The version alone of what a database says of who wrote it."""
    return written_by.removesuffix(_SEAL)


def missing(connection: sqlite3.Connection) -> Iterator[str]:
    """What of the noted ends is not there, a line for each. Raises `sqlite3.Error`."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (_NAME,)).fetchone()
    writer = connection.execute("SELECT value FROM meta WHERE name = ?", (WRITTEN_BY,)).fetchone()
    try:
        noted = _read(row[0]) if row and writer and str(writer[0]).endswith(_SEAL) else {}
    except (ValueError, TypeError, AttributeError):
        yield "the note of where its sandboxes end is damaged"
        return
    found = _ends(connection) if noted else {}
    for key, before in noted.items():
        now = found.get(key)
        if now is None:
            yield f"sandbox {before.sandbox!r} is missing, which was there when the folder was closed"
            continue
        if now.n < before.n:
            yield f"sandbox {before.sandbox!r}: {gap(now.n + 1, before.n)}"
        elif now.at_us != before.at_us:
            yield f"sandbox {before.sandbox!r}: the time of its last entry was changed since the folder was closed"
        if now.marks < before.marks:
            yield f"sandbox {before.sandbox!r}: {now.marks} of {before.marks} marks are there"
        elif now.places != before.places:
            yield f"sandbox {before.sandbox!r}: its marks or snapshots were changed since the folder was closed"


def refuse_what_is_missing(connection: sqlite3.Connection, path: Path) -> None:
    """Raises `Damaged`."""
    for found in missing(connection):
        raise Damaged(f"{path}: {found}: {RESTORE}")


def gap(first: int, last: int) -> str:
    """That these entries are missing."""
    return f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"


def _read(text: str) -> dict[int, _End]:
    """Raises `ValueError`, `TypeError` and `AttributeError` for what was never noted."""
    noted = json.loads(text).items()
    return {int(key): _End(str(name), *map(int, rest)) for key, (name, *rest) in noted}


def _ends(connection: sqlite3.Connection) -> dict[int, _End]:
    """By the keys of the lives."""
    execute, found = connection.execute, {}
    for key, sandbox, floor in execute(
        "SELECT id, sandbox, CAST(floor AS INTEGER) FROM lives WHERE state = ?", (KEPT,)
    ).fetchall():
        last, at_us = execute(_LAST, keys_of(key)).fetchone() or (0, 0)
        marks = execute("SELECT name, n FROM marks WHERE life = ? ORDER BY name", (key,)).fetchall()
        parts = execute(_PARTS, (key, KEPT))
        found[key] = _End(sandbox, max(floor, n_of(last)), len(marks), _sum((*marks, *parts)), at_us)
    return found


def _sum(rows: Iterable[tuple[object, ...]]) -> int:
    found = 0
    for row in rows:
        found = crc32(repr(row).encode("utf-8", "surrogatepass"), found)
    return found
