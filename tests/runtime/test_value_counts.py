"""Calls distinguished by a value: counts and distances, also when they are answered out of order."""

from datetime import UTC, datetime, timedelta

import pytest

from simulator.domain.model.expectations import ANY_COUNT, Count, Expectation, ExpectationKind
from simulator.runtime.counters import Counters
from simulator.runtime.journal import Exchange, packed
from simulator.runtime.value_counts import RECENT_MAX, ExpectationBudget, MatchingCall, ValueCounts

START = datetime(2026, 1, 1, tzinfo=UTC)


def counts(per: str = "refid") -> ValueCounts:
    apart = timedelta(seconds=5)
    return ValueCounts(Expectation("it", ExpectationKind.CALLS, ANY_COUNT, per=per, apart=apart))


def add(into: ValueCounts, value: str, *arrivals: float) -> None:
    for n, seconds in enumerate(arrivals, 1):
        into.add(value, MatchingCall(START + timedelta(seconds=seconds), n))


def test_a_call_that_is_answered_late_is_compared_with_the_calls_around_it() -> None:
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
    assert found.verdict().message.endswith("got no two calls with the same refid")


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


def once(budget: ExpectationBudget | None = None) -> ValueCounts:
    return ValueCounts(Expectation("it", ExpectationKind.CALLS, Count(1, 1), per="refid"), budget)


def test_the_worst_count_is_found_however_the_counts_came_about() -> None:
    found = once()
    for n, value in enumerate("abcabbc", 1):
        found.add(value, MatchingCall(START, n))
    assert found.verdict().message == (
        "it: expected 1 for each refid, got 3 for b in requests 2, 5, 6; wrong for 3 of 3"
    )


def test_a_verdict_on_many_values_looks_at_few_of_them() -> None:
    found = once()
    for n in range(2_000):
        found.add(str(n), MatchingCall(START, n))
    assert len(found._judged()) == 1


def test_all_expectations_share_the_memory_for_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExpectationBudget, "most", 3)
    budget = ExpectationBudget()
    first, second = once(budget), once(budget)
    for value in ("a", "b"):
        first.add(value, MatchingCall(START, 1))
        second.add(value, MatchingCall(START, 1))
    assert first.verdict().ok
    assert not second.verdict().ok
    assert "got no verdict: the expectations of this sandbox have more than 3 values" in second.verdict().message


def test_a_reload_frees_the_memory_of_the_expectations_that_it_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExpectationBudget, "most", 2)
    one, other = (Expectation(name, ExpectationKind.CALLS, Count(1, 1), per="refid") for name in ("one", "other"))
    counters = Counters([one])
    for refid in (b"a", b"b"):
        counters.note_call({}, asked(refid))
    counters.follow([other])
    for refid in (b"c", b"d"):
        counters.note_call({}, asked(refid))
    assert counters.values[0].verdict().ok
    counters.note_call({}, asked(b"e"))
    assert not counters.values[0].verdict().ok


def asked(refid: bytes) -> Exchange:
    return Exchange(
        at=START, method="GET", path="/", query=b"refid=" + refid, packed_headers=packed([]), client="127.0.0.1"
    )
