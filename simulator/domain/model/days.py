"""The days of a chronological sequence of records."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TypeVar

from simulator.domain.model.money import SERVICE_ZONE

Record = TypeVar("Record")

DAY = timedelta(days=1)


class Days:
    """The service's days (GMT+8) that have records, as ordinals in order, and the place of the first record of each."""

    __slots__ = ("_end", "_ordinals", "_starts")

    def __init__(self) -> None:
        self._ordinals: list[int] = []
        self._starts: list[int] = []
        self._end = datetime.min.replace(tzinfo=UTC)  # of the latest day

    def add(self, at: datetime, place: int) -> int:
        """Record the time of the next record. Return the index of its day. Times never decrease."""
        if at >= self._end:
            local = at.astimezone(SERVICE_ZONE)
            self._end = local.replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            self._ordinals.append(local.toordinal())
            self._starts.append(place)
        return len(self._starts) - 1

    def index_of(self, place: int) -> int:
        """Return the index of the day of a record."""
        return bisect_right(self._starts, place) - 1

    def between(self, first: date, last: date) -> slice:
        """Return the indexes of the days from `first` to `last`, inclusive."""
        return slice(bisect_left(self._ordinals, first.toordinal()), bisect_right(self._ordinals, last.toordinal()))

    def places(self, days: slice, count: int) -> range:
        """Return the places of the records of these days, among `count` records."""
        starts = self._starts
        return range(*(starts[day] if day < len(starts) else count for day in (days.start, days.stop)))


def page_of(
    records: Sequence[Record],
    places: range,
    matches: Callable[[Record], bool] | None,
    offset: int,
    limit: int,
    *,
    newest_first: bool,
) -> list[Record]:
    """Return `limit` records that match, after the first `offset` of them, in the order that is asked for. Without
    `matches` all match."""
    in_order = places[::-1] if newest_first else places
    if matches is None:
        return [records[place] for place in in_order[offset : offset + limit]]
    found = filter(matches, map(records.__getitem__, in_order))
    return list(islice(found, offset, offset + limit))
