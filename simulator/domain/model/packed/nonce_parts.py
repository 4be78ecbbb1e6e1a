"""Spent nonces in parts by their numbers: those that were restored stay bytes until they are the oldest."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Raw

from simulator.domain.model.holdings import Holding
from simulator.domain.model.packed.name_filter import NameFilters, filter_of, hashes_of
from simulator.domain.model.part_counts import SIZE

Spent = tuple[str, bytes]
"""A nonce in its scope."""

SpentAt = tuple[datetime, int, int]
"""The sandbox's time at which it was spent, the timestamp, in Unix seconds, and its number among all that were spent.
"""

Row = tuple[Spent, SpentAt]


class _Columns(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The rows of a part. An earlier version wrote no filter."""

    scopes: list[str]
    places: list[int]
    """Of the scope of each nonce among `scopes`."""
    nonces: list[bytes]
    times: list[datetime]
    timestamps: list[int]
    numbers: list[int]
    filter_: bytes = b""

    def rows(self) -> Iterator[Row]:
        scopes = (self.scopes[place] for place in self.places)
        keys = zip(scopes, self.nonces, strict=True)
        return zip(keys, zip(self.times, self.timestamps, self.numbers, strict=True), strict=True)


class _Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The same, of which only that is read which tells whether a nonce may be there."""

    scopes: list[str]
    places: Raw
    nonces: Raw
    times: Raw
    timestamps: Raw
    numbers: list[int]
    filter_: bytes = b""


_ENCODER: Final = msgspec.msgpack.Encoder()
_ROWS: Final = msgspec.msgpack.Decoder(_Columns)
_HEAD: Final = msgspec.msgpack.Decoder(_Head)


def part_of(rows: Sequence[Row], *, has_filter: bool) -> bytes:
    """A part of these, of which there is at least one; with a filter, it need not be read for a nonce that is new."""
    keys, values = zip(*rows, strict=True)
    scopes, nonces = zip(*keys, strict=True)
    codes = list(dict.fromkeys(scopes))
    places = {code: place for place, code in enumerate(codes)}
    filter_ = filter_of(list(map(_name, keys)), SIZE) if has_filter else b""
    return _ENCODER.encode((codes, [places[one] for one in scopes], nonces, *zip(*values, strict=True), filter_))


def rows_in(part: bytes) -> Iterator[Row]:
    """What is in a part. Raises `ValueError` for other bytes than those of one."""
    return _ROWS.decode(part).rows()


class NonceParts:
    """Parts with filters, the oldest first."""

    __slots__ = ("_count", "_filters", "_gone", "_left", "_searched")

    def __init__(self) -> None:
        self._left: deque[tuple[bytes, int]] = deque()  # with the number of nonces in it
        self._count = 0
        self._filters: list[bytes] = []
        self._searched: NameFilters | None = None  # is made of the filters when somebody looks for a nonce
        self._gone = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        for part, _ in self._left:
            yield from rows_in(part)

    def __reversed__(self) -> Iterator[Row]:
        for part, _ in reversed(self._left):
            yield from reversed(list(rows_in(part)))

    def add(self, part: bytes) -> bool:
        """Have one more, before anything is looked for; False when it has no filter. Raises `ValueError` for other
        bytes than those of a part."""
        head = _HEAD.decode(part)
        if not head.filter_ or not head.numbers:
            return False
        self._left.append((part, len(head.numbers)))
        self._count += len(head.numbers)
        self._filters.append(head.filter_)
        return True

    def find(self, key: Spent) -> SpentAt | None:
        """When a nonce was spent, if it is here."""
        if not self._left:
            return None
        if self._searched is None:
            self._searched, self._filters = NameFilters(self._filters), []
        for place in self._searched.that_may_have(hashes_of(_name(key))):
            if place >= self._gone:
                part, _ = self._left[place - self._gone]
                found = next((spent for known, spent in rows_in(part) if known == key), None)
                if found is not None:
                    return found
        return None

    def take_oldest(self) -> Iterator[Row]:
        """What is in the oldest part, which is here no more."""
        part, count = self._left.popleft()
        self._gone, self._count = self._gone + 1, self._count - count
        return rows_in(part)

    def holdings(self) -> tuple[Holding, ...]:
        """Its containers."""
        return (Holding(self._left),)


def _name(key: Spent) -> bytes:
    scope, nonce = key
    return b"%b %b" % (scope.encode(), nonce)
