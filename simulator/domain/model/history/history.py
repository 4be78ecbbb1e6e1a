"""A reseller's transactions, indexed for history queries: by day, status, product and account (SPEC 4.14).

These indexes and those of the balance statement grow with every payment and are read rarely, so a payment only records
additions and changes, and a reader updates the indexes lazily. At `LAG_MAX` pending changes a payment updates them, so
that a reader never waits more than a few milliseconds. A page, totals included, costs the same regardless of the number
of records.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import groupby

from simulator.domain.model.history.curve import BalanceCurve
from simulator.domain.model.history.indexes import (
    Days,
    places,
    span,
)
from simulator.domain.model.history.query import HISTORY_STATUSES, Figures, HistoryQuery
from simulator.domain.model.history.statement import Statement
from simulator.domain.model.history.transaction_index import Indexed, TransactionIndex, index_day
from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.transactions import PROCESSING, Transaction
from simulator.domain.model.wallet import Wallet

# An account with at least this many transactions has its own indexes; smaller ones are scanned.
REGULAR = 1000

LAG_MAX = 1_000
CAUGHT_UP_MAX = LAG_MAX + LAG_MAX // 4


class History:
    """All transactions of a reseller in the order of their creation, by their numbers. `processing` counts those with
    that status, which queries do not tell from `Accepted`."""

    __slots__ = (
        "_before",
        "_changed",
        "_counts",
        "_days",
        "_latest",
        "_latest_of",
        "_numbers",
        "_of_product",
        "_of_regular",
        "_transactions",
        "_whole",
        "processing",
    )

    def __init__(self, transactions: Transactions) -> None:
        self.processing = 0
        self._transactions = transactions
        self._numbers = places()
        self._latest: list[Indexed] = []  # of those that the indexes do not have yet
        self._changed: list[Indexed] = []
        self._days = Days()
        self._whole = TransactionIndex()
        self._of_product: dict[str, TransactionIndex] = {}
        # Each account's transactions are a linked list: its latest place, and at each place the previous one, plus 1.
        self._latest_of: dict[str, int] = {}
        self._before = places()
        self._counts: dict[str, int] = {}  # only accounts with more than one
        self._of_regular: dict[str, dict[str, TransactionIndex]] = {}  # by account, then by product, "" for all

    def __len__(self) -> int:
        return len(self._numbers)

    def __reversed__(self) -> Iterator[Transaction]:
        return map(self.at, range(len(self) - 1, -1, -1))

    def at(self, place: int) -> Transaction:
        """The transaction at a place, from 0."""
        return self._transactions.numbered(self._numbers[place])

    def add(self, one: Transaction) -> bool:
        """Add a new transaction. Returns whether it is time to bring the indexes nearer."""
        if one.results[-1].status is PROCESSING:
            self.processing += 1
        one.place = len(self._numbers)
        self._numbers.append(one.number)
        self._latest.append(Indexed.of(one))
        return self._is_due()

    def note_change(self, one: Transaction) -> bool:
        """Record a changed status. Returns the same as `add`."""
        before, after = one.results[-2:]
        self.processing += (after.status is PROCESSING) - (before.status is PROCESSING)
        if one.place < len(self._before):
            self._changed.append(Indexed.of(one))
        elif (at := one.place - len(self) + len(self._latest)) >= 0:
            self._latest[at].status = HISTORY_STATUSES[after.status]
        return self._is_due()

    def _is_due(self) -> bool:
        """Whether there is enough to process. Restored ones are processed by `catch_up_in_slices`, so that payments
        which are repeated behind a snapshot do not wait for all that came before it."""
        lag = self.lag
        if lag < LAG_MAX:
            return False
        new = len(self._latest) + len(self._changed)
        return new >= lag or new % LAG_MAX == 0

    def restore(self, numbers: Iterable[int], processing: int) -> None:
        """Have the transactions with these numbers in the place of all others; so many of them are processing."""
        self._numbers.extend(numbers)
        self.processing = processing

    @property
    def lag(self) -> int:
        """How many additions and changes the indexes have yet to process."""
        return len(self._numbers) - len(self._before) + len(self._changed)

    def catch_up(self, most: int | None = None) -> None:
        """Bring the indexes up to date, or have at most so many more in them."""
        for one in self._changed:
            self._move(one)
        self._changed.clear()
        done, end = len(self._before), len(self._numbers)
        if most is not None:
            end = min(end, done + most)
        while done < end:
            latest = [self._pending(place) for place in range(done, min(end, done + LAG_MAX))]
            day = self._days.at(latest[0].created, done)
            of_day = latest[: bisect_left(latest, self._days.end, key=_created)]
            self._extend(of_day, day)
            done += len(of_day)
        del self._latest[: max(0, len(self._latest) - (len(self) - done))]

    def _pending(self, place: int) -> Indexed:
        at = place - len(self) + len(self._latest)
        return self._latest[at] if at >= 0 else Indexed.of(self._transactions.shown(self._numbers[place]))

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
        low, high = self._days.between(wanted.first, wanted.last, len(self))
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
            page = [self.at(index.places[at]) for at in found]
        return (page[::-1] if newest_first else page), figures

    def _index_for(self, wanted: HistoryQuery) -> TransactionIndex:
        if wanted.account:
            return self._of_regular[wanted.account].get(wanted.product) or TransactionIndex()
        return self._of_product.get(wanted.product, TransactionIndex()) if wanted.product else self._whole

    def _extend(self, latest: list[Indexed], day: int) -> None:
        statuses = bytes([one.status for one in latest])
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
        index_day(self._whole, self._of_product, latest, statuses, day)
        for account, positions in regulars.items():
            by_product = self._of_regular.get(account)
            if by_product is None:
                self._make_regular(account)
            else:
                ones = [latest[at] for at in positions]
                index_day(by_product[""], by_product, ones, bytes([statuses[at] for at in positions]), day)

    def _make_regular(self, account: str) -> None:
        """Build an account's own indexes from all its transactions."""
        by_product = self._of_regular[account] = {"": TransactionIndex()}
        whole = list(self._of_account(HistoryQuery(date.min, date.max, account=account), 0, len(self)))[::-1]
        for day, of_day in groupby(whole, lambda one: self._days.of(one.place)):
            ones = list(map(Indexed.of, of_day))
            index_day(by_product[""], by_product, ones, bytes([self._whole.statuses[one.place] for one in ones]), day)

    def _move(self, one: Indexed) -> None:
        before, after = self._whole.statuses[one.place], one.status
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
            if place < high and statuses[place] in wanted.statuses:
                one = self.at(place)
                if wanted.product in ("", one.product):
                    yield one
            place = self._before[place] - 1


def _created(one: Indexed) -> datetime:
    return one.created


class Records:
    """History, statement and balance curve of one reseller."""

    __slots__ = ("curve", "history", "statement")

    def __init__(self, wallet: Wallet, transactions: Transactions) -> None:
        self.history = History(transactions)
        self.statement = Statement(wallet)
        self.curve = BalanceCurve(wallet)

    def add(self, one: Transaction) -> None:
        """Add a new transaction, whose ledger entry exists already."""
        if self.history.add(one):
            self._catch_up()

    def note_change(self, one: Transaction) -> None:
        """Record a changed status."""
        if self.history.note_change(one):
            self._catch_up()

    def catch_up_in_slices(self) -> Iterator[None]:
        """Bring the indexes up to date, a few milliseconds at a time: those of a restored sandbox have nothing yet."""
        while self.history.lag or self.statement.lag:
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        """Whatever lags behind gets nearer with each payment, by no more than a few milliseconds of one."""
        self.history.catch_up(CAUGHT_UP_MAX)
        self.statement.catch_up(CAUGHT_UP_MAX)
