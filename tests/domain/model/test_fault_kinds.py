"""What a fault does to a request."""

import pytest

from simulator.domain.model.fault_kinds import AnswerDamage, Failure, FaultThen, ScriptedAnswer


@pytest.mark.parametrize(
    ("failures", "after_commit", "prevents"),
    [
        ((), False, False),
        ((AnswerDamage.CUT,), False, False),
        ((AnswerDamage.NO_ANSWER,), False, True),
        ((ScriptedAnswer(503),), False, True),
        ((AnswerDamage.CUT, ScriptedAnswer(503)), False, True),
        ((ScriptedAnswer(503),), True, False),
    ],
)
def test_a_fault_prevents_the_execution_when_it_answers_itself_or_not_at_all_unless_it_comes_after_the_commit(
    failures: tuple[Failure, ...], after_commit: bool, prevents: bool
) -> None:
    assert FaultThen(failures, after_commit=after_commit).prevents_execution is prevents
