"""Counts and balances held against what was expected."""

from datetime import timedelta
from decimal import Decimal

import pytest

from simulator.domain.model.expectations import (
    Count,
    Expectation,
    ExpectationKind,
    continued,
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


@pytest.mark.parametrize(
    ("count", "actual", "outside"),
    [
        (Count(2, 4), 0, 2),
        (Count(2, 4), 1, 1),
        (Count(2, 4), 2, 0),
        (Count(2, 4), 4, 0),
        (Count(2, 4), 6, 2),
        (Count(1, None), 0, 1),
        (Count(1, None), 99, 0),
        (Count(0, 0), 3, 3),
    ],
)
def test_a_count_says_how_far_it_is_outside_of_its_bounds(count: Count, actual: int, outside: int) -> None:
    assert count.exceeds(actual) == outside


@pytest.mark.parametrize(("actual", "text"), [(2, "got 2 of 5 calls"), (1, "got 1")])
def test_too_many_expectations_are_reported_with_their_place(actual: int, text: str) -> None:
    verdict = judge_count(Expectation("it", ExpectationKind.CALLS, Count(1, 1)), actual, where=" of 5 calls")
    assert verdict.message == f"it: expected 1, {text}"


@pytest.mark.parametrize(
    ("per", "apart", "has_values"), [("", None, False), ("refid", None, True), ("", timedelta(0), True)]
)
def test_calls_may_be_distinguished_by_a_value_or_by_their_time(
    per: str, apart: timedelta | None, has_values: bool
) -> None:
    assert Expectation("it", ExpectationKind.CALLS, per=per, apart=apart).has_values is has_values


def test_an_old_count_continues_in_a_single_equal_statement() -> None:
    one, same, other = (
        Expectation("it", ExpectationKind.CALLS, written=written) for written in ("one", "one", "other")
    )
    another_kind = Expectation("it", ExpectationKind.RULE, written="one")
    assert continued({0: one, 1: other}, {5: other, 6: one, 7: same, 8: another_kind}) == {5: 1, 6: 0}
    assert continued({0: one, 1: same}, {5: one, 6: same}) == {5: 0, 6: 1}


@pytest.mark.parametrize(
    ("count", "actual", "ok"),
    [(Count(2), 2, True), (Count(2), 1, None), (Count(0, 2), 3, False), (Count(0, 2), 2, None), (Count(2, 2), 2, None)],
)
def test_a_count_is_judged_only_when_evicted_records_cannot_change_it(
    count: Count, actual: int, ok: bool | None
) -> None:
    verdict = judge_count(Expectation("it", ExpectationKind.PAYMENTS, count), actual, left_out=5)
    assert verdict.ok is (ok is True)
    evicted = f"got no verdict: {actual}, and the log has evicted 5 older ones"
    assert verdict.message.endswith(evicted) is (ok is None)
