"""What history is asked (SPEC 4.14) and the totals of an answer."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from enum import IntEnum

import msgspec

from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import Status, Transaction


class HistoryStatus(IntEnum):
    """The statuses that history distinguishes: the four values of its filter (SPEC 4.14)."""

    SUCCESSFUL = 0
    PENDING = 1
    FAILED = 2
    REFUND = 3


HISTORY_STATUSES: Mapping[Status, HistoryStatus] = {
    Status.ACCEPTED: HistoryStatus.PENDING,
    Status.PROCESSING: HistoryStatus.PENDING,
    Status.SUCCESSFUL: HistoryStatus.SUCCESSFUL,
    Status.FAILED: HistoryStatus.FAILED,
    Status.REFUNDED: HistoryStatus.REFUND,
}


class HistoryQuery(msgspec.Struct, frozen=True):
    """A query: transactions created from the day `first` to the day `last`, inclusive, with one of `statuses` and,
    where given, this product and this account."""

    first: date
    last: date
    statuses: frozenset[HistoryStatus] = frozenset(HistoryStatus)
    product: str = ""
    account: str = ""


class Figures(msgspec.Struct, frozen=True):
    """Totals of a whole search: the count of each status, and the sums of the successful ones, in ringgit."""

    counts: Mapping[HistoryStatus, int]
    amount: Decimal
    price: Decimal

    @classmethod
    def of(cls, transactions: Iterable[Transaction]) -> "Figures":
        """Totals of a few transactions, computed by a scan."""
        counts = dict.fromkeys(HistoryStatus, 0)
        amount = price = ZERO
        for one in transactions:
            status = HISTORY_STATUSES[one.result.status]
            counts[status] += 1
            if status is HistoryStatus.SUCCESSFUL:
                amount += one.face
                price += one.cost
        return cls(counts, amount, price)
