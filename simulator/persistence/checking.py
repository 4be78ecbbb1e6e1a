"""Looks at everything in a folder that nobody has open, and changes nothing: what is damaged, in lines."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulator.persistence.ends import gap, missing
from simulator.persistence.errors import Damaged
from simulator.persistence.layout import DATABASE, KEPT, LIFE_SHIFT, is_number, is_whole, key_of, keys_of, n_of
from simulator.persistence.opening import connected_to_read, examined, own_to_read
from simulator.persistence.ownership import Ownership
from simulator.persistence.reading import Reading
from simulator.persistence.writing import digest_of

PROBLEMS_MAX = 100

More = Callable[[Reading], Iterable[str]]


@dataclass
class Checked:
    """What was found. `problems` has one line for each, up to `PROBLEMS_MAX`; without any the folder is whole.

    The answers to requests that waited are `entries` of their own. `missing` says what was lost when the power failed,
    which is no damage."""

    sandboxes: int = 0
    entries: int = 0
    snapshots: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)
    missing: str = ""

    @property
    def summary(self) -> str:
        """In one line."""
        counts = ", ".join(
            _counted(number, thing)
            for number, thing in (
                (self.sandboxes, "sandbox"),
                (self.entries, "line"),
                (self.snapshots, "snapshot"),
                (self.bytes, "byte"),
            )
        )
        return f"{_counted(len(self.problems), 'problem') if self.problems else 'whole'}: {counts}"


def check(folder: Path | str, more: More = lambda reading: ()) -> Checked:
    """Check a folder; when it is whole, with what is seen by those who know more of its content, each problem a line.
    Raises `InUse`, `Unusable` or `Newer`; damage of any kind is in what it returns."""
    folder = Path(folder)
    checked = Checked()
    try:
        ownership = own_to_read(folder)
    except Damaged as damaged:
        checked.problems.append(str(damaged))
        return checked
    try:
        _check(folder, checked, ownership, more)
    finally:
        ownership.release()
    return checked


def _check(folder: Path, checked: Checked, ownership: Ownership, more: More) -> None:
    path = folder / DATABASE
    checked.bytes = sum(one.stat().st_size for one in (path, path.with_name(f"{DATABASE}-wal")) if one.exists())
    try:
        checked.missing = examined(folder, ownership)
        with connected_to_read(path) as connection:
            for problem in _problems(connection, checked):
                checked.problems.append(f"{path}: {problem}")
                if len(checked.problems) >= PROBLEMS_MAX:
                    return
            if not checked.problems:
                checked.problems += [f"{folder}: {problem}" for problem in more(Reading(connection, path))]
    except Damaged as damaged:
        checked.problems.append(str(damaged))
    except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:  # values can be damaged, too
        checked.problems.append(f"{path}: damaged ({error})")


def _problems(connection: sqlite3.Connection, checked: Checked) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})"):
        if line != "ok":
            yield " ".join(line.split())
    yield from missing(connection)
    yield from _without_owner(connection)
    lives = connection.execute(
        "SELECT id, sandbox, number, floor, floor_bytes, crc, head FROM lives WHERE state = ?", (KEPT,)
    )
    for key, sandbox, number, floor, floor_bytes, crc, head in lives.fetchall():
        checked.sandboxes += 1
        if not is_whole(head, crc):
            yield f"sandbox {sandbox!r}: the head is damaged"
        if not is_number(number):
            yield f"sandbox {sandbox!r}: its number is damaged"
        for problem in _problems_of_life(connection, checked, key, floor, floor_bytes):
            yield f"sandbox {sandbox!r}: {problem}"


def _problems_of_life(
    connection: sqlite3.Connection, checked: Checked, key: int, floor: int, floor_bytes: int
) -> Iterator[str]:
    last, total = floor, floor_bytes
    rows = connection.execute(
        "SELECT id, bytes_up_to, crc, data FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
        (key_of(key, floor + 1), keys_of(key)[1]),
    )
    for row, bytes_up_to, crc, data in rows:
        n = n_of(row)
        checked.entries += 1
        if n != last + 1:
            yield gap(last + 1, n - 1)
        elif not is_whole(data, crc):
            yield f"entry {n} is damaged"
        elif bytes_up_to != total + len(data):
            yield f"entry {n} has another length than when it was written"
        last, total = n, bytes_up_to
    for name, n in connection.execute("SELECT name, n FROM marks WHERE life = ?", (key,)):
        if not floor <= n <= last:
            yield f"mark {name!r} is at {n}, outside the entries"
    for n in connection.execute("SELECT n FROM snapshots WHERE life = ? AND state = ?", (key, KEPT)):
        checked.snapshots += 1
        if not floor <= n[0] <= last:
            yield f"a snapshot is at {n[0]}, outside the entries"


def _without_owner(connection: sqlite3.Connection) -> Iterator[str]:
    """Rows that nobody would remove, and parts that are missing or damaged."""
    lives = f"SELECT DISTINCT id >> {LIFE_SHIFT} FROM entries EXCEPT SELECT id FROM lives"  # noqa: S608 - ours
    for (life,) in connection.execute(lives):
        yield f"entries of life {life}, which is in no sandbox"
    for what, statement in _ORPHANS.items():
        (count,) = connection.execute(f"SELECT count(*) FROM {statement}").fetchone()  # noqa: S608 - ours
        if count:
            yield f"{count} {what}"
    for key, digest, data in connection.execute("SELECT id, digest, data FROM parts"):
        if not isinstance(data, bytes) or digest_of(data) != digest:
            yield f"part {key} of a snapshot is damaged"


_ORPHANS = {
    "marks without a sandbox": "marks WHERE life NOT IN (SELECT id FROM lives)",
    "parts without a snapshot": "parts WHERE id NOT IN (SELECT part FROM snapshot_parts)",
    "parts of snapshots are missing": "snapshot_parts WHERE part NOT IN (SELECT id FROM parts)",
    "parts of unknown snapshots": "snapshot_parts WHERE snapshot NOT IN (SELECT id FROM snapshots)",
    "snapshots without a sandbox": (
        f"snapshots WHERE state = {KEPT} AND life NOT IN (SELECT id FROM lives)"  # noqa: S608 - ours
    ),
}


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing if number == 1 else thing + ('es' if thing.endswith('x') else 's')}"
