"""The evidence under failed tests, in a run of pytest."""

import re
from collections.abc import Iterator

import pytest

from tests.support.processes import serving
from tests.support.pytest_runs import Run, run_pytest

pytestmark = pytest.mark.slow

TESTS = """
import pytest


def order(refid, amount=10, account="0123456789"):
    return {"refid": refid, "product": "RELOAD", "account": account, "amount": amount}


@pytest.fixture
def paid(sandbox):
    for number in range(1, 6):
        account = "0120000001" if number == 4 else "0123456789"
        sandbox.call("POST", "/v2/topup", order(f"order-{number}", account=account))
    sandbox.run_until_idle()
    return sandbox


def test_payments(paid):
    assert False


def test_refusals(sandbox):
    sandbox.fault({"name": "down", "when": {"path": "/v2/balance"}, "then": {"status": 503}})
    for amount in range(101, 115):
        sandbox.call("POST", "/v2/topup", order("order-1", amount))
    sandbox.call("GET", "/v2/balance")
    assert False


def test_a_long_story(sandbox):
    for _ in range(40):
        sandbox.call("POST", "/v2/topup", order("order-1"))
    sandbox.run_until_idle()
    assert False


def test_callbacks(sandbox):
    sandbox.replies("callbacks", [{"status": 500}])
    sandbox.call("POST", "/v2/topup", order("order-7"))
    sandbox.run_until_idle()
    assert False


def test_nothing_reached_it(sandbox):
    assert False


def test_no_payment(sandbox):
    sandbox.call("GET", "/v2/balance")
    assert False


def test_a_clock_that_nobody_moved(sandbox):
    answer = sandbox.call("POST", "/v2/topup", order("order-9"))
    assert answer.json()["data"]["status"] == "Succesful"


def test_an_expectation_under_a_clock_that_nobody_moved(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-9"))
    sandbox.expect_status("order-9", "Succesful")


def test_that_passes(paid):
    pass


@pytest.mark.xfail(strict=True)
def test_that_is_expected_to_fail(paid):
    assert False


@pytest.fixture
def broken(paid):
    raise RuntimeError("no")


def test_an_error_before_the_test(broken):
    pass


@pytest.fixture
def checked(paid):
    yield
    paid.expect_no_refusals()
    assert not paid.callbacks()


def test_an_error_after_the_test(checked):
    pass


def test_a_failure_and_an_error_after_it(checked):
    assert False


@pytest.fixture
def broken_twice(paid, request):
    request.addfinalizer(lambda: 1 / 0)
    raise RuntimeError("no")


def test_an_error_before_and_one_after_it(broken_twice):
    pass


def test_an_expectation(paid):
    paid.expect_status("order-4", "Succesful")


def test_an_expectation_of_a_long_story(sandbox):
    for _ in range(40):
        sandbox.call("POST", "/v2/topup", order("order-1", account="0120000001"))
    sandbox.run_until_idle()
    sandbox.expect_status("order-1", "Succesful")


def test_an_expectation_of_no_refusals(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-1", 7))
    sandbox.expect_no_refusals()


def test_a_refid_that_turns_text_round(sandbox):
    sandbox.call("POST", "/v2/topup", order("o\\u202e" + "x" * 40))
    assert False
"""
GONE = """
import pytest
from reseller_sim import Simulator


@pytest.fixture(scope="session")
def reseller_sim():
    with Simulator.start() as found:
        yield found


def test_gone(sandbox, reseller_sim):
    reseller_sim.close()
    assert False


def test_it_cannot_be_made(sandbox):
    pass
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    files = {"pytest.ini": "[pytest]\nfilterwarnings = error\n", "test_evidence.py": TESTS, "test_gone.py": GONE}
    with serving("--port", "0", "--json") as server:
        yield run_pytest(tmp_path_factory.mktemp("suite"), files=files, RESELLER_SIM_URL=server.ready["url"])


def test_only_tests_that_fail_have_evidence(run: Run) -> None:
    assert "14 failed, 2 passed, 1 xfailed, 6 errors" in run.shown, run.shown
    assert run.report("test_that_passes") == ""
    assert run.report("test_that_is_expected_to_fail") == ""


def test_the_stories_of_failed_payments_are_shown_first(run: Run) -> None:
    failed, newest = (run.section("test_payments", f"reseller-sim: story of order-{number}") for number in (4, 5))
    assert "RELOAD 10.00 MYR to 0120000001, Failed (48)" in failed[0]
    assert any("POST /v2/topup → 200" in line for line in failed)
    assert any("wallet +9.75 MYR (REFUND)" in line for line in failed)
    assert any("callback Failed to inbox:callbacks, attempt 1: answered 200" in line for line in failed)
    assert "Succesful" in newest[0]
    report = run.report("test_payments")
    assert report.index("story of order-4") < report.index("story of order-5") < report.index("story of order-3")
    assert "story of order-2" not in report
    assert run.section("test_payments", "reseller-sim: 2 more payments") == ["order-2 Succesful", "order-1 Succesful"]


def test_refused_requests_are_shown_with_their_diagnosis_the_latest_twelve(run: Run) -> None:
    lines = run.section("test_refusals", "reseller-sim: refused requests")
    assert lines[0] == "... 3 more"
    assert lines[-2].startswith(
        "#14 POST /v2/topup → 400, error Invalid_Denomination: RELOAD sells 5, 10, 20, 30, 50, 100"
    )
    assert lines[-1].startswith("#15 GET /v2/balance → 503")
    assert "fault down" in lines[-1]
    assert len(lines) == 13
    assert "callbacks" not in run.report("test_refusals")


def test_the_beginning_and_the_end_of_a_long_story_are_shown(run: Run) -> None:
    lines = run.section("test_a_long_story", "reseller-sim: story of order-1")
    assert len(lines) == 31
    assert "#1 POST /v2/topup" in lines[2]
    assert lines[8] == "... 18 more"
    assert "callback Succesful" in lines[-1]


def test_callbacks_are_shown_with_what_the_receiver_answered(run: Run) -> None:
    lines = run.section("test_callbacks", "reseller-sim: callbacks")
    assert lines[0] == "order-7: callback Processing to inbox:callbacks, attempt 1: answered 500"


def test_a_sandbox_without_payments_shows_what_reached_it(run: Run) -> None:
    (line,) = run.section("test_nothing_reached_it", "reseller-sim: requests")
    assert line.startswith("none has reached the sandbox: does the code under test use http://127.0.0.1:")
    assert run.section("test_no_payment", "reseller-sim: requests") == ["#1 GET /v2/balance → 200"]


def test_items_pending_under_a_manual_clock_are_listed_once_under_an_assertion_of_the_test(run: Run) -> None:
    (line,) = run.section("test_a_clock_that_nobody_moved", "reseller-sim: pending")
    assert line.startswith("the clock is manual and 1 is pending (order-9 becomes Processing at ")
    assert line.endswith('): call advance("2s") or run_until_idle() first')
    assert "reseller-sim: pending" not in run.report("test_an_expectation_under_a_clock_that_nobody_moved")


@pytest.mark.parametrize("test", ["test_an_error_before_the_test", "test_an_error_after_the_test"])
def test_an_error_in_a_fixture_has_the_evidence_too(run: Run, test: str) -> None:
    assert "Failed" in run.section(test, "reseller-sim: story of order-4")[0]


@pytest.mark.parametrize("test", ["test_a_failure_and_an_error_after_it", "test_an_error_before_and_one_after_it"])
def test_evidence_is_shown_once_for_each_test(run: Run, test: str) -> None:
    titles = re.findall(r"^-+ reseller-sim: (.+?) -+$", run.report(test), re.MULTILINE)
    stories = [f"story of order-{number}" for number in (4, 5, 3)]
    assert titles == [*stories, "2 more payments", "callbacks"], "the second report would have it again, or say why not"


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("test_an_expectation", "to 0120000001, Failed (48)"),
        ("test_an_expectation_of_a_long_story", "to 0120000001, Failed (48)"),
        ("test_an_expectation_of_no_refusals", "#1 POST /v2/topup → 400, error Invalid_Denomination"),
    ],
)
def test_facts_in_the_message_of_an_expectation_are_not_repeated(run: Run, test: str, told: str) -> None:
    assert run.report(test).count(told) == 1


def test_facts_missing_in_the_message_of_an_expectation_are_shown(run: Run) -> None:
    report = run.report("test_an_expectation")
    assert "reseller-sim: story of order-4" not in report
    assert "reseller-sim: story of order-5" in report
    assert "reseller-sim: callbacks" in report


def test_content_of_a_request_never_controls_a_terminal(run: Run) -> None:
    assert "\u202e" not in run.shown
    assert run.section("test_a_refid_that_turns_text_round", r"reseller-sim: story of o\u202e" + "x" * 40)


def test_a_simulator_that_is_gone_is_one_line(run: Run) -> None:
    (line,) = run.section("test_gone", "reseller-sim: no more to show")
    assert "no simulator answers at http://127.0.0.1:" in line
    assert "cannot be made: no simulator answers at" in run.report("test_it_cannot_be_made")
