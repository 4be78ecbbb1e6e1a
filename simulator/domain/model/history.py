"""The history of a reseller's transactions, indexed by day, with totals by day, product and status (SPEC 4.14).

Totals are updated with each payment, and pages are read from the list, so queries take milliseconds even with a hundred
thousand payments.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """Records in order of time, with totals by kind for each of the service's days (GMT+8) that has records."""

    __slots__ = ("_end", "_ordinals", "_starts", "_totals", "records")

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._ordinals: list[int] = []  # of the days, in order
        self._starts: list[int] = []  # the place of the first record of each day
        self._totals: list[dict[Kind, Total]] = []  # of each day
        self._end = datetime.min.replace(tzinfo=UTC)  # of the latest day

    def append(self, record: Record, at: datetime) -> None:
        """Append a record. Times never decrease."""
        if at >= self._end:
            local = at.astimezone(SERVICE_ZONE)
            self._end = local.replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            self._ordinals.append(local.toordinal())
            self._starts.append(len(self.records))
            self._totals.append({})
        self.records.append(record)

    def total(self, kind: Kind, place: int = -1) -> Total:
        """Return the total of a kind for the day of the record at `place`, to be changed."""
        totals = self._totals[-1 if place < 0 else bisect_right(self._starts, place) - 1]
        found = totals.get(kind)
        if found is None:
            found = totals[kind] = Total()
        return found

    def between(self, first: date, last: date) -> tuple[range, list[dict[Kind, Total]]]:
        """Return the places of the records from the day `first` to `last`, inclusive, and the totals of each day."""
        begin, end = bisect_left(self._ordinals, first.toordinal()), bisect_right(self._ordinals, last.toordinal())
        starts = (*self._starts, len(self.records))
        return range(starts[begin], starts[max(begin, end)]), self._totals[begin:end]

    def kinds(self) -> Iterator[Kind]:
        """Yield the kinds of the records of each day."""
        return (kind for totals in self._totals for kind in totals)


def page_of(
    records: Sequence[Record],
    places: range,
    matches: Callable[[Record], bool] | None,
    offset: int,
    limit: int,
    *,
    newest_first: bool,
) -> list[Record]:
    """Return `limit` records that match, after the first `offset`, in the requested order. Without `matches`, all
    match."""
    in_order = places[::-1] if newest_first else places
    if matches is None:
        return [records[place] for place in in_order[offset : offset + limit]]
    found = filter(matches, map(records.__getitem__, in_order))
    return list(islice(found, offset, offset + limit))


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
ALL_STATUSES = frozenset(HistoryStatus)


class HistoryQuery(msgspec.Struct, frozen=True):
    """A query: transactions created from the day `first` to the day `last`, inclusive, with one of `statuses` and, if
    set, this product and this account."""

    first: date
    last: date
    statuses: frozenset[HistoryStatus] = ALL_STATUSES
    product: str = ""
    account: str = ""

    @property
    def is_by_day_alone(self) -> bool:
        """Return whether the query asks for all transactions of its days."""
        return not (self.product or self.account) and self.statuses == ALL_STATUSES

    def matches(self, transaction: Transaction) -> bool:
        """Return whether the query includes a transaction of its days."""
        return (
            self.account in ("", transaction.account)
            and self.product in ("", transaction.product)
            and HISTORY_STATUSES[transaction.results[-1].status] in self.statuses
        )


class Figures(msgspec.Struct, frozen=True):
    """Totals of a whole search: the count of each status, and the sums of successful transactions, in ringgit."""

    counts: Mapping[HistoryStatus, int]
    amount: Decimal
    price: Decimal


ProductStatus = tuple[str, HistoryStatus]


class History:
    """All transactions of a reseller in creation order, with totals by product and status. `processing` counts those
    with that status, which queries treat like `Accepted`."""

    __slots__ = ("_by_day", "processing", "transactions")

    def __init__(self) -> None:
        self._by_day: DatedRecords[Transaction, ProductStatus] = DatedRecords()
        self.transactions = self._by_day.records
        self.processing = 0

    def __len__(self) -> int:
        return len(self.transactions)

    def add(self, transaction: Transaction) -> None:
        """Add a new transaction."""
        transaction.place = len(self.transactions)
        self._by_day.append(transaction, transaction.created)
        status = transaction.results[-1].status
        self.processing += status is PROCESSING
        self._count(transaction, HISTORY_STATUSES[status], 1)

    def change_status(self, transaction: Transaction) -> None:
        """Count a transaction by its latest status instead of the previous status."""
        before, after = transaction.results[-2].status, transaction.results[-1].status
        self.processing += (after is PROCESSING) - (before is PROCESSING)
        old, new = HISTORY_STATUSES[before], HISTORY_STATUSES[after]
        if old is not new:
            self._count(transaction, old, -1)
            self._count(transaction, new, 1)

    def _count(self, transaction: Transaction, status: HistoryStatus, sign: int) -> None:
        _add(self._by_day.total((transaction.product, status), transaction.place), transaction, status, sign)

    def products(self) -> list[str]:
        """Return the codes of all products ever paid, in the order of their first payment."""
        return list(dict.fromkeys(product for product, _ in self._by_day.kinds()))

    def find(
        self, wanted: HistoryQuery, offset: int, limit: int, *, newest_first: bool = True
    ) -> tuple[list[Transaction], Figures]:
        """Return `limit` transactions after the first `offset`, and the totals of the whole search."""
        places, days = self._by_day.between(wanted.first, wanted.last)
        if wanted.account:
            of_days = self.transactions[places.start : places.stop]
            found = [one for one in of_days if one.account == wanted.account and wanted.matches(one)]
            figures = figures_of(found)
            page = page_of(found, range(len(found)), None, offset, limit, newest_first=newest_first)
            return page, figures
        figures = _summed(
            (status, total)
            for of_day in days
            for (product, status), total in of_day.items()
            if wanted.product in ("", product) and status in wanted.statuses
        )
        if offset >= sum(figures.counts.values()):
            return [], figures
        matches = None if wanted.is_by_day_alone else wanted.matches
        return page_of(self.transactions, places, matches, offset, limit, newest_first=newest_first), figures


def figures_of(transactions: Iterable[Transaction]) -> Figures:
    """Return the totals of these transactions."""
    totals = {status: Total() for status in HistoryStatus}
    for transaction in transactions:
        status = HISTORY_STATUSES[transaction.results[-1].status]
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
