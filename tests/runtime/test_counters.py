"""Calls counted by expectation, and what stays when other expectations come."""

from simulator.domain.model.expectations import Expectation, ExpectationKind
from simulator.runtime.counters import Counters


def calls(name: str, path: str) -> Expectation:
    return Expectation(name, ExpectationKind.CALLS, test=lambda facts: facts["path"] == path)


def test_a_call_counts_for_each_expectation_that_it_fits() -> None:
    counters = Counters(
        [calls("a", "/a"), Expectation("b", ExpectationKind.PAYMENTS), calls("also a", "/a"), calls("c", "/c")]
    )
    counters.note_call({"path": "/a"})
    counters.note_call({"path": "/b"})
    assert counters.calls == {0: 1, 2: 1, 3: 0}


def test_without_expected_calls_there_is_nothing_to_look_at() -> None:
    assert Counters().calls == Counters([Expectation("b", ExpectationKind.PAYMENTS)]).calls == {}


def test_other_expectations_begin_anew_and_those_of_the_same_name_go_on() -> None:
    counters = Counters([calls("a", "/a"), calls("b", "/a")])
    counters.note_call({"path": "/a"})
    counters.follow([calls("new", "/a"), calls("a", "/x")])
    counters.note_call({"path": "/x"})
    assert counters.calls == {0: 0, 1: 2}
