"""Shrinking, whatever makes a run fail: the fewest faults are left, and the mildest of each."""

from collections.abc import Iterable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from simulator.explore.catalogue import single_faults
from simulator.explore.judging import Kind, Reason
from simulator.explore.record import Verdict
from simulator.explore.shrinking import repeated, shrunk
from simulator.explore.trials import Trial, Trials
from simulator.explore.weather import weathers
from tests.support.explored import seen

FAULTS = [*single_faults(seen()), *weathers(seen(), [], has_start=False)]
LONG = [one for one in FAULTS if one.milder]
FAILED = Verdict((Reason(Kind.EXIT, "exit 1", "the command exited with 1"),), is_struck=True)
ANOTHER = Verdict((Reason(Kind.EXIT, "exit 2", "the command exited with 2"),), is_struck=True)
SURVIVED = Verdict((), is_struck=True)


class Foretold(Trials):
    """Trials of a command that fails under all of these places at once, and otherwise under others."""

    def __init__(self, places: set[str], failing_attempts: int = 9) -> None:
        self.places = places
        self.failing_attempts = failing_attempts
        self.tapes = {}

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Verdict]]:
        for trial in trials:
            places = {one.place for one in trial.faults}
            fails = self.places <= places and trial.attempt < self.failing_attempts
            yield trial, FAILED if fails else ANOTHER if len(places) > 1 else SURVIVED


@given(st.data())
def test_only_what_is_needed_is_left(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=6, unique_by=lambda one: one.place))
    needed = data.draw(st.lists(st.sampled_from(chosen), min_size=1, unique_by=lambda one: one.place))
    faults, verdict = shrunk(Foretold({one.place for one in needed}), tuple(chosen), FAILED)
    assert {one.place for one in faults} == {one.place for one in needed}
    assert len(faults) == len(needed)
    assert verdict == FAILED
    assert not any(one.milder for one in faults)


def test_there_is_weather_that_becomes_milder() -> None:
    assert LONG
    assert {milder.words for one in LONG for milder in one.milder} <= {one.words for one in FAULTS}


def test_a_failure_is_repeated_until_it_is_certain_or_not() -> None:
    faults = (FAULTS[0],)
    for failing, (failed, attempts) in {9: (2, 2), 1: (1, 3)}.items():
        found = repeated(Foretold({FAULTS[0].place}, failing), faults, FAILED)
        assert (found.failed, found.attempts) == (failed, attempts)
        assert found.is_certain == (failed == attempts)
