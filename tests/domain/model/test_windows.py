"""Windows of time, against a model that asks each second."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.inbox_programs import TimeOfDay, Window
from simulator.domain.model.money import SERVICE_ZONE

START = datetime(2027, 1, 10, 3, 50, tzinfo=UTC)  # a Sunday, 11:50 in the service's zone
SUNDAY = 6

times = st.times().map(lambda one: one.replace(microsecond=0))
days = st.builds(TimeOfDay, st.none() | times, st.none() | times)
spans = st.timedeltas(timedelta(0), timedelta(days=9))
windows = st.builds(
    Window, st.none() | days, st.none() | st.frozensets(st.integers(0, 6)), st.none() | spans, st.none() | spans
)


def at(text: str) -> datetime:
    return datetime.combine(date(2027, 1, 10), time.fromisoformat(text), SERVICE_ZONE)


def second(of: time | None, default: int) -> int:
    return default if of is None else of.hour * 3600 + of.minute * 60 + of.second


def modelled(window: Window, now: datetime, start: datetime) -> bool:
    """The same, said in another way: walk from the begin to the end of the time of day, around midnight."""
    local = now.astimezone(SERVICE_ZONE)
    holds = window.weekdays is None or local.isoweekday() - 1 in window.weekdays
    if window.time_of_day is not None:
        low, high = second(window.time_of_day.begins, 0), second(window.time_of_day.ends, 86400)
        of_day = second(local.time(), 0)
        length = (high - low) % 86400 if window.time_of_day.ends is not None else high - low
        holds = holds and (of_day - low) % 86400 < length
    holds = holds and (window.since is None or now >= start + window.since)
    return holds and (window.until is None or now < start + window.until)


@given(windows, st.timedeltas(timedelta(0), timedelta(days=10)))
def test_a_window_holds_when_the_model_does(window: Window, elapsed: timedelta) -> None:
    assert window.holds(START + elapsed, START) is modelled(window, START + elapsed, START)


def test_a_time_of_day_that_begins_when_it_ends_holds_never() -> None:
    assert TimeOfDay(time(12), time(12)).spans() == ()


def test_a_window_begins_with_its_first_moment_and_ends_before_its_last() -> None:
    noon = Window(TimeOfDay(time(12), time(12, 10)), frozenset({SUNDAY}))
    moments = ("11:59:59.999999", "12:00", "12:09:59.999999", "12:10")
    assert [noon.holds(at(moment), START) for moment in moments] == [False, True, True, False]
    assert not noon.holds(at("12:05") + timedelta(days=1), START)
    span = Window(since=timedelta(minutes=10), until=timedelta(minutes=20))
    assert [span.holds(START + timedelta(minutes=now), START) for now in (9, 10, 19, 20)] == [False, True, True, False]


def test_a_time_of_day_crosses_midnight_and_each_day_is_the_day_of_the_moment() -> None:
    night = Window(TimeOfDay(time(22), time(6)), frozenset({SUNDAY}))
    held = [night.holds(at(moment), START) for moment in ("21:59", "22:00", "23:59:59", "00:00", "05:59", "06:00")]
    assert held == [False, True, True, True, True, False]
    assert not night.holds(at("00:00") + timedelta(days=1), START)


@pytest.mark.parametrize("edge", [time(0), time(12)])
def test_a_time_of_day_that_ends_when_it_begins_holds_never(edge: time) -> None:
    assert not any(TimeOfDay(edge, edge).holds(time(hour)) for hour in range(24))


def test_an_open_time_of_day_ends_or_begins_at_midnight() -> None:
    assert [TimeOfDay(time(23)).holds(one) for one in (time(22, 59), time(23), time.max, time(0))] == [
        False, True, True, False,
    ]  # fmt: skip
    assert [TimeOfDay(None, time(1)).holds(one) for one in (time(0), time(0, 59), time(1))] == [True, True, False]
    assert TimeOfDay(time(22), time(0)).spans() == ((time(22), None),)
