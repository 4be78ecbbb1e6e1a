"""Amounts: how they are parsed, rounded, bounded and written."""

from decimal import Decimal

import pytest

from simulator.domain.model.money import cents, decimal_text, is_bounded, is_whole_cents, parse_amount, parse_number

AMOUNTS = [
    ("10", "10"), ("10.50", "10.50"), ("-1", "-1"), (7, "7"), (Decimal("1E1"), "10"), ("0", "0"), ("007", "7"),
    (" 1", "1"), ("1 ", "1"), ("  10.5  ", "10.5"), ("+1", "1"), ("1e2", "100"), ("1E+1", "10"), ("1.05e1", "10.5"),
    ("100e-1", "10.0"), (".5", "0.5"), ("-.5", "-0.5"), ("5.", "5"), ("10.000000000", "10"), ("0e999", "0"),
    (Decimal("10.000000000"), "10"), (Decimal("1E+14"), "100000000000000"), (10**14, "100000000000000"),
    ("0" * 90 + "7", "7"), ("7." + "0" * 90, "7"), ("", None), (" ", None), ("1 0", None), ("1\t0", None),
    ("\t1", "1"), ("1\r\n", "1"), ("\t10\n", "10"), ("\n", None), ("\u00a01", None), ("1\v", None),
    ("0x1", None), ("1_0", None), ("1,5", None), ("1,000", None), ("NaN", None), ("Infinity", None), ("-inf", None),
    ("٣", None), ("１", None), ("1" * 16, None), ("9" * 60, None), ("1e15", None), ("1e400", None), ("1e-9", None),
    ("0.123456789", None), ("e1", None), ("1e", None), (".", None), ("+", None), ("--1", None), ("1e1e1", None),
    (f"1e{9**40}", None), ("1" * 100_000, None), (True, None), (None, None), ([], None), (10**15, None),
    (10**4000, None), (Decimal("1E+400"), None), (Decimal("1E-9"), None), (Decimal("NaN"), None),
    (Decimal("Infinity"), None), (Decimal("1E-999999999"), None),
    ("10." + "0" * 97, "10"), ("10." + "0" * 98, None),
    (Decimal("10." + "0" * 97), "10"), (Decimal("10." + "0" * 98), None), (Decimal("10." + "0" * 200), None),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), AMOUNTS, ids=lambda one: repr(one)[:30])
def test_amounts_are_parsed_in_every_notation_and_within_bounds(raw: object, expected: str | None) -> None:
    assert str(parse_amount(raw)) == str(expected)


NUMBERS = [
    (Decimal("10.000000001"), "10.000000001"), ("1000000000000000", "1000000000000000"), ("1e20", "1" + "0" * 20),
    (10**27, "1" + "0" * 27), (10**28, None), ("1e28", None), ("1.0000000000000000000000000001", None),
    ("1.000000000000000000000000001", "1.000000000000000000000000001"), ("1e-400", None), ("NaN", None),
    ("1e-27", "1E-27"), ("1e-28", None),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), NUMBERS, ids=lambda one: repr(one)[:30])
def test_numbers_that_are_not_amounts_are_parsed_for_the_echo(raw: object, expected: str | None) -> None:
    assert parse_amount(raw) is None
    assert str(parse_number(raw)) == str(expected)


@pytest.mark.parametrize(
    ("value", "rounded"), [("0.005", "0.01"), ("0.0049", "0.00"), ("2.675", "2.68"), ("-0.005", "-0.01")]
)
def test_cents_round_halves_away_from_zero(value: str, rounded: str) -> None:
    assert cents(Decimal(value)) == Decimal(rounded)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("30", "30"),
        ("30.00", "30"),
        ("5.2", "5.20"),
        ("5.25", "5.25"),
        ("0.045", "0.045"),
        ("1E+3", "1000"),
        ("100", "100"),
        ("-0.5", "-0.50"),
    ],
)
def test_an_amount_in_a_sentence_has_zero_two_or_all_decimals(raw: str, shown: str) -> None:
    assert decimal_text(Decimal(raw)) == shown


@pytest.mark.parametrize(("raw", "is_whole"), [("1", True), ("1.10", True), ("1.100", True), ("1.001", False)])
def test_whole_cents_have_two_significant_decimals(raw: str, is_whole: bool) -> None:
    assert is_whole_cents(Decimal(raw)) is is_whole


@pytest.mark.parametrize(
    ("raw", "bounded"),
    [
        ("9" * 15, True),
        ("1" + "0" * 15, False),
        ("0.00000001", True),
        ("0.000000001", False),
        ("NaN", False),
        ("-Infinity", False),
        ("-" + "9" * 15, True),
    ],
)
def test_an_amount_has_fifteen_digits_before_the_point_and_eight_after_it(raw: str, bounded: bool) -> None:
    assert is_bounded(Decimal(raw)) is bounded
