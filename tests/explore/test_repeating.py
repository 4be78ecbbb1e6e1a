"""A failure is repeated until it is known how often it fails, and keeps the tape of the last run that did."""

import pytest

from simulator.explore.fault_catalogue import single_faults
from simulator.explore.run_verdicts import FailureReason, Kind, RunVerdict
from simulator.explore.trials import ATTEMPTS, Trial, repeated
from tests.support.explored import Foretold, seen

FAULTS = (single_faults(seen())[0],)
EXIT = FailureReason(Kind.EXIT, "exit 1", "the command exited with 1")
AUDIT = FailureReason(Kind.AUDIT, "audit: all-pages-read", "a page was not read")
SURVIVED = RunVerdict((), is_triggered=True)


def foretold(*of_attempts: tuple[FailureReason, ...]) -> Foretold:
    return Foretold(lambda trial: RunVerdict(of_attempts[trial.attempt], is_triggered=True))


@pytest.mark.parametrize(
    ("attempts", "failed", "tape"),
    [
        (((EXIT,), (EXIT,)), (2, 2), b"attempt 1"),
        (((EXIT,), (), (EXIT,)), (2, 3), b"attempt 2"),
        (((EXIT,), (), ()), (1, 3), b"attempt 0"),
        (((EXIT,), (AUDIT,), ()), (2, 3), b"attempt 1"),
    ],
)
def test_it_has_the_tape_of_the_last_run_that_failed_also_of_the_first_one(
    attempts: tuple[tuple[FailureReason, ...], ...], failed: tuple[int, int], tape: bytes
) -> None:
    trials = foretold(*attempts)
    failure = repeated(trials, FAULTS)
    assert (failure.failed, failure.attempts) == failed
    assert failure.is_certain == (failed[0] == failed[1])
    assert failure.is_once == (failed[0] == 1)
    assert failure.tape is not None
    assert failure.tape.startswith(tape)
    assert trials.tapes == {}


def test_only_reasons_shared_by_all_failed_runs_are_reported() -> None:
    failure = repeated(foretold((EXIT, AUDIT), (AUDIT,)), FAULTS)
    assert failure.verdict.reasons == (AUDIT,)
    assert failure.is_certain


def test_a_failure_that_differs_each_time_is_not_certain() -> None:
    failure = repeated(foretold((EXIT,), (AUDIT,), (EXIT,)), FAULTS)
    assert (failure.failed, failure.attempts, failure.is_certain) == (3, 3, False)


def test_runs_of_an_earlier_exploration_count_and_other_files_are_not_compared() -> None:
    trials = foretold((), (EXIT,), (EXIT,))
    list(trials.run([Trial(FAULTS, 0), Trial(FAULTS, 1)]))
    failure = repeated(trials, FAULTS, enough=ATTEMPTS)
    assert (failure.failed, failure.attempts) == (2, 3)
    assert [one.alone for one in trials.made] == [False, False, True]
