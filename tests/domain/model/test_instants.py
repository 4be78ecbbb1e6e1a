"""Times and days as they are written."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.instants import EARLIEST, LATEST, day, instant, sandbox_time, times_of
from simulator.domain.model.money import SERVICE_ZONE

AT = datetime(2027, 1, 10, 15, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2027-01-10T23:59:00+08:00", "2027-01-10T15:59Z", "2027-01-10 15:59:00.000Z", "20270110T155900Z"]
)
def test_a_time_has_an_offset_and_a_sandboxs_comes_in_utc(text: str) -> None:
    assert instant(text) == AT
    assert (sandbox_time(text), sandbox_time(text).tzinfo) == (AT, UTC)


def test_a_time_without_an_offset_is_of_the_zone_that_is_given() -> None:
    assert instant("2027-01-10T15:59:00", UTC) == instant("2027-01-10T23:59:00", SERVICE_ZONE) == AT
    assert instant("2027-01-10T15:59:00Z", SERVICE_ZONE) == AT, "its own counts"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be an ISO 8601 time such as"),
        ("soon", "must be an ISO 8601 time such as"),
        ("2027-13-10T00:00:00Z", "must be an ISO 8601 time such as"),
        ("2027-01-10T23:59:00", "needs an offset"),
        ("9999-12-31T23:59:59-12:00", "must be between 1990 and 2200"),
        ("0001-01-01T00:00:00+08:00", "must be between 1990 and 2200"),
        ("1989-12-31T23:59:59.999999Z", "must be between 1990 and 2200"),
        ("2200-01-01T00:00:00.000001Z", "must be between 1990 and 2200"),
    ],
)
def test_a_time_outside_a_sandboxs_range_is_refused_with_a_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sandbox_time(text)


@given(st.datetimes(EARLIEST.replace(tzinfo=None), LATEST.replace(tzinfo=None) - timedelta(microseconds=1)))
def test_every_time_that_is_written_is_read_back(at: datetime) -> None:
    at = at.replace(tzinfo=UTC)
    assert sandbox_time(at.isoformat()) == sandbox_time(at.astimezone(SERVICE_ZONE).isoformat()) == at


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert EARLIEST <= sandbox_time(text) < LATEST


def test_a_day_has_a_single_form() -> None:
    assert day("2028-02-29") == date(2028, 2, 29)
    for text in ("20280229", "2028-W09-2", "2028-2-29", "2028-02-29\n", "٢٠٢٨-02-29", ""):
        with pytest.raises(ValueError, match="must be a day such as 2026-11-21"):
            day(text)
    with pytest.raises(ValueError, match="must be a day of the calendar"):
        day("2027-02-29")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("2027-01-10T15:59:00.123Z", 999),  # a client that knows milliseconds alone
        ("2027-01-10T15:59:00,1Z", 999),
        ("2027-01-10T15:59:00Z", 0),
        ("2027-01-10T15:59:00.123456Z", 0),
        ("2027-01-10T15:59:00.000+08:00", 999),
    ],
)
def test_a_time_in_milliseconds_means_all_times_that_it_may_be_cut_from(text: str, rest: int) -> None:
    found = times_of(text)
    assert found.said == sandbox_time(text)
    assert found.latest - found.said == timedelta(microseconds=rest)


@pytest.mark.parametrize(
    ("text", "is_in_range"),
    [
        ("1990-01-01T00:00:00Z", True),
        ("1989-12-31T23:59:59Z", False),
        ("2199-12-31T23:59:59Z", True),
        ("2200-01-01T08:00:00+08:00", True),
        ("2200-01-01T00:00:01Z", False),
    ],
)
def test_a_sandboxs_time_is_between_1990_and_2200(text: str, is_in_range: bool) -> None:
    if is_in_range:
        assert sandbox_time(text) == datetime.fromisoformat(text)
        return
    with pytest.raises(ValueError, match="must be between 1990 and 2200"):
        sandbox_time(text)
