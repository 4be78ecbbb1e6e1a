"""Calls counted by expectation, and what stays when other expectations come."""

from simulator.domain.expectations import Expectation, Kind
from simulator.runtime.tally import Tally


def calls(name: str, path: str) -> Expectation:
    return Expectation(name, Kind.CALLS, test=lambda facts: facts["path"] == path)


def test_a_call_counts_for_each_expectation_that_it_fits() -> None:
    tally = Tally([calls("a", "/a"), Expectation("b", Kind.PAYMENTS), calls("also a", "/a"), calls("c", "/c")])
    tally.note_call({"path": "/a"})
    tally.note_call({"path": "/b"})
    assert tally.calls == {0: 1, 2: 1, 3: 0}


def test_without_expected_calls_there_is_nothing_to_look_at() -> None:
    assert Tally().calls == Tally([Expectation("b", Kind.PAYMENTS)]).calls == {}


def test_other_expectations_begin_anew_and_those_of_the_same_name_go_on() -> None:
    tally = Tally([calls("a", "/a"), calls("b", "/a")])
    tally.note_call({"path": "/a"})
    tally.follow([calls("new", "/a"), calls("a", "/x")])
    tally.note_call({"path": "/x"})
    assert tally.calls == {0: 0, 1: 2}
