"""The history of a reseller's transactions, indexed by day, with totals by day, product and status (SPEC 4.14).

Totals are updated with each payment, and pages are read from the list, so queries take milliseconds even with a hundred
thousand payments.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum, auto
from itertools import islice
from typing import TypeVar

import msgspec

from simulator.domain.model.money import SERVICE_ZONE, ZERO
from simulator.domain.model.transactions import PROCESSING, Status, Transaction

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
        """Record the time of the next record and return the index of its day. Times never decrease."""
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


class Total(msgspec.Struct, gc=False):
    """The number of transactions by day, product and status, with the sums of successful amounts and prices."""

    count: int = 0
    amount: Decimal = ZERO
    price: Decimal = ZERO


Totals = dict[tuple[str, HistoryStatus], Total]


class History:
    """All transactions of a reseller in creation order. `processing` counts those with that status, which queries treat
    like `Accepted`."""

    __slots__ = ("_days", "_totals", "processing", "transactions")

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []
        self.processing = 0
        self._days = Days()
        self._totals: list[Totals] = []  # for each day

    def __len__(self) -> int:
        return len(self.transactions)

    def add(self, transaction: Transaction) -> None:
        """Add a new transaction."""
        transaction.place = place = len(self.transactions)
        self.transactions.append(transaction)
        if self._days.add(transaction.created, place) == len(self._totals):
            self._totals.append({})
        status = transaction.results[-1].status
        self.processing += status is PROCESSING
        _count(self._totals[-1], transaction, HISTORY_STATUSES[status], 1)

    def change_status(self, transaction: Transaction) -> None:
        """Count a transaction by its latest status instead of the previous status."""
        before, after = transaction.results[-2].status, transaction.results[-1].status
        self.processing += (after is PROCESSING) - (before is PROCESSING)
        old, new = HISTORY_STATUSES[before], HISTORY_STATUSES[after]
        if old is not new:
            totals = self._totals[self._days.index_of(transaction.place)]
            _count(totals, transaction, old, -1)
            _count(totals, transaction, new, 1)

    def products(self) -> list[str]:
        """Return the codes of all products ever paid, in the order of their first payment."""
        return list(dict.fromkeys(product for totals in self._totals for product, _ in totals))

    def find(
        self, wanted: HistoryQuery, offset: int, limit: int, *, newest_first: bool = True
    ) -> tuple[list[Transaction], Figures]:
        """Return `limit` transactions after the first `offset`, and the totals of the whole search."""
        days = self._days.between(wanted.first, wanted.last)
        places = self._days.places(days, len(self.transactions))
        if wanted.account:
            of_days = self.transactions[places.start : places.stop]
            found = [one for one in of_days if one.account == wanted.account and wanted.matches(one)]
            figures = figures_of(found)
            page = page_of(found, range(len(found)), None, offset, limit, newest_first=newest_first)
            return page, figures
        figures = _figures(wanted, self._totals[days])
        if offset >= sum(figures.counts.values()):
            return [], figures
        matches = None if wanted.is_by_day_alone else wanted.matches
        return page_of(self.transactions, places, matches, offset, limit, newest_first=newest_first), figures


def figures_of(transactions: Iterable[Transaction]) -> Figures:
    """Return the totals of these transactions."""
    totals: Totals = {}
    for transaction in transactions:
        _count(totals, transaction, HISTORY_STATUSES[transaction.results[-1].status], 1)
    return _summed(totals.items())


def _figures(wanted: HistoryQuery, days: Iterable[Totals]) -> Figures:
    return _summed(
        (key, total)
        for totals in days
        for key, total in totals.items()
        if wanted.product in ("", key[0]) and key[1] in wanted.statuses
    )


def _summed(totals: Iterable[tuple[tuple[str, HistoryStatus], Total]]) -> Figures:
    counts = dict.fromkeys(HistoryStatus, 0)
    amount = price = ZERO
    for (_, status), total in totals:
        counts[status] += total.count
        amount += total.amount
        price += total.price
    return Figures(counts, amount, price)


def _count(totals: Totals, transaction: Transaction, status: HistoryStatus, sign: int) -> None:
    key = transaction.product, status
    total = totals.get(key)
    if total is None:
        total = totals[key] = Total()
    total.count += sign
    if status is SUCCESSFUL:
        total.amount += sign * transaction.face
        total.price += sign * transaction.cost
