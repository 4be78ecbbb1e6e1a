"""A reseller's transactions as history asks for them: by day, status, product and account (SPEC 4.14)."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple

from simulator.domain.indexes import Days, DaySums, Marks, places, span
from simulator.domain.money import ZERO
from simulator.domain.transactions import Status, Transaction


class Standing(IntEnum):
    """What history tells apart: the four values of its filter (SPEC 4.14)."""

    SUCCESSFUL = 0
    PENDING = 1
    FAILED = 2
    REFUND = 3


STANDINGS: Mapping[Status, Standing] = {
    Status.ACCEPTED: Standing.PENDING,
    Status.PROCESSING: Standing.PENDING,
    Status.SUCCESSFUL: Standing.SUCCESSFUL,
    Status.FAILED: Standing.FAILED,
    Status.REFUNDED: Standing.REFUND,
}


class Wanted(NamedTuple):
    """Which transactions: those created from the day `first` to the day `last`, both included, that have one of
    `standings` and, where given, this product and this account."""

    first: date
    last: date
    standings: frozenset[Standing] = frozenset(Standing)
    product: str = ""
    account: str = ""


class Figures(NamedTuple):
    """What a whole search holds: how many of each standing, and what the successful ones add up to."""

    counts: Mapping[Standing, int]
    amount: Decimal
    price: Decimal

    @classmethod
    def of(cls, transactions: Iterable[Transaction]) -> "Figures":
        """Figures of a few transactions, counted one by one."""
        counts = dict.fromkeys(Standing, 0)
        amount = price = ZERO
        for one in transactions:
            standing = STANDINGS[one.result.status]
            counts[standing] += 1
            if standing is Standing.SUCCESSFUL:
                amount += one.amount
                price += one.cost
        return cls(counts, amount, price)


class Shelf:
    """Some transactions in order: their places, where each stands, and the sums of the successful ones by day."""

    __slots__ = ("amounts", "places", "prices", "standings")

    def __init__(self) -> None:
        self.places = places()
        self.standings = Marks(len(Standing))
        self.amounts = DaySums()
        self.prices = DaySums()

    def extend(self, latest: list[Transaction], day: int) -> None:
        """Take in the latest transactions, all of one day."""
        marks = bytes([STANDINGS[one.results[-1].status] for one in latest])
        paid = [one for one, mark in zip(latest, marks, strict=True) if mark == Standing.SUCCESSFUL]
        self.places.extend([one.place for one in latest])
        self.standings.extend(marks)
        self.amounts.add(day, sum([one.amount for one in paid], ZERO))
        self.prices.add(day, sum([one.cost for one in paid], ZERO))

    def move(self, one: Transaction, before: int, after: int, day: int) -> None:
        """Give a transaction another standing."""
        self.standings.change(bisect_left(self.places, one.place), after)
        if after == Standing.SUCCESSFUL:
            self.amounts.add(day, one.amount)
            self.prices.add(day, one.cost)
        elif before == Standing.SUCCESSFUL:
            self.amounts.add(day, -one.amount)
            self.prices.add(day, -one.cost)

    def figures(self, wanted: Wanted, low: int, high: int) -> Figures:
        """Of what is wanted between two indexes of this shelf, which belong to its days."""
        counts = {
            standing: self.standings.count(standing, low, high) if standing in wanted.standings else 0
            for standing in Standing
        }
        if Standing.SUCCESSFUL not in wanted.standings:
            return Figures(counts, ZERO, ZERO)
        days = (wanted.first, wanted.last)
        return Figures(counts, self.amounts.between(*days), self.prices.between(*days))


class History:
    """All transactions of a reseller in the order of their creation."""

    __slots__ = ("_all", "_before", "_changed", "_days", "_latest_of", "_of_product", "_whole")

    def __init__(self) -> None:
        self._all: list[Transaction] = []
        self._changed: list[Transaction] = []
        self._days = Days()
        self._whole = Shelf()
        self._of_product: dict[str, Shelf] = {}
        # The transactions of one account are a chain: its latest place, and from each place the one before, plus 1.
        self._latest_of: dict[str, int] = {}
        self._before = places()

    def __len__(self) -> int:
        return len(self._all)

    @property
    def lag(self) -> int:
        """How many transactions are new or have changed since the indexes were up to date."""
        return len(self._all) - len(self._before) + len(self._changed)

    def add(self, one: Transaction) -> None:
        """Note a new transaction."""
        one.place = len(self._all)
        self._all.append(one)

    def note_change(self, one: Transaction) -> None:
        """Note that a transaction has another status."""
        if one.place < len(self._before):
            self._changed.append(one)

    def catch_up(self) -> None:
        """Bring the indexes up to date."""
        for one in self._changed:
            self._move(one)
        self._changed.clear()
        done = len(self._before)
        while done < len(self._all):
            day = self._days.at(self._all[done].created, done)
            end_of_day = bisect_left(self._all, self._days.end, done, key=_created)
            self._extend(self._all[done:end_of_day], day)
            done = end_of_day

    def has_product(self, product: str) -> bool:
        """True when something of this product was ever paid."""
        self.catch_up()
        return product in self._of_product

    def find(
        self, wanted: Wanted, offset: int, limit: int, *, newest_first: bool = True
    ) -> tuple[list[Transaction], Figures]:
        """`limit` transactions behind the first `offset`, and the figures of the whole search."""
        self.catch_up()
        low, high = self._days.between(wanted.first, wanted.last, len(self._all))
        if wanted.account:
            matching = list(self._of_account(wanted, low, high))[::-1]
            begin, end = span(len(matching), offset, limit, newest_first=newest_first)
            page, figures = matching[begin:end], Figures.of(matching)
        else:
            shelf = self._of_product.get(wanted.product, Shelf()) if wanted.product else self._whole
            low, high = bisect_left(shelf.places, low), bisect_left(shelf.places, high)
            figures = shelf.figures(wanted, low, high)
            begin, end = span(sum(figures.counts.values()), offset, limit, newest_first=newest_first)
            found = shelf.standings.ranked(wanted.standings, low, begin, end)
            page = [self._all[shelf.places[index]] for index in found]
        return (page[::-1] if newest_first else page), figures

    def _extend(self, latest: list[Transaction], day: int) -> None:
        by_product: dict[str, list[Transaction]] = {}
        before, latest_of = self._before, self._latest_of
        for one in latest:
            by_product.setdefault(one.product, []).append(one)
            before.append(latest_of.get(one.account, -1) + 1)
            latest_of[one.account] = one.place
        self._whole.extend(latest, day)
        for product, some in by_product.items():
            self._of_product.setdefault(product, Shelf()).extend(some, day)

    def _move(self, one: Transaction) -> None:
        before, after = self._whole.standings[one.place], STANDINGS[one.results[-1].status]
        if before == after:
            return
        day = self._days.of(one.place)
        for shelf in (self._whole, self._of_product[one.product]):
            shelf.move(one, before, after, day)

    def _of_account(self, wanted: Wanted, low: int, high: int) -> Iterator[Transaction]:
        """What matches of one account, newest first."""
        standings = self._whole.standings
        place = self._latest_of.get(wanted.account, -1)
        while place >= low:
            one = self._all[place]
            if place < high and wanted.product in ("", one.product) and standings[place] in wanted.standings:
                yield one
            place = self._before[place] - 1


def _created(one: Transaction) -> datetime:
    return one.created
