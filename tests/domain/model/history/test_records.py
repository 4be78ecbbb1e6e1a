"""History and statement of one reseller, compared with a scan of everything; and the cost of a page."""

import sys
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.domain.model.history import history as history_module
from simulator.domain.model.history.history import Records
from simulator.domain.model.history.query import (
    HistoryQuery,
    HistoryStatus,
)
from simulator.domain.model.transactions import TRANSITIONS, Status
from simulator.domain.model.wallet import EntryType
from tests.support.record_books import FIRST, LAST, START, Books, assert_same


@pytest.mark.slow
@pytest.mark.parametrize("regular", [1, 2, 9, 1000])
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_a_search_finds_the_same_as_a_full_scan(
    data: st.DataObject, regular: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "REGULAR", regular)
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


@pytest.fixture(scope="module")
def sizes() -> tuple[Books, Books]:
    """The same month with a thousand transactions and with forty thousand."""
    return grown(1_000), grown(40_000)


def grown(count: int) -> Books:
    books = Books()
    ends = [Status.SUCCESSFUL] * 18 + [Status.FAILED, Status.PROCESSING]
    for number in range(count):
        at = START + timedelta(days=30) * number / count
        account = "regular" if number % 2 else f"A{number % (count // 4)}"
        books.pay(at, ends[number // 2 % 20], f"P{number % 9}", account)
    return books


def steps_of(question: Callable[[], Any]) -> int:
    """How many lines and calls the answer took, C calls included."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    question()  # what is new is indexed, and modules are warm
    tracer = sys.gettrace()  # that of a coverage run
    sys.setprofile(trace)
    sys.settrace(trace)
    try:
        question()
    finally:
        sys.settrace(tracer)
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "wanted",
    [
        HistoryQuery(FIRST, LAST),
        HistoryQuery(date(2026, 11, 10), date(2026, 11, 20)),
        HistoryQuery(FIRST, LAST, product="P3"),
        HistoryQuery(FIRST, LAST, frozenset({HistoryStatus.SUCCESSFUL, HistoryStatus.PENDING})),
        HistoryQuery(FIRST, LAST, account="A8"),
        HistoryQuery(FIRST, LAST, account="regular"),
        HistoryQuery(FIRST, LAST, frozenset({HistoryStatus.PENDING}), "P3", "regular"),
    ],
    ids=["all", "ten days", "one product", "two statuses", "one account", "a regular", "all of a regular's"],
)
def test_a_page_of_history_takes_as_many_steps_of_many_as_of_few(
    sizes: tuple[Books, Books], wanted: HistoryQuery
) -> None:
    few, many = (steps_of(lambda b=books: b.records.history.find(wanted, 0, 20)) for books in sizes)  # type: ignore[misc]
    assert many < 1.5 * few + 100


def test_a_page_of_the_statement_takes_as_many_steps_of_many_as_of_few(sizes: tuple[Books, Books]) -> None:
    types = frozenset({EntryType.TRANSACTION, EntryType.DEPOSIT})
    few, many = (steps_of(lambda b=books: b.records.statement.find(FIRST, LAST, types, 0, 20)) for books in sizes)  # type: ignore[misc]
    assert many < 1.5 * few + 100


def test_a_reader_never_finds_more_than_the_greatest_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "LAG_MAX", 50)
    books = Books()
    lags: list[int] = []
    for number in range(200):
        books.pay(START, Status.PROCESSING)
        if number >= 100:
            books.set(books.all[number - 100], START, Status.SUCCESSFUL)
        lags.append(books.records.history.lag)
    assert max(lags) < 50
    assert_same(books, HistoryQuery(FIRST, LAST), 0, 1000)


def test_payments_behind_a_snapshot_do_not_wait_for_the_indexes_of_all_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_module, "LAG_MAX", 50)
    monkeypatch.setattr(history_module, "CAUGHT_UP_MAX", 60)
    books = Books()
    for number in range(1_000):
        status = Status.PROCESSING if number % 7 == 0 else Status.SUCCESSFUL
        books.pay(START + timedelta(hours=number), status, f"P{number % 3}")
    books.records = Records(books.wallet, books.transactions)
    books.records.history.restore(range(1_000), 143)
    assert books.records.history.processing == sum(one.result.status is Status.PROCESSING for one in books.all)
    later = START + timedelta(hours=1_000)
    for number in range(100):
        books.pay(later, Status.SUCCESSFUL)
        if number < 20:
            books.set(books.all[7 * number * 7], later, Status.FAILED)
    assert books.records.history.lag >= 1_000 - 2 * 60, "two of them have brought the indexes nearer"
    for _ in books.records.catch_up_in_slices():
        pass
    assert books.records.history.lag == 0
    for wanted in (HistoryQuery(FIRST, LAST), HistoryQuery(FIRST, LAST, product="P1"), HistoryQuery(FIRST, FIRST)):
        assert_same(books, wanted, 3, 1_000)


def test_what_was_restored_is_indexed_in_slices() -> None:
    books = grown(4_000)
    wanted = HistoryQuery(FIRST, LAST, product="P1")
    records = Records(books.wallet, books.transactions)
    records.history.restore(range(4_000), books.records.history.processing)
    assert len(list(records.catch_up_in_slices())) == 4
    assert (records.history.lag, records.statement.lag) == (0, 0)
    for question in (wanted, HistoryQuery(FIRST, LAST, account="regular")):
        (page, figures), (others, same) = (one.history.find(question, 0, 50) for one in (records, books.records))
        assert ([one.trxid for one in page], figures) == ([one.trxid for one in others], same)
    days = FIRST, LAST, frozenset(EntryType), 5, 20
    assert records.statement.find(*days) == books.records.statement.find(*days)
