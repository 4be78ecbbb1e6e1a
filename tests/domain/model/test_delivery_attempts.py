"""Attempts of a delivery."""

from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, AttemptResult, counted
from tests.support.worlds import START


def test_an_attempt_counts_for_the_limit_of_retries_unless_it_was_interrupted() -> None:
    ends = None, AttemptResult(AttemptEnd.ANSWERED, 500), AttemptResult(AttemptEnd.INTERRUPTED)
    assert [counted([Attempt(1, START, result)]) for result in ends] == [1, 1, 0]
