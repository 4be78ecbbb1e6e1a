"""A reseller's ledger entries, indexed for statement queries: by day and type (SPEC 4.17)."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal

import msgspec

from simulator.domain.model.history.indexes import (
    BlockCounter,
    Days,
    DaySums,
    span,
)
from simulator.domain.model.money import ZERO
from simulator.domain.model.wallet import Entry, EntryType, Wallet

CHUNK = 256
"""How many entries of a type are looked up at once."""

READ_MAX = 1_000
"""How many entries are read at once for the indexes."""

_VALUES = {type_: value for value, type_ in enumerate(EntryType)}


class Totals(msgspec.Struct, frozen=True):
    """The count and the sum of one type's entries in a search."""

    entries: int
    amount: Decimal


class Statement:
    """All ledger entries of a wallet in their order."""

    __slots__ = ("_amounts", "_days", "_entries", "_types")

    def __init__(self, wallet: Wallet) -> None:
        self._entries = wallet.entries
        self._days = Days()
        self._types = BlockCounter(len(EntryType))
        self._amounts = {type_: DaySums() for type_ in EntryType}

    @property
    def lag(self) -> int:
        """How many entries the indexes do not have yet."""
        return len(self._entries) - len(self._types)

    def catch_up(self, most: int | None = None) -> None:
        """Bring the indexes up to date, or have at most so many more in them."""
        done, end = len(self._types), len(self._entries)
        if most is not None:
            end = min(end, done + most)
        while done < end:
            latest = self._entries[done : min(end, done + READ_MAX)]
            day = self._days.at(latest[0].at, done)
            of_day = latest[: bisect_left(latest, self._days.end, key=_at)]
            self._extend(of_day, day)
            done += len(of_day)

    def find(
        self,
        first: date,
        last: date,
        types: frozenset[EntryType],
        offset: int,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> tuple[list[Entry], Mapping[EntryType, Totals]]:
        """`limit` entries of these days and types after the first `offset`, and the whole search's totals by type."""
        self.catch_up()
        low, high = self._days.between(first, last, len(self._entries))
        totals = {
            type_: Totals(self._types.count(_VALUES[type_], low, high), self._amounts[type_].between(first, last))
            if type_ in types
            else Totals(0, ZERO)
            for type_ in EntryType
        }
        total = sum(each.entries for each in totals.values())
        begin, end = span(total, offset, limit, newest_first=newest_first)
        values = frozenset(_VALUES[type_] for type_ in types)
        page = [self._entries[place] for place in self._types.ranked(values, low, begin, end)]
        return (page[::-1] if newest_first else page), totals

    def newest_first(self, type_: EntryType | None, count: int) -> Iterator[Entry]:
        """Of the first `count` entries those of a type, or all, the latest first. The first of them cost the same for
        any number of others."""
        if type_ is None:
            for place in range(count - 1, -1, -1):
                yield self._entries[place]
            return
        self.catch_up()
        value = _VALUES[type_]
        rank = self._types.count(value, 0, count)
        while rank:
            begin = max(0, rank - CHUNK)
            for place in reversed(self._types.ranked(frozenset({value}), 0, begin, rank)):
                yield self._entries[place]
            rank = begin

    def _extend(self, latest: list[Entry], day: int) -> None:
        self._types.extend(bytes([_VALUES[entry.type] for entry in latest]))
        by_type: dict[EntryType, list[Decimal]] = {}
        for entry in latest:
            by_type.setdefault(entry.type, []).append(entry.amount)
        for type_, amounts in by_type.items():
            self._amounts[type_].add(day, sum(amounts, ZERO))


def _at(entry: Entry) -> datetime:
    return entry.at
