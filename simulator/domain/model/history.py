"""The history of a reseller's transactions, indexed by day, with totals by day, product and status (SPEC 4.14).

Totals are updated with each payment, and pages are read from the list, so queries take milliseconds even with a hundred
thousand payments.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum, auto
from itertools import islice
from typing import Generic, TypeVar

import msgspec

from simulator.domain.model.money import SERVICE_ZONE, ZERO
from simulator.domain.model.transactions import PROCESSING, Status, Transaction

Record = TypeVar("Record")
Kind = TypeVar("Kind")

DAY = timedelta(days=1)


class Total(msgspec.Struct, gc=False):
    """The number of records, and the sums of their amounts and prices."""

    count: int = 0
    amount: Decimal = ZERO
    price: Decimal = ZERO

    def add(self, count: int, amount: Decimal = ZERO, price: Decimal = ZERO) -> None:
        """Add records, or with numbers below zero remove records."""
        self.count += count
        self.amount += amount
        self.price += price


class DatedRecords(Generic[Record, Kind]):
    """Records in order of time, with totals by kind for each of the service's days (GMT+8) that has records.
    `kind_of` returns the current kind of a record."""

    __slots__ = ("_end", "_kind_of", "_ordinals", "_starts", "_totals", "records")

    def __init__(self, kind_of: Callable[[Record], Kind]) -> None:
        self.records: list[Record] = []
        self._kind_of = kind_of
        self._ordinals: list[int] = []  # of the days, in order
        self._starts: list[int] = []  # the place of the first record of each day
        self._totals: list[defaultdict[Kind, Total]] = []  # of each day
        self._end = datetime.min.replace(tzinfo=UTC)  # of the latest day

    def append(self, record: Record, at: datetime, kind: Kind) -> Total:
        """Append a record, and return the total of its day and kind, to be changed. Times never decrease."""
        if at >= self._end:
            local = at.astimezone(SERVICE_ZONE)
            self._end = local.replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            self._ordinals.append(local.toordinal())
            self._starts.append(len(self.records))
            self._totals.append(defaultdict(Total))
        self.records.append(record)
        return self._totals[-1][kind]

    def totals(self, at: datetime) -> defaultdict[Kind, Total]:
        """Return the totals of the day of a record, to be changed."""
        return self._totals[bisect_left(self._ordinals, at.astimezone(SERVICE_ZONE).toordinal())]

    def between(self, first: date, last: date) -> tuple[range, list[defaultdict[Kind, Total]]]:
        """Return the places of the records from the day `first` to `last`, inclusive, and the totals of each day."""
        begin, end = bisect_left(self._ordinals, first.toordinal()), bisect_right(self._ordinals, last.toordinal())
        starts = (*self._starts, len(self.records))
        return range(starts[begin], starts[max(begin, end)]), self._totals[begin:end]

    def kinds(self) -> Iterator[Kind]:
        """Yield the kinds of the records of each day."""
        return (kind for totals in self._totals for kind in totals)

    def find(
        self, first: date, last: date, wants: Callable[[Kind], bool], offset: int, limit: int, *, newest_first: bool
    ) -> tuple[list[Record], defaultdict[Kind, Total]]:
        """Return `limit` records of these days and the wanted kinds after the first `offset`, in the requested order,
        and the totals of the whole search by kind."""
        places, days = self.between(first, last)
        totals: defaultdict[Kind, Total] = defaultdict(Total)
        for of_day in days:
            for kind in filter(wants, of_day):
                totals[kind].add(of_day[kind].count, of_day[kind].amount, of_day[kind].price)
        count, in_order = sum(total.count for total in totals.values()), places[::-1] if newest_first else places
        if count == len(places):
            return [self.records[place] for place in in_order[offset : offset + limit]], totals
        found = filter(lambda one: wants(self._kind_of(one)), map(self.records.__getitem__, in_order))
        return list(islice(found, offset, offset + limit)) if offset < count else [], totals


class HistoryStatus(IntEnum):
    """The statuses that history distinguishes: the four values of its filter (SPEC 4.14)."""

    SUCCESSFUL = auto()
    PENDING = auto()
    FAILED = auto()
    REFUND = auto()


HISTORY_STATUSES: Mapping[Status, HistoryStatus] = {
    Status.ACCEPTED: HistoryStatus.PENDING,
    Status.PROCESSING: HistoryStatus.PENDING,
    Status.SUCCESSFUL: HistoryStatus.SUCCESSFUL,
    Status.FAILED: HistoryStatus.FAILED,
    Status.REFUNDED: HistoryStatus.REFUND,
}

SUCCESSFUL = HistoryStatus.SUCCESSFUL  # member access on the enum runs Python code
ProductStatus = tuple[str, HistoryStatus]


class HistoryQuery(msgspec.Struct, frozen=True):
    """A query: transactions created from the day `first` to the day `last`, inclusive, with one of `statuses` and, if
    set, this product and this account."""

    first: date
    last: date
    statuses: frozenset[HistoryStatus] = frozenset(HistoryStatus)
    product: str = ""
    account: str = ""

    def wants(self, kind: ProductStatus) -> bool:
        """Return whether the query includes transactions of this product with this status."""
        return self.product in ("", kind[0]) and kind[1] in self.statuses


class Figures(msgspec.Struct, frozen=True):
    """Totals of a whole search: the count of each status, and the sums of successful transactions, in ringgit."""

    counts: Mapping[HistoryStatus, int]
    amount: Decimal
    price: Decimal


def _kind_of(transaction: Transaction) -> ProductStatus:
    return transaction.product, HISTORY_STATUSES[transaction.results[-1].kind.status]


class History:
    """All transactions of a reseller in creation order, with totals by product and status. `processing` counts those
    with that status, which queries treat like `Accepted`."""

    __slots__ = ("_by_day", "processing", "transactions")

    def __init__(self) -> None:
        self._by_day: DatedRecords[Transaction, ProductStatus] = DatedRecords(_kind_of)
        self.transactions = self._by_day.records
        self.processing = 0

    def __len__(self) -> int:
        return len(self.transactions)

    def add(self, transaction: Transaction) -> None:
        status = transaction.results[-1].kind.status
        self.processing += status is PROCESSING
        kind = HISTORY_STATUSES[status]
        total = self._by_day.append(transaction, transaction.created, (transaction.product, kind))
        _add(total, transaction, kind, 1)

    def change_status(self, transaction: Transaction) -> None:
        """Count a transaction by its latest status instead of the previous status."""
        before, after = transaction.results[-2].kind.status, transaction.results[-1].kind.status
        self.processing += (after is PROCESSING) - (before is PROCESSING)
        old, new = HISTORY_STATUSES[before], HISTORY_STATUSES[after]
        if old is not new:
            totals = self._by_day.totals(transaction.created)
            for status, sign in ((old, -1), (new, 1)):
                _add(totals[transaction.product, status], transaction, status, sign)

    def products(self) -> list[str]:
        """Return the codes of all products ever paid, in the order of their first payment."""
        return list(dict.fromkeys(product for product, _ in self._by_day.kinds()))

    def find(
        self, wanted: HistoryQuery, offset: int, limit: int, *, newest_first: bool = True
    ) -> tuple[list[Transaction], Figures]:
        """Return `limit` transactions after the first `offset`, and the totals of the whole search."""
        days = (wanted.first, wanted.last)
        if wanted.account:
            places, _ = self._by_day.between(*days)
            of_days = self.transactions[places.start : places.stop]
            found = [day for day in of_days if day.account == wanted.account and wanted.wants(_kind_of(day))]
            return (found[::-1] if newest_first else found)[offset : offset + limit], figures_of(found)
        page, totals = self._by_day.find(*days, wanted.wants, offset, limit, newest_first=newest_first)
        return page, _summed((status, total) for (_, status), total in totals.items())


def figures_of(transactions: Iterable[Transaction]) -> Figures:
    totals = {status: Total() for status in HistoryStatus}
    for transaction in transactions:
        status = HISTORY_STATUSES[transaction.results[-1].kind.status]
        _add(totals[status], transaction, status, 1)
    return _summed(totals.items())


def _summed(totals: Iterable[tuple[HistoryStatus, Total]]) -> Figures:
    counts = dict.fromkeys(HistoryStatus, 0)
    amount = price = ZERO
    for status, total in totals:
        counts[status] += total.count
        amount += total.amount
        price += total.price
    return Figures(counts, amount, price)


def _add(total: Total, transaction: Transaction, status: HistoryStatus, sign: int) -> None:
    """Count a transaction; only a successful one adds to the sums."""
    if status is SUCCESSFUL:
        total.add(sign, sign * transaction.face, sign * transaction.cost)
    else:
        total.count += sign
