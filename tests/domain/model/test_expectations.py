"""Counts and balances held against what was expected."""

from decimal import Decimal

import pytest

from simulator.domain.model.expectations import (
    Count,
    Expectation,
    ExpectationKind,
    judge_balance,
    judge_count,
)


@pytest.mark.parametrize(
    ("count", "actual", "is_met", "message"),
    [
        (Count(), 0, False, "it: expected at least 1, got 0"),
        (Count(), 9, True, "it: expected at least 1, got 9"),
        (Count(0, 0), 0, True, "it: expected 0, got 0"),
        (Count(0, 0), 1, False, "it: expected 0, got 1"),
        (Count(3, 3), 2, False, "it: expected 3, got 2"),
        (Count(3, 3), 3, True, "it: expected 3, got 3"),
        (Count(1, 5), 5, True, "it: expected 1 to 5, got 5"),
        (Count(1, 5), 6, False, "it: expected 1 to 5, got 6"),
    ],
)
def test_a_count_is_met_between_its_bounds(count: Count, actual: int, is_met: bool, message: str) -> None:
    verdict = judge_count(Expectation("it", ExpectationKind.PAYMENTS, count), actual)
    assert (verdict.ok, verdict.message) == (is_met, message)


def test_a_count_mentions_evicted_entries() -> None:
    verdict = judge_count(Expectation("it", ExpectationKind.CALLBACKS), 3, "7 were forgotten")
    assert verdict.message == "it: expected at least 1, got 3 (7 were forgotten)"


@pytest.mark.parametrize(("actual", "is_met"), [("4990.25", True), ("4990.250", True), ("4990.26", False)])
def test_a_balance_is_met_to_the_sen(actual: str, is_met: bool) -> None:
    verdict = judge_balance(Expectation("it", ExpectationKind.BALANCE, amount=Decimal("4990.25")), Decimal(actual))
    assert verdict.ok is is_met
    assert verdict.message == f"it: expected 4990.25, got {Decimal(actual):.2f}"
