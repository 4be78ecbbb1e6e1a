"""Calls counted by expectation, and what stays when other expectations come."""

from datetime import UTC, datetime

from simulator.domain.model.expectations import Count, Expectation, ExpectationKind
from simulator.domain.model.rules import SourceLine
from simulator.runtime.counters import Counters
from simulator.runtime.journal import Exchange, packed


def calls(name: str, path: str) -> Expectation:
    return Expectation(name, ExpectationKind.CALLS, test=lambda facts: facts["path"] == path)


def test_a_call_counts_for_each_expectation_that_it_fits() -> None:
    counters = Counters(
        [calls("a", "/a"), Expectation("b", ExpectationKind.PAYMENTS), calls("also a", "/a"), calls("c", "/c")]
    )
    counters.note_call({"path": "/a"})
    counters.note_call({"path": "/b"})
    assert counters.calls == {0: 1, 2: 1, 3: 0}


def test_no_calls_are_recorded_without_expected_calls() -> None:
    assert Counters().calls == Counters([Expectation("b", ExpectationKind.PAYMENTS)]).calls == {}


def test_other_expectations_restart_and_expectations_of_the_same_name_continue() -> None:
    counters = Counters([calls("a", "/a"), calls("b", "/a")])
    counters.note_call({"path": "/a"})
    counters.follow([calls("new", "/a"), calls("a", "/x")])
    counters.note_call({"path": "/x"})
    assert counters.calls == {0: 0, 1: 2}


def sent(n: int, refid: str = "a") -> Exchange:
    return Exchange(
        at=datetime(2026, 1, 1, tzinfo=UTC), method="POST", path="/a", query=f"refid={refid}".encode(),
        packed_headers=packed([]), client="127.0.0.1", n=n,
    )  # fmt: skip


def each_refid(line: int) -> Expectation:
    place = SourceLine("mine.yaml", line)
    return Expectation("twice", ExpectationKind.CALLS, Count(2, 2), per="refid", written={"twice": 2}, place=place)


def test_two_equal_expectations_count_each_for_itself_after_a_reload() -> None:
    counters = Counters([each_refid(1), each_refid(2)])
    counters.follow([each_refid(1), each_refid(2)])
    counters.note_call({}, sent(1))
    assert counters.calls == {0: 1, 1: 1}
    assert [one.verdict().actual for one in counters.values.values()] == [1, 1]


def test_an_expectation_that_has_moved_in_its_file_is_shown_where_it_is_now() -> None:
    counters = Counters([each_refid(1)])
    counters.follow([each_refid(4)])
    assert str(counters.values[0].verdict().expectation.place) == "mine.yaml:4"
