"""Indexes over append-only sequences: day boundaries, daily sums, small values by place.

A place is a position in such a sequence.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import chain, compress, islice

from simulator.domain.model.money import SERVICE_ZONE, ZERO

DAY = timedelta(days=1)
BLOCK = 2048
PIECE = 128


def places() -> "array[int]":
    """An ordered list of places, four bytes each."""
    return array("I")


class Days:
    """The service's days (GMT+8), as ordinals, and the first place of each, in a chronological sequence."""

    __slots__ = ("_days", "_starts", "end")

    def __init__(self) -> None:
        self._days: list[int] = []
        self._starts: list[int] = []
        self.end = datetime.min.replace(tzinfo=UTC)  # of the latest day

    def at(self, at: datetime, place: int) -> int:
        """Record the time of a place, and return its day. Neither places nor times decrease."""
        if at >= self.end:
            local = at.astimezone(SERVICE_ZONE)
            self.end = local.replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            self._days.append(local.toordinal())
            self._starts.append(place)
        return self._days[-1]

    def of(self, place: int) -> int:
        """The day of a place."""
        return self._days[bisect_right(self._starts, place) - 1]

    def between(self, first: date, last: date, count: int) -> tuple[int, int]:
        """Of `count` places, the half-open range of those from day `first` to day `last`, inclusive."""
        low = bisect_left(self._days, first.toordinal())
        high = bisect_right(self._days, last.toordinal())
        return self._start(low, count), self._start(high, count)

    def _start(self, index: int, count: int) -> int:
        return self._starts[index] if index < len(self._starts) else count


class DaySums:
    """Sums of amounts by day, in a Fenwick tree: node i holds the sum of the lowbit(i) days that end with day i."""

    __slots__ = ("_days", "_tree")

    def __init__(self) -> None:
        self._days: list[int] = []
        self._tree: list[Decimal] = [ZERO]

    def add(self, day: int, amount: Decimal) -> None:
        """Add to the latest day, or to a day that exists."""
        days, tree = self._days, self._tree
        if not days or day > days[-1]:
            days.append(day)
            size = len(days)
            tree.append(amount + self._sum(size - 1) - self._sum(size - (size & -size)))
        elif day == days[-1]:
            tree[-1] += amount  # no other node ends at the latest day
        else:
            node = bisect_left(days, day) + 1
            assert days[node - 1] == day, "a day that was passed over cannot be added to"
            while node < len(tree):
                tree[node] += amount
                node += node & -node

    def between(self, first: date, last: date) -> Decimal:
        """The sum of the days from `first` to `last`."""
        high = bisect_right(self._days, last.toordinal())
        low = bisect_left(self._days, first.toordinal())
        return self._sum(high) - self._sum(low)

    def _sum(self, node: int) -> Decimal:
        """The sum of the first `node` days."""
        total = ZERO
        while node:
            total += self._tree[node]
            node -= node & -node
        return total


class BlockCounter:
    """One small mutable number for each place, 0 to `kinds` - 1; counted in blocks of `BLOCK` places.

    A change updates two counters, and a count over a million places adds up 500 of them.
    """

    __slots__ = ("_blocks", "_values")

    def __init__(self, kinds: int) -> None:
        self._values = bytearray()
        self._blocks: list[list[int]] = [[] for _ in range(kinds)]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> int:
        return self._values[place]

    def extend(self, values: bytes) -> None:
        """Append the values of the next places."""
        done = 0
        while done < len(values):
            room = BLOCK - len(self._values) % BLOCK
            part = values[done : done + room]
            for kind, blocks in enumerate(self._blocks):
                if room == BLOCK:
                    blocks.append(0)
                blocks[-1] += part.count(kind)
            self._values += part
            done += room

    def change(self, place: int, value: int) -> None:
        """Change the value of a place."""
        self._blocks[self._values[place]][place // BLOCK] -= 1
        self._blocks[value][place // BLOCK] += 1
        self._values[place] = value

    def count(self, value: int, low: int, high: int) -> int:
        """How many places in the half-open range from `low` to `high` have this value."""
        first, last = -(-low // BLOCK), high // BLOCK  # of the whole blocks between them
        if first >= last:
            return self._values.count(value, low, high)
        ends = self._values.count(value, low, first * BLOCK) + self._values.count(value, last * BLOCK, high)
        return ends + sum(self._blocks[value][first:last])

    def ranked(self, values: frozenset[int], low: int, begin: int, end: int) -> list[int]:
        """Of the places from `low` on with one of `values`, those ranked from `begin` to before `end`, from 0."""
        if end <= begin:
            return []
        if len(values) == len(self._blocks):
            return list(range(low + begin, low + end))
        rank = begin + sum(self.count(value, 0, low) for value in values)
        place, before = self._near(rank, values)
        found = chain.from_iterable(self._selected(start, values) for start in range(place, len(self._values), PIECE))
        return list(islice(found, rank - before, rank - before + end - begin))

    def _near(self, rank: int, values: frozenset[int]) -> tuple[int, int]:
        """A place shortly before that with this rank, among those with one of `values`, of which `before` are before
        it."""
        counts = [self._blocks[value] for value in values]
        before, low, high = 0, 0, len(self._blocks[0])
        while high - low > 1:
            middle = (low + high) // 2
            more = sum(sum(one[low:middle]) for one in counts)
            if before + more <= rank:
                before, low = before + more, middle
            else:
                high = middle
        place, size = low * BLOCK, BLOCK // 2
        while size >= PIECE:
            more = sum(self._values.count(value, place, place + size) for value in values)
            if before + more <= rank:
                before, place = before + more, place + size
            size //= 2
        return place, before

    def _selected(self, start: int, values: frozenset[int]) -> Iterator[int]:
        """Of the next `PIECE` places those with one of `values`."""
        wanted = self._values[start : start + PIECE].translate(_selecting(values))
        return compress(range(start, start + PIECE), wanted)


@cache
def _selecting(values: frozenset[int]) -> bytes:
    return bytes(value in values for value in range(256))


def span(total: int, offset: int, limit: int, *, newest_first: bool) -> tuple[int, int]:
    """The ranks, oldest first, of the page of `limit` after the first `offset` of `total` in its own order."""
    begin, end = min(offset, total), min(offset + limit, total)
    return (total - end, total - begin) if newest_first else (begin, end)
