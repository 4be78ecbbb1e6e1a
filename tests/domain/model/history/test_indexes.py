"""The indexes against what counting, adding and sorting everything gives."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.history.indexes import (
    BLOCK,
    BlockCounter,
    Days,
    DaySums,
    span,
)

DAY_1 = date(2026, 11, 1)


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("2026-11-01", "2026-11-01", (0, 1)),
        ("2026-11-02", "2026-11-02", (1, 3)),
        ("2026-11-03", "2026-11-04", (3, 3)),
        ("2026-11-01", "2026-11-05", (0, 4)),
        ("2026-10-01", "2026-10-31", (0, 0)),
        ("2026-11-06", "9999-12-31", (4, 4)),
        ("0001-01-01", "9999-12-31", (0, 4)),
    ],
)
def test_a_day_of_the_service_begins_at_midnight_in_gmt_8(first: str, last: str, found: tuple[int, int]) -> None:
    days = Days()
    times = [(11, 1, 15, 59, 59), (11, 1, 16, 0, 0), (11, 2, 15, 59, 59), (11, 4, 16, 0, 0)]
    for place, time in enumerate(times):
        days.at(datetime(2026, *time, tzinfo=UTC), place)
    assert days.between(date.fromisoformat(first), date.fromisoformat(last), len(times)) == found
    assert [date.fromordinal(days.of(place)).day for place in range(4)] == [1, 2, 2, 5]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(-999, 999)), max_size=80), st.data())
def test_sums_by_day_equal_the_added_amounts(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    kept: dict[int, int] = {}
    sums, latest = DaySums(), 0
    for step, amount in steps:
        day = latest + step if step < 5 or not kept else data.draw(st.sampled_from(sorted(kept)))
        latest = max(latest, day)
        sums.add(DAY_1.toordinal() + day, Decimal(amount))
        kept[day] = kept.get(day, 0) + amount
    low, high = sorted(data.draw(st.tuples(st.integers(-3, 200), st.integers(-3, 200))))
    found = sums.between(DAY_1 + timedelta(days=low), DAY_1 + timedelta(days=high))
    assert found == sum(amount for day, amount in kept.items() if low <= day <= high)


@given(st.data())
def test_marks_are_counted_and_ranked_as_a_list_would(data: st.DataObject) -> None:
    whole, marks = bytearray(), BlockCounter(4)
    for _ in range(data.draw(st.integers(1, 4))):
        part = bytes(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))) * data.draw(st.integers(1, BLOCK))
        whole += part
        marks.extend(part)
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=20)):
        whole[place] = data.draw(st.integers(0, 3))
        marks.change(place, whole[place])
    low, high = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    assert [marks.count(kind, low, high) for kind in range(4)] == [whole[low:high].count(kind) for kind in range(4)]
    kinds = frozenset(data.draw(st.sets(st.integers(0, 3), min_size=1)))
    places = [place for place in range(low, high) if whole[place] in kinds]
    begin, end = sorted(data.draw(st.tuples(st.integers(0, len(places)), st.integers(0, len(places)))))
    assert marks.ranked(kinds, low, begin, end) == places[begin:end]


@pytest.mark.parametrize(
    ("offset", "limit", "newest", "oldest"),
    [
        (0, 3, (7, 10), (0, 3)),
        (8, 5, (0, 2), (8, 10)),
        (10, 5, (0, 0), (10, 10)),
        (10**18, 1, (0, 0), (10, 10)),
        (0, 100, (0, 10), (0, 10)),
    ],
)
def test_a_page_is_a_span_of_ranks(offset: int, limit: int, newest: tuple[int, int], oldest: tuple[int, int]) -> None:
    assert span(10, offset, limit, newest_first=True) == newest
    assert span(10, offset, limit, newest_first=False) == oldest
