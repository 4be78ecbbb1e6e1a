"""The outcomes that answers are recognised by."""

import pytest

from simulator.domain.model.outcomes import BILLS_PATH, OUTCOMES, AnswerKind, ConnectionEnd


def outcomes_of(
    status: int, path: str = "/x", error: str = "", ending: ConnectionEnd = ConnectionEnd.WHOLE
) -> set[str]:
    answer = AnswerKind("GET", path, status, error, ending)
    return {outcome.id for outcome in OUTCOMES if outcome.of_answer is not None and outcome.of_answer(answer)}


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (200, set()),
        (399, set()),
        (400, {"status-400"}),
        (401, {"status-401"}),
        (402, set()),
        (403, {"status-403"}),
        (404, {"status-404"}),
        (405, set()),
        (428, set()),
        (429, {"status-429"}),
        (430, set()),
        (499, set()),
        (500, {"status-500"}),
        (501, {"status-500"}),
        (502, {"status-500"}),
        (503, {"status-503"}),
        (504, {"status-504"}),
        (505, set()),
    ],
)
def test_a_status_is_one_outcome(status: int, found: set[str]) -> None:
    assert outcomes_of(status) == found


@pytest.mark.parametrize(
    ("ending", "found"),
    [
        (ConnectionEnd.WHOLE, {"status-504"}),
        (ConnectionEnd.CUT, {"status-504", "answer-cut"}),
        (ConnectionEnd.ABORTED, {"connection-closed"}),
        (ConnectionEnd.GONE, set()),
    ],
)
def test_an_answer_counts_when_its_status_was_sent(ending: ConnectionEnd, found: set[str]) -> None:
    assert outcomes_of(504, ending=ending) == found


@pytest.mark.parametrize(
    ("status", "path", "error", "found"),
    [
        (200, BILLS_PATH, "", {"bill-found"}),
        (400, BILLS_PATH, "", {"bill-refused", "status-400"}),
        (200, "/v2/topup", "Invalid_Extras", {"invalid-extras"}),
        (400, "/v2/topup", "Plan_Code_Required", {"invalid-plan-code", "status-400"}),
        (401, "/v2/topup", "nonce_reused", {"nonce-reused", "status-401"}),
    ],
)
def test_an_answer_may_be_several_outcomes(status: int, path: str, error: str, found: set[str]) -> None:
    assert outcomes_of(status, path, error) == found
