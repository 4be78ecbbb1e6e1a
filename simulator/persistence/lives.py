"""What a store remembers of each life in memory: how far its entries go."""

import sqlite3
from pathlib import Path

from simulator.persistence.errors import Damaged
from simulator.persistence.failures import RESTORE
from simulator.persistence.layout import KEPT, is_number, is_whole, key_of, keys_of, n_of


class Life:
    """A sandbox between two resets. `n` and `bytes_up_to` count what was appended, committed or not.

    `parts` are those of its newest complete snapshot, by name: digest and key. None: not read yet. `completed` counts
    the snapshots behind which the rule of retention may have dropped the beginning."""

    __slots__ = ("bytes_up_to", "completed", "key", "n", "number", "open_snapshot", "parts", "sandbox", "zero")

    def __init__(self, key: int, sandbox: str, number: int, n: int = 0, bytes_up_to: int = 0) -> None:
        self.key = key
        self.sandbox = sandbox
        self.number = number
        self.n = n
        self.bytes_up_to = bytes_up_to
        self.zero = key_of(key, 0)
        self.parts: dict[str, tuple[bytes, int]] | None = None
        self.open_snapshot = self.completed = 0


def load_lives(connection: sqlite3.Connection, path: Path) -> dict[str, Life]:
    """All lives that are kept, by sandbox. Raises `Damaged` when the head, the number or the last entry of one is."""
    rows = connection.execute(
        "SELECT id, sandbox, number, floor, floor_bytes, crc, head FROM lives WHERE state = ?", (KEPT,)
    )
    return {row[1]: _load_life(connection, path, *row) for row in rows}


def _load_life(
    connection: sqlite3.Connection,
    path: Path,
    key: int,
    sandbox: str,
    number: int,
    floor: int,
    floor_bytes: int,
    crc: int,
    head: bytes,
) -> Life:
    if not is_whole(head, crc):
        raise Damaged(f"{path}: the head of sandbox {sandbox!r} is damaged: {RESTORE}")
    if not is_number(number):
        raise Damaged(f"{path}: the number of sandbox {sandbox!r} is damaged: {RESTORE}")
    last = connection.execute(
        "SELECT id, bytes_up_to, crc, data FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", keys_of(key)
    ).fetchone()
    if last is None or n_of(last[0]) <= floor:
        return Life(key, sandbox, number, floor, floor_bytes)
    if not is_whole(last[3], last[2]):
        raise Damaged(f"{path}: entry {n_of(last[0])} of sandbox {sandbox!r} is damaged: {RESTORE}")
    return Life(key, sandbox, number, n_of(last[0]), last[1])
