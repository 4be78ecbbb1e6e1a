"""Durations, amounts, times and days as scenarios write them."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from reseller_sim.formats import duration
from simulator.scenario.reading.value_reader import amount, day, secret_bytes
from tests.support import durations


@pytest.mark.parametrize(("text", "seconds"), [*durations.GOOD, *durations.BELOW_ZERO])
def test_a_duration_is_numbers_each_with_a_unit(text: str, seconds: float) -> None:
    assert duration(text) == timedelta(microseconds=round(seconds * 1_000_000))


@pytest.mark.parametrize("text", [*durations.BAD, "1" * 400 + "s", "1s" * 400])
def test_anything_else_is_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a duration such as 250ms, 90s, 1h30m or 1\.5d"):
        duration(text)


@pytest.mark.parametrize("text", durations.TOO_LONG)
def test_a_duration_is_bounded(text: str) -> None:
    with pytest.raises(ValueError, match="is longer than 3660 days"):
        duration(text)


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
    assert format(amount(value), "f") == text


@pytest.mark.parametrize("value", NO_AMOUNTS)
def test_anything_else_is_not_an_amount(value: object) -> None:
    with pytest.raises(ValueError, match=r"amount|digits"):
        amount(value)


def test_a_day_is_written_either_way() -> None:
    assert day("2027-12-31") == day("20271231") == day(20271231) == date(2027, 12, 31)
    with pytest.raises(ValueError, match="day"):
        day("2027-02-30")


@pytest.mark.parametrize("text", ["ab", "abc-", "abcde", "ab cd", "äöü="])
def test_a_secret_is_strict_base64(text: str) -> None:
    with pytest.raises(ValueError, match="Base64"):
        secret_bytes(text)
    assert secret_bytes("bm90LWEtc2VjcmV0") == b"not-a-secret"
