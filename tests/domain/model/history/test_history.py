"""Searches of a history of two months: each finds what a scan of all transactions finds."""

from datetime import date, timedelta

import pytest

from simulator.domain.model.history import history as history_module
from simulator.domain.model.history.query import HistoryQuery, HistoryStatus
from simulator.domain.model.history.statement import Totals
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import Status
from simulator.domain.model.wallet import Entry, EntryType
from tests.support.record_books import FIRST, LAST, PRICE, START, Books, assert_same

SUCCESSFUL, PENDING = HistoryStatus.SUCCESSFUL, HistoryStatus.PENDING

SEARCHES = [
    HistoryQuery(first, last, statuses, product, account)
    for first, last in ((FIRST, LAST), (date(2026, 11, 4), date(2026, 11, 9)), (LAST, LAST), (FIRST, FIRST))
    for statuses in (frozenset(HistoryStatus), frozenset({SUCCESSFUL}), frozenset({PENDING, HistoryStatus.FAILED}))
    for product in ("", "P1", "none")
    for account in ("", "A3", "regular", "none")
]


def paid(count: int, *, changes: bool = True) -> Books:
    """Five payments a day, every other one of one account; every seventh changes its status a payment later."""
    books = Books()
    statuses = (Status.ACCEPTED, Status.SUCCESSFUL, Status.FAILED, Status.PROCESSING)
    for number in range(count):
        now = START + timedelta(hours=5 * number)
        books.pay(now, statuses[number % 4], f"P{number % 3}", f"A{number % 7}" if number % 2 else "regular", number)
        if changes and number % 7 == 6:
            for place in (number - 1, number // 2):
                before = books.all[place].result.status
                if before in (Status.ACCEPTED, Status.PROCESSING):
                    books.set(books.all[place], now, Status.SUCCESSFUL)
                elif before is Status.SUCCESSFUL:
                    books.set(books.all[place], now, Status.REFUNDED)
    return books


@pytest.mark.parametrize("regular", [1, 2, 3, 1_000])
@pytest.mark.parametrize("lag", [1, 2, 7, 1_000])
def test_every_search_finds_what_a_scan_finds(regular: int, lag: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "REGULAR", regular)
    monkeypatch.setattr(history_module, "LAG_MAX", lag)
    monkeypatch.setattr(history_module, "CAUGHT_UP_MAX", lag + 1)
    books = paid(90)
    for wanted in SEARCHES:
        assert_same(books, wanted, 0, 100)
    assert_same(books, SEARCHES[0], 17, 9)
    assert books.records.history.processing == sum(one.result.status is Status.PROCESSING for one in books.all)


def test_a_search_between_payments_finds_what_a_scan_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "REGULAR", 3)
    books = Books()
    for number in range(30):
        now = START + timedelta(hours=9 * number)
        books.pay(now, Status.PROCESSING, f"P{number % 2}", f"A{number % 3}")
        books.set(books.all[number // 2], now, Status.SUCCESSFUL if number % 2 == 0 else Status.REFUNDED)
        for account in ("", "A0", "A1"):
            assert_same(books, HistoryQuery(FIRST, LAST, account=account), number // 3, 10)


def test_the_products_are_those_that_were_ever_paid() -> None:
    history = paid(2).records.history
    assert (len(history), sorted(history.products())) == (2, ["P0", "P1"])
    assert [history.has_product(product) for product in ("P0", "P1", "P2")] == [True, True, False]
    assert [one.trxid for one in reversed(history)] == ["T1", "T0"]


def test_an_account_has_its_own_indexes_from_1000_transactions_on() -> None:
    books = Books()
    for number in range(1_001):
        books.pay(START + timedelta(minutes=number), Status.SUCCESSFUL, account="one")
        if number in (998, 999):
            books.records.history.catch_up()
            assert list(books.records.history._of_regular) == ["one"] * (number == 999)
    assert_same(books, HistoryQuery(FIRST, LAST, account="one"), 0, 1_001)


def test_a_payment_only_records_itself_until_1000_are_pending() -> None:
    books, lags = Books(), []
    for number in range(1_001):
        books.pay(START + timedelta(minutes=number), Status.SUCCESSFUL)
        lags.append((books.records.history.lag, books.records.statement.lag))
    assert lags == [*((count, count) for count in range(1, 1_000)), (0, 0), (1, 1)]


def test_the_statement_finds_what_a_scan_of_the_entries_finds() -> None:
    books = paid(40)
    for number in range(40):
        books.wallet.post(EntryType.DEPOSIT, PRICE * number, START + timedelta(hours=200 + number), "", "")
    statement = books.records.statement
    for types in (frozenset(EntryType), frozenset({EntryType.DEPOSIT}), frozenset({EntryType.TRANSACTION})):
        for first, last in ((FIRST, LAST), (date(2026, 11, 3), date(2026, 11, 9)), (LAST, LAST)):
            entries = [one for one in books.wallet.entries if one.type in types and first <= day_of(one) <= last]
            page, totals = statement.find(first, last, types, 3, 9)
            assert page == entries[::-1][3:12]
            assert statement.find(first, last, types, 3, 9, newest_first=False)[0] == entries[3:12]
            for type_ in EntryType:
                amounts = [one.amount for one in entries if one.type is type_]
                assert totals[type_] == Totals(len(amounts), sum(amounts, ZERO))


def day_of(entry: Entry) -> date:
    return (entry.at + timedelta(hours=8)).date()


@pytest.mark.parametrize("count", [0, 1, 256, 257, 600])
def test_the_entries_of_a_type_come_newest_first(count: int) -> None:
    books = Books()
    for _ in range(count):
        books.wallet.post(EntryType.DEPOSIT, PRICE, START, "", "")
        books.wallet.post(EntryType.TRANSACTION, -PRICE, START, "", "")
    entries, statement = books.wallet.entries[:], books.records.statement
    books.wallet.post(EntryType.DEPOSIT, PRICE, START, "", "")
    assert list(statement.newest_first(None, len(entries))) == entries[::-1]
    deposits = [one for one in entries if one.type is EntryType.DEPOSIT]
    assert list(statement.newest_first(EntryType.DEPOSIT, len(entries))) == deposits[::-1]
