"""Shrinking, for any cause of a failure: the fewest faults remain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.explore.fault_catalogue import overtaken_answers, single_faults
from simulator.explore.run_verdicts import FailureReason, Kind, RunVerdict
from simulator.explore.storms import outages
from simulator.explore.trials import Trial, shrunk
from tests.support.explored import Foretold, seen

FAULTS = [*overtaken_answers(seen()), *single_faults(seen()), *outages(seen(), [], has_start=False)]
FAILED = RunVerdict((FailureReason(Kind.EXIT, "exit 1", "the command exited with 1"),), is_triggered=True)
ANOTHER = RunVerdict((FailureReason(Kind.EXIT, "exit 2", "the command exited with 2"),), is_triggered=True)
SURVIVED = RunVerdict((), is_triggered=True)


def failing_under(places: set[str]) -> Foretold:
    """A command that fails under all of these places at once, and otherwise under others."""

    def verdict(trial: Trial) -> RunVerdict:
        met = {one.place for one in trial.faults}
        return FAILED if places <= met else ANOTHER if len(met) > 1 else SURVIVED

    return Foretold(verdict)


@given(st.data())
def test_only_what_is_needed_is_left(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=6, unique_by=lambda one: one.place))
    needed = data.draw(st.lists(st.sampled_from(chosen), min_size=1, unique_by=lambda one: one.place))
    faults, verdict = shrunk(failing_under({one.place for one in needed}), tuple(chosen), FAILED)
    assert {one.place for one in faults} == {one.place for one in needed}
    assert len(faults) == len(needed)
    assert verdict == FAILED


NEEDED, OTHERS = FAULTS[0], tuple(one for one in FAULTS[1:] if one.place != FAULTS[0].place)[:60:20]


@pytest.mark.parametrize("surviving_attempt", [0, 1])
def test_a_run_that_survives_by_luck_keeps_no_fault_in_the_finding(surviving_attempt: int) -> None:
    def verdict(trial: Trial) -> RunVerdict:
        return FAILED if NEEDED in trial.faults and trial.attempt != surviving_attempt else SURVIVED

    assert shrunk(Foretold(verdict), (*OTHERS, NEEDED), FAILED)[0] == (NEEDED,)


@pytest.mark.parametrize("failing_attempt", [0, 1])
def test_a_run_that_fails_by_bad_luck_takes_no_fault_out_of_the_finding(failing_attempt: int) -> None:
    faults = (*OTHERS, NEEDED)

    def verdict(trial: Trial) -> RunVerdict:
        return FAILED if trial.faults == faults or trial.attempt == failing_attempt else SURVIVED

    assert shrunk(Foretold(verdict), faults, FAILED)[0] == faults
