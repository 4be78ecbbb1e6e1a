"""An index over some of a reseller's transactions, and how those of one day get into it."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from simulator.domain.model.history.indexes import BlockCounter, DaySums, places
from simulator.domain.model.history.query import HISTORY_STATUSES, Figures, HistoryQuery, HistoryStatus
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import Transaction


class Indexed(msgspec.Struct, gc=False):
    """What the indexes are made of: a transaction's place, product, account, amount, price and status."""

    place: int
    created: datetime
    product: str
    account: str
    face: Decimal
    cost: Decimal
    status: HistoryStatus

    @classmethod
    def of(cls, one: Transaction) -> "Indexed":
        """That of a transaction as it is now."""
        status = HISTORY_STATUSES[one.results[-1].status]
        return cls(one.place, one.created, one.product, one.account, one.face, one.cost, status)


class TransactionIndex:
    """An ordered subset of transactions: their places, their statuses, and daily sums of the successful ones."""

    __slots__ = ("amounts", "places", "prices", "statuses")

    def __init__(self) -> None:
        self.places = places()
        self.statuses = BlockCounter(len(HistoryStatus))
        self.amounts = DaySums()
        self.prices = DaySums()

    def extend(self, latest: Sequence[int], statuses: bytes, day: int, amount: Decimal, price: Decimal) -> None:
        """Append places of a single day; `amount` and `price` are the sums of its successful transactions."""
        self.places.extend(latest)
        self.statuses.extend(statuses)
        self.amounts.add(day, amount)
        self.prices.add(day, price)

    def move(self, one: Indexed, before: int, after: int, day: int) -> None:
        """Change a transaction's status."""
        self.statuses.change(bisect_left(self.places, one.place), after)
        if after == HistoryStatus.SUCCESSFUL:
            self.amounts.add(day, one.face)
            self.prices.add(day, one.cost)
        elif before == HistoryStatus.SUCCESSFUL:
            self.amounts.add(day, -one.face)
            self.prices.add(day, -one.cost)

    def figures(self, wanted: HistoryQuery, low: int, high: int) -> Figures:
        """Totals of what matches between two places of this index, which belong to its days."""
        counts = {
            status: self.statuses.count(status, low, high) if status in wanted.statuses else 0
            for status in HistoryStatus
        }
        if HistoryStatus.SUCCESSFUL not in wanted.statuses:
            return Figures(counts, ZERO, ZERO)
        days = (wanted.first, wanted.last)
        return Figures(counts, self.amounts.between(*days), self.prices.between(*days))


def index_day(
    whole: TransactionIndex,
    of_product: dict[str, TransactionIndex],
    ones: list[Indexed],
    statuses: bytes,
    day: int,
) -> None:
    """Add transactions of one day to the index of all, and to those of their products."""
    by_product: dict[str, list[int]] = {}
    for at, one in enumerate(ones):
        by_product.setdefault(one.product, []).append(at)
    amounts = prices = ZERO
    for product, positions in by_product.items():
        paid = [ones[at] for at in positions if statuses[at] == HistoryStatus.SUCCESSFUL]
        amount, price = sum([one.face for one in paid], ZERO), sum([one.cost for one in paid], ZERO)
        index = of_product.get(product) or of_product.setdefault(product, TransactionIndex())
        own = bytes([statuses[at] for at in positions])
        index.extend([ones[at].place for at in positions], own, day, amount, price)
        amounts, prices = amounts + amount, prices + price
    whole.extend([one.place for one in ones], statuses, day, amounts, prices)
