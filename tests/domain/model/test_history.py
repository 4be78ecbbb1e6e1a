"""Searches of a history of two months: each finds what a scan of all transactions finds."""

from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.domain.model.history import HistoryQuery, HistoryStatus, Total
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import TRANSITIONS, Status
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
    """Five payments a day, every other for the same account; every seventh changes its status a payment later."""
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


def test_every_search_finds_what_a_scan_finds() -> None:
    books = paid(90)
    for wanted in SEARCHES:
        assert_same(books, wanted, 0, 100)
    assert_same(books, SEARCHES[0], 17, 9)
    assert_same(books, SEARCHES[0], 90, 9)
    assert books.history.processing == sum(one.result.status is Status.PROCESSING for one in books.all)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_any_search_finds_what_a_scan_finds(data: st.DataObject) -> None:
    books, now = Books(), START
    for _ in range(data.draw(st.integers(1, 30))):
        now += timedelta(hours=data.draw(st.integers(0, 30)))
        for _ in range(data.draw(st.sampled_from([1, 2, 40]))):
            count = len(books.all)
            books.pay(now, list(Status)[count % 5], f"P{count * 7 % 3}", f"A{count % 7}", count % 50)
        if data.draw(st.booleans()):
            changed = books.all[data.draw(st.integers(0, len(books.all) - 1))]
            if following := sorted(TRANSITIONS[changed.result.status]):
                books.set(changed, now, data.draw(st.sampled_from(following)))
        if data.draw(st.booleans()):
            assert_same(books, draw_search(data), *data.draw(st.tuples(st.integers(0, 90), st.integers(1, 90))))
    assert_same(books, draw_search(data), 0, 1000)


def draw_search(data: st.DataObject) -> HistoryQuery:
    first, last = sorted(data.draw(st.tuples(st.integers(-2, 40), st.integers(-2, 40))))
    return HistoryQuery(
        FIRST + timedelta(days=first),
        FIRST + timedelta(days=last),
        frozenset(data.draw(st.sets(st.sampled_from(list(HistoryStatus)), min_size=1))),
        data.draw(st.sampled_from(["", "P0", "P1", "none"])),
        data.draw(st.sampled_from(["", "", "A3", "none"])),
    )


def test_a_search_between_payments_finds_what_a_scan_finds() -> None:
    books = Books()
    for number in range(30):
        now = START + timedelta(hours=9 * number)
        books.pay(now, Status.PROCESSING, f"P{number % 2}", f"A{number % 3}")
        books.set(books.all[number // 2], now, Status.SUCCESSFUL if number % 2 == 0 else Status.REFUNDED)
        for account in ("", "A0", "A1"):
            assert_same(books, HistoryQuery(FIRST, LAST, account=account), number // 3, 10)


def test_the_products_are_all_paid_products_in_the_order_of_their_first_payment() -> None:
    history = paid(8).history
    assert (len(history), history.products()) == (8, ["P0", "P1", "P2"])


def test_the_statement_finds_what_a_scan_of_the_entries_finds() -> None:
    books = paid(40)
    for number in range(40):
        books.wallet.post(EntryType.DEPOSIT, PRICE * number, START + timedelta(hours=200 + number), "", "")
    for types in (frozenset(EntryType), frozenset({EntryType.DEPOSIT}), frozenset({EntryType.TRANSACTION})):
        for first, last in ((FIRST, LAST), (date(2026, 11, 3), date(2026, 11, 9)), (LAST, LAST)):
            entries = [one for one in books.wallet.entries if one.type in types and first <= day_of(one) <= last]
            page, totals = books.wallet.find(first, last, types, 3, 9)
            assert page == entries[::-1][3:12]
            assert books.wallet.find(first, last, types, 3, 9, newest_first=False)[0] == entries[3:12]
            for type_ in EntryType:
                amounts = [one.amount for one in entries if one.type is type_]
                assert totals[type_] == Total(len(amounts), sum(amounts, ZERO))


def day_of(entry: Entry) -> date:
    return (entry.at + timedelta(hours=8)).date()


@pytest.mark.parametrize("count", [0, 1, 100])
def test_the_entries_of_a_type_come_newest_first(count: int) -> None:
    books = Books()
    for _ in range(count):
        books.wallet.post(EntryType.DEPOSIT, PRICE, START, "", "")
        books.wallet.post(EntryType.TRANSACTION, -PRICE, START, "", "")
    entries, wallet = books.wallet.entries[:], books.wallet
    books.wallet.post(EntryType.DEPOSIT, PRICE, START, "", "")
    assert list(wallet.newest_first(None, len(entries))) == entries[::-1]
    deposits = [one for one in entries if one.type is EntryType.DEPOSIT]
    assert list(wallet.newest_first(EntryType.DEPOSIT, len(entries))) == deposits[::-1]
