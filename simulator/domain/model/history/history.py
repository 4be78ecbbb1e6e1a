"""A reseller's transactions, indexed for history queries: by day, status, product and account (SPEC 4.14).

These indexes and those of the balance statement grow with every payment and are read rarely, so a payment only records
additions and changes, and a reader updates the indexes lazily. At `LAG_MAX` pending changes a payment updates them, so
that a reader never waits more than a few milliseconds. A page, totals included, costs the same regardless of the number
of records.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby

from simulator.domain.model.history.curve import BalanceCurve
from simulator.domain.model.history.indexes import (
    BlockCounter,
    Days,
    DaySums,
    places,
    span,
)
from simulator.domain.model.history.query import HISTORY_STATUSES, Figures, HistoryQuery, HistoryStatus
from simulator.domain.model.history.statement import Statement
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import PROCESSING, Transaction
from simulator.domain.model.wallet import Wallet

# An account with at least this many transactions has its own indexes; smaller ones are scanned.
REGULAR = 1000

LAG_MAX = 1_000


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

    def move(self, one: Transaction, before: int, after: int, day: int) -> None:
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


class History:
    """All transactions of a reseller in the order of their creation. `processing` counts those with that status, which
    queries do not tell from `Accepted`."""

    __slots__ = (
        "_all",
        "_before",
        "_changed",
        "_counts",
        "_days",
        "_latest_of",
        "_of_product",
        "_of_regular",
        "_whole",
        "processing",
    )

    def __init__(self) -> None:
        self.processing = 0
        self._all: list[Transaction] = []
        self._changed: list[Transaction] = []
        self._days = Days()
        self._whole = TransactionIndex()
        self._of_product: dict[str, TransactionIndex] = {}
        # Each account's transactions are a linked list: its latest place, and at each place the previous one, plus 1.
        self._latest_of: dict[str, int] = {}
        self._before = places()
        self._counts: dict[str, int] = {}  # only accounts with more than one
        self._of_regular: dict[str, dict[str, TransactionIndex]] = {}  # by account, then by product, "" for all

    def __len__(self) -> int:
        return len(self._all)

    def __reversed__(self) -> Iterator[Transaction]:
        return reversed(self._all)

    def at(self, place: int) -> Transaction:
        """The transaction at a place, from 0."""
        return self._all[place]

    def add(self, one: Transaction) -> int:
        """Add a new transaction. Returns how many additions and changes the indexes have yet to process."""
        if one.results[-1].status is PROCESSING:
            self.processing += 1
        one.place = len(self._all)
        self._all.append(one)
        return self.lag

    def note_change(self, one: Transaction) -> int:
        """Record a changed status. Returns the same as `add`."""
        before, after = one.results[-2:]
        self.processing += (after.status is PROCESSING) - (before.status is PROCESSING)
        if one.place < len(self._before):
            self._changed.append(one)
        return self.lag

    @property
    def lag(self) -> int:
        """How many additions and changes the indexes have yet to process."""
        return len(self._all) - len(self._before) + len(self._changed)

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

    def products(self) -> list[str]:
        """The codes of all products that were ever paid."""
        self.catch_up()
        return list(self._of_product)

    def has_product(self, product: str) -> bool:
        """True when this product was ever paid."""
        self.catch_up()
        return product in self._of_product

    def find(
        self, wanted: HistoryQuery, offset: int, limit: int, *, newest_first: bool = True
    ) -> tuple[list[Transaction], Figures]:
        """`limit` transactions after the first `offset`, and the totals of the whole search."""
        self.catch_up()
        low, high = self._days.between(wanted.first, wanted.last, len(self._all))
        if wanted.account and wanted.account not in self._of_regular:
            matching = list(self._of_account(wanted, low, high))[::-1]
            begin, end = span(len(matching), offset, limit, newest_first=newest_first)
            page, figures = matching[begin:end], Figures.of(matching)
        else:
            index = self._index_for(wanted)
            low, high = bisect_left(index.places, low), bisect_left(index.places, high)
            figures = index.figures(wanted, low, high)
            begin, end = span(sum(figures.counts.values()), offset, limit, newest_first=newest_first)
            found = index.statuses.ranked(wanted.statuses, low, begin, end)
            page = [self._all[index.places[at]] for at in found]
        return (page[::-1] if newest_first else page), figures

    def _index_for(self, wanted: HistoryQuery) -> TransactionIndex:
        if wanted.account:
            return self._of_regular[wanted.account].get(wanted.product) or TransactionIndex()
        return self._of_product.get(wanted.product, TransactionIndex()) if wanted.product else self._whole

    def _extend(self, latest: list[Transaction], day: int) -> None:
        statuses = bytes([HISTORY_STATUSES[one.results[-1].status] for one in latest])
        before, latest_of, counts = self._before, self._latest_of, self._counts
        regulars: dict[str, list[int]] = {}
        for index, one in enumerate(latest):
            previous = latest_of.get(one.account, -1)
            before.append(previous + 1)
            latest_of[one.account] = one.place
            if previous >= 0:
                counts[one.account] = count = counts.get(one.account, 1) + 1
                if count >= REGULAR:
                    regulars.setdefault(one.account, []).append(index)
        _index(self._whole, self._of_product, latest, statuses, day)
        for account, positions in regulars.items():
            by_product = self._of_regular.get(account)
            if by_product is None:
                self._make_regular(account)
            else:
                ones = [latest[at] for at in positions]
                _index(by_product[""], by_product, ones, bytes([statuses[at] for at in positions]), day)

    def _make_regular(self, account: str) -> None:
        """Build an account's own indexes from all its transactions."""
        by_product = self._of_regular[account] = {"": TransactionIndex()}
        whole = list(self._of_account(HistoryQuery(date.min, date.max, account=account), 0, len(self._all)))[::-1]
        for day, of_day in groupby(whole, lambda one: self._days.of(one.place)):
            ones = list(of_day)
            _index(by_product[""], by_product, ones, bytes([self._whole.statuses[one.place] for one in ones]), day)

    def _move(self, one: Transaction) -> None:
        before, after = self._whole.statuses[one.place], HISTORY_STATUSES[one.results[-1].status]
        if before == after:
            return
        day = self._days.of(one.place)
        own = self._of_regular.get(one.account)
        of_account = (own[""], own[one.product]) if own else ()
        for index in (self._whole, self._of_product[one.product], *of_account):
            index.move(one, before, after, day)

    def _of_account(self, wanted: HistoryQuery, low: int, high: int) -> Iterator[Transaction]:
        """Matching transactions of one account, newest first."""
        statuses = self._whole.statuses
        place = self._latest_of.get(wanted.account, -1)
        while place >= low:
            one = self._all[place]
            if place < high and wanted.product in ("", one.product) and statuses[place] in wanted.statuses:
                yield one
            place = self._before[place] - 1


def _index(
    whole: TransactionIndex,
    of_product: dict[str, TransactionIndex],
    ones: list[Transaction],
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


def _created(one: Transaction) -> datetime:
    return one.created


class Records:
    """History, statement and balance curve of one reseller."""

    __slots__ = ("curve", "history", "statement")

    def __init__(self, wallet: Wallet) -> None:
        self.history = History()
        self.statement = Statement(wallet)
        self.curve = BalanceCurve(wallet)

    def add(self, one: Transaction) -> None:
        """Add a new transaction, whose ledger entry exists already."""
        if self.history.add(one) >= LAG_MAX:
            self._catch_up()

    def note_change(self, one: Transaction) -> None:
        """Record a changed status."""
        if self.history.note_change(one) >= LAG_MAX:
            self._catch_up()

    def _catch_up(self) -> None:
        self.history.catch_up()
        self.statement.catch_up()
