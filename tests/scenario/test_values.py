"""Durations, amounts, times and days as scenarios write them."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from simulator.scenario.reading import values

DURATIONS = [
    ("0s", timedelta(0)),
    ("250ms", timedelta(milliseconds=250)),
    ("5s", timedelta(seconds=5)),
    ("2m", timedelta(minutes=2)),
    ("4h", timedelta(hours=4)),
    ("1d", timedelta(days=1)),
    ("3660d", timedelta(days=3660)),
    ("090s", timedelta(seconds=90)),
    ("-5m", timedelta(minutes=-5)),
]
NO_DURATIONS = [
    "",
    "5",
    "s",
    "5 s",
    "5S",
    "5sec",
    "1.5s",
    "1h30m",
    "+5s",
    "٣s",
    "3661d",
    "999999999d",
    "5s\n",
    "1" * 400 + "s",
]


@pytest.mark.parametrize(("text", "span"), DURATIONS)
def test_a_duration_is_a_count_and_a_unit(text: str, span: timedelta) -> None:
    assert values.duration(text) == span


@pytest.mark.parametrize("text", NO_DURATIONS)
def test_anything_else_is_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|longer"):
        values.duration(text)


AMOUNTS: list[tuple[object, str]] = [
    (10, "10"),
    (Decimal("10.50"), "10.50"),
    ("10.50", "10.50"),
    ("-3", "-3"),
    ("0.00000001", "0.00000001"),
]
NO_AMOUNTS: list[object] = [
    "",
    "ten",
    "1,000",
    "1e3",
    " 1",
    "1" * 16,
    "0.123456789",
    10**15,
    Decimal("1e-9"),
    True,
    None,
]


@pytest.mark.parametrize(("value", "text"), AMOUNTS)
def test_an_amount_keeps_its_digits(value: object, text: str) -> None:
    assert format(values.amount(value), "f") == text


@pytest.mark.parametrize("value", NO_AMOUNTS)
def test_anything_else_is_not_an_amount(value: object) -> None:
    with pytest.raises(ValueError, match=r"amount|digits"):
        values.amount(value)


def test_a_day_is_written_either_way() -> None:
    assert values.day("2027-12-31") == values.day("20271231") == values.day(20271231) == date(2027, 12, 31)
    with pytest.raises(ValueError, match="day"):
        values.day("2027-02-30")


@pytest.mark.parametrize("text", ["ab", "abc-", "abcde", "ab cd", "äöü="])
def test_a_secret_is_strict_base64(text: str) -> None:
    with pytest.raises(ValueError, match="Base64"):
        values.secret_bytes(text)
    assert values.secret_bytes("bm90LWEtc2VjcmV0") == b"not-a-secret"
