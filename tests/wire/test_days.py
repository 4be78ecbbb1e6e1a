"""Dates and ranges as a client writes them (SPEC 4.14)."""

from datetime import UTC, date, datetime

import pytest

from simulator.wire.formats import day_range, moment


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-11-21", (date(2026, 11, 21), date(2026, 11, 21))),
        ("2026-11-01 - 2026-11-21", (date(2026, 11, 1), date(2026, 11, 21))),
        ("2028-02-29 - 2028-02-29", (date(2028, 2, 29), date(2028, 2, 29))),
        ("0001-01-01 - 9999-12-31", (date.min, date.max)),
        ("2026-11-02 - 2026-11-01", (date(2026, 11, 2), date(2026, 11, 1))),
    ],
)
def test_a_day_or_a_range(text: str, days: tuple[date, date]) -> None:
    assert day_range(text) == days


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be a day such as"),
        ("20261121", "must be a day such as"),
        ("2026-W47-6", "must be a day such as"),
        ("2026-11-01-2026-11-21", "must be a day such as"),
        ("2026-11-01 -2026-11-21", "must be a day such as"),
        ("2026-11-01 - 2026-11-02 - 2026-11-03", "must be a day such as"),
        ("2026-11-1", "must be a day such as"),
        ("2026-11-21\n", "must be a day such as"),
        ("2027-02-29", "must be a day of the calendar"),
        ("2026-11-01 - 2026-11-31", "must be a day of the calendar"),
    ],
)
def test_text_that_is_neither_is_reported(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        day_range(text)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 21, 23, 59, 59, 999_999, UTC)),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)),
        ("2026-11-21T04:00:00", *[datetime(2026, 11, 21, 4, tzinfo=UTC)] * 2),
        ("2026-11-21T12:00:00 08:00", *[datetime(2026, 11, 21, 4, tzinfo=UTC)] * 2),
    ],
)
def test_a_moment_is_a_day_or_a_time(text: str, begins: datetime, ends: datetime) -> None:
    assert (moment(text, is_end=False), moment(text, is_end=True)) == (begins, ends)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "2026-11-21T25:00:00Z"])
def test_no_other_text_is_a_moment(text: str) -> None:
    with pytest.raises(ValueError, match="must be an ISO 8601 date or date-time"):
        moment(text, is_end=False)
