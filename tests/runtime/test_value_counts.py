"""Calls told apart by a value: counts and distances, also when they are answered in another order than they came."""

from datetime import UTC, datetime, timedelta

from simulator.domain.model.expectations import ANY_COUNT, Expectation, ExpectationKind
from simulator.runtime.value_counts import RECENT_MAX, Request, ValueCounts

START = datetime(2026, 1, 1, tzinfo=UTC)


def counts(per: str = "refid") -> ValueCounts:
    apart = timedelta(seconds=5)
    return ValueCounts(Expectation("it", ExpectationKind.CALLS, ANY_COUNT, per=per, apart=apart))


def add(into: ValueCounts, value: str, *arrivals: float) -> None:
    for n, seconds in enumerate(arrivals, 1):
        into.add(value, Request(START + timedelta(seconds=seconds), n))


def test_a_call_that_is_answered_late_is_compared_with_those_that_came_around_it() -> None:
    found = counts()
    add(found, "a", 1, 12, 20, 0)
    assert not found.verdict().ok
    assert "got 1 s for a between requests 4 and 1" in found.verdict().message


def test_a_call_that_came_before_all_that_are_remembered_leaves_no_verdict() -> None:
    found = counts()
    add(found, "a", *(10 * n for n in range(1, RECENT_MAX + 3)), 0)
    assert "no verdict: 1 call came so long before others" in found.verdict().message
    assert not found.verdict().ok


def test_a_late_call_is_compared_with_the_one_before_it_that_is_no_longer_remembered() -> None:
    found = counts()
    add(found, "a", 0, *(100 * n for n in range(1, RECENT_MAX + 1)), 1)
    assert f"got 1 s for a between requests 1 and {RECENT_MAX + 2}" in found.verdict().message
    assert not found.verdict().ok


def test_calls_of_different_values_may_come_at_once() -> None:
    found = counts()
    for value in ("a", "b", "c"):
        add(found, value, 0)
    assert found.verdict().ok
    assert found.verdict().message.endswith("got no two calls of one refid")


def test_without_per_all_calls_are_compared() -> None:
    found = counts(per="")
    add(found, "", 0, 5, 9)
    assert found.verdict().message == "it: expected at least 5 s between two, got 4 s between requests 2 and 3"


def test_values_of_any_length_take_little_memory_and_stay_different() -> None:
    found = counts()
    for end in ("a", "b"):
        add(found, "x" * 100_000 + end, 0)
    assert found.verdict().ok
    assert len(found.verdict().message) < 300
