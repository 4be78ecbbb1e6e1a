"""Records in packs: rows of many, so that a million of them are read in a few thousand steps.

Each commit adds one pack for each life that finished something, behind those before it. When sixteen of one level lie
at the end and are not large, the commit makes one of them, of the next level: a record is written about three times in
all, however many there are. A key may come again; then the later one counts.

A pack: the number of records, all their `n`, all lengths of keys, all lengths of data, the keys, the data.
"""

import sqlite3
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from simulator.tape.store.errors import Damaged
from simulator.tape.store.layout import is_whole, key_of, keys_of

MERGED_COUNT = 16
MERGED_BYTES_MAX = 512 * 1024
PACK_BYTES_MAX = 32 * 1024 * 1024  # without the last record
_REMEMBERED = 64  # more than lie unmerged at the end
_COUNT = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Pack:
    """Records as they were finished: of each its key, the entry that finished it, and its data."""

    keys: list[bytes]
    ns: tuple[int, ...]
    _bounds: list[int]
    _data: bytes

    def data(self, index: int) -> bytes:
        """Of one record."""
        return self._data[self._bounds[index] : self._bounds[index + 1]]

    def __iter__(self) -> Iterator[tuple[bytes, int, bytes]]:
        data = self._data
        return zip(self.keys, self.ns, [data[low:high] for low, high in pairwise(self._bounds)], strict=True)


def encoded(records: Mapping[bytes, tuple[int, bytes]]) -> bytes:
    """A pack of records by key."""
    count = len(records)
    ns, data = zip(*records.values(), strict=True)
    lengths = struct.pack(f">{count}Q{count}I{count}I", *ns, *map(len, records), *map(len, data))
    return b"".join((_COUNT.pack(count), lengths, *records, *data))


def decoded(pack: bytes) -> Pack:
    """Raises `ValueError` for what `encoded` did not write."""
    try:
        (count,) = _COUNT.unpack_from(pack)
        columns = struct.unpack_from(f">{count}Q{count}I{count}I", pack, _COUNT.size)
    except struct.error:
        raise ValueError("a pack of records has fewer bytes than it says") from None
    key_bounds = list(accumulate(columns[count : 2 * count], initial=_COUNT.size + 16 * count))
    bounds = list(accumulate(columns[2 * count :], initial=key_bounds[-1]))
    if bounds[-1] != len(pack):
        raise ValueError(f"{len(pack)} bytes instead of {bounds[-1]}")
    return Pack([pack[low:high] for low, high in pairwise(key_bounds)], columns[:count], bounds, pack)


def _split(records: Mapping[bytes, tuple[int, bytes]]) -> Iterator[Mapping[bytes, tuple[int, bytes]]]:
    """Nearly always all of them, since a row has its bounds."""
    some: dict[bytes, tuple[int, bytes]] = {}
    size = 0
    for key, record in records.items():
        if size > PACK_BYTES_MAX:
            yield some
            some, size = {}, 0
        some[key] = record
        size += len(record[1]) + len(key)
    yield some


class PackWriter:
    """Adds packs to the lives of one database, in its commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: dict[int, list[tuple[int, int, int]]] = {}  # by life: key, level and bytes

    def add(self, life: int, records: Mapping[bytes, tuple[int, bytes]]) -> None:
        """Write what one commit finished. Raises `sqlite3.Error`, and `Damaged` for what is merged."""
        last = self._last_of(life)
        for some in _split(records):
            key = last[-1][0] + 1 if last else key_of(life, 1)
            self._insert(last, key, 0, encoded(some))
            while self._merge(last):
                pass
        del last[:-_REMEMBERED]

    def forget(self, life: int) -> None:
        """Nothing is added to a life any more."""
        self._last.pop(life, None)

    def _last_of(self, life: int) -> list[tuple[int, int, int]]:
        if life not in self._last:
            rows = self._connection.execute(
                "SELECT id, level, length(data) FROM packs WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?",
                (*keys_of(life), _REMEMBERED),
            ).fetchall()
            self._last[life] = rows[::-1]
        return self._last[life]

    def _merge(self, last: list[tuple[int, int, int]]) -> bool:
        """Make one pack of the last ones, if they are of one level and small. True if it did."""
        merged = last[-MERGED_COUNT:]
        is_due = len(merged) == MERGED_COUNT and len({level for _, level, _ in merged}) == 1
        if not is_due or sum(size for _, _, size in merged) > MERGED_BYTES_MAX:
            return False
        first, level, _ = merged[0]
        key = merged[-1][0]
        records: dict[bytes, tuple[int, bytes]] = {}
        for crc, data in self._connection.execute(
            "SELECT crc, data FROM packs WHERE id BETWEEN ? AND ? ORDER BY id", (first, key)
        ):
            if not is_whole(data, crc):
                raise Damaged(f"records of entries up to {first} are damaged")
            records.update((name, (n, one)) for name, n, one in decoded(data))
        self._connection.execute("DELETE FROM packs WHERE id BETWEEN ? AND ?", (first, key))
        del last[-MERGED_COUNT:]
        self._insert(last, key, level + 1, encoded(records))
        return True

    def _insert(self, last: list[tuple[int, int, int]], key: int, level: int, data: bytes) -> None:
        self._connection.execute("INSERT INTO packs VALUES (?, ?, ?, ?)", (key, level, zlib.crc32(data), data))
        last.append((key, level, len(data)))
