"""Spent nonces in parts by their numbers: those that were restored stay bytes until they are the oldest."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import lt
from typing import Annotated, Final

import msgspec

from simulator.domain.model.packed.name_filter import NameFilters, filter_of, hashes_of, may_have
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
    times: list[Annotated[datetime, msgspec.Meta(tz=True)]]
    timestamps: list[int]
    numbers: list[int]
    filter_: bytes = b""

    def check(self, numbers: range) -> None:
        """Raises `ValueError` for columns that are none of a part of these numbers."""
        lengths = {len(one) for one in (self.places, self.nonces, self.times, self.timestamps, self.numbers)}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError("the columns of a part have as many rows each, and at least one")
        if min(self.places) < 0 or max(self.places) >= len(self.scopes):
            raise ValueError("a nonce is of a scope that is not there")
        if self.numbers[0] not in numbers or self.numbers[-1] not in numbers:
            raise ValueError(f"its numbers are not those from {numbers.start} to {numbers[-1]}")
        if not all(map(lt, self.numbers, self.numbers[1:])):
            raise ValueError("its numbers do not ascend")

    def rows(self) -> Iterator[Row]:
        scopes = (self.scopes[place] for place in self.places)
        keys = zip(scopes, self.nonces, strict=True)
        return zip(keys, zip(self.times, self.timestamps, self.numbers, strict=True), strict=True)


_ENCODER: Final = msgspec.msgpack.Encoder()
_COLUMNS: Final = msgspec.msgpack.Decoder(_Columns)


def part_of(rows: Sequence[Row], *, has_filter: bool) -> bytes:
    """A part of these, of which there is at least one; with a filter, it need not be read for a nonce that is new."""
    keys, values = zip(*rows, strict=True)
    scopes, nonces = zip(*keys, strict=True)
    codes = list(dict.fromkeys(scopes))
    places = {code: place for place, code in enumerate(codes)}
    filter_ = filter_of(list(map(_name, keys)), SIZE) if has_filter else b""
    return _ENCODER.encode((codes, [places[one] for one in scopes], nonces, *zip(*values, strict=True), filter_))


def rows_in(part: bytes, numbers: range) -> Iterator[Row]:
    """What is in the part of these numbers. Raises `ValueError` for other bytes than those of one."""
    return _checked(part, numbers).rows()


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
            yield from _rows(part)

    def __reversed__(self) -> Iterator[Row]:
        for part, _ in reversed(self._left):
            yield from reversed(list(_rows(part)))

    def add(self, part: bytes, numbers: range) -> bool:
        """Have the part of these numbers, too, before anything is looked for; False when it has no filter. Raises
        `ValueError` for other bytes than those of one."""
        columns = _checked(part, numbers)
        filter_, count = columns.filter_, len(columns.numbers)
        if not filter_:
            return False
        if self._filters and len(filter_) != len(self._filters[0]):
            raise ValueError("its filter has another size than those before")
        first, _ = next(columns.rows())
        if not may_have(filter_, _name(first)):
            raise ValueError("its filter is one of other nonces")
        self._left.append((part, count))
        self._count += count
        self._filters.append(filter_)
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
                found = next((spent for known, spent in _rows(part) if known == key), None)
                if found is not None:
                    return found
        return None

    def take_oldest(self) -> Iterator[Row]:
        """What is in the oldest part, which is here no more."""
        part, count = self._left.popleft()
        self._gone, self._count = self._gone + 1, self._count - count
        if not self._left:
            self._searched = None  # two megabytes of half a million nonces
        return _rows(part)


def _checked(part: bytes, numbers: range) -> _Columns:
    columns = _COLUMNS.decode(part)
    columns.check(numbers)
    return columns


def _rows(part: bytes) -> Iterator[Row]:
    """What is in a part that was checked when it was added."""
    return _COLUMNS.decode(part).rows()


def _name(key: Spent) -> bytes:
    scope, nonce = key
    return b"%b %b" % (scope.encode(), nonce)
