"""Dates and ranges as a client writes them (SPEC 4.14)."""

from datetime import date

import pytest

from simulator.wire.formats import day_range


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
