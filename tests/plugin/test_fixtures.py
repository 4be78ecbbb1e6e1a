"""The fixtures and the mark, in a run of pytest that finds its simulator in the environment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sim.pytest_sandbox import simulator
from tests.support.processes import ask, serving
from tests.support.pytest_runs import Run, run_pytest

pytestmark = pytest.mark.slow

TESTS = """
import os
from pathlib import Path

import pytest

ORDER = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
SEEN = set()


def test_the_simulator_is_the_one_of_the_environment(reseller_sim):
    assert reseller_sim.control_url == os.environ["RESELLER_SIM_URL"]


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_has_a_sandbox(sandbox, number):
    assert sandbox.id.startswith(f"test-each-test-has-a-sandbox-{number}-")
    assert sandbox.call("POST", "/v2/topup", ORDER).json()["data"]["status"] == "Accepted"
    SEEN.add(sandbox.id)


def test_sandboxes_are_deleted_after_their_test(reseller_sim):
    assert len(SEEN) == 2
    assert SEEN.isdisjoint(one["id"] for one in reseller_sim.sandboxes())


def test_the_clock_stands_still(sandbox):
    assert sandbox.now == sandbox.now
    assert sandbox.scenario == "default"


@pytest.mark.scenario("bad-day")
class TestMarks:
    def test_a_name(self, sandbox):
        assert sandbox.scenario == "bad-day"

    @pytest.mark.scenario(start="2027-01-10T23:59:00+08:00", seed=7)
    def test_each_argument_is_that_of_the_closest_mark(self, sandbox):
        assert (sandbox.scenario, sandbox.seed) == ("bad-day", 7)
        assert sandbox.now.isoformat() == "2027-01-10T15:59:00+00:00"

    @pytest.mark.scenario("beside.yaml", clock="x60")
    def test_a_file_beside_the_test(self, sandbox):
        assert sandbox.scenario == "beside"
        assert sandbox.ask("GET", "/clock")["rate"] == 60

    @pytest.mark.scenario("root.yaml")
    def test_a_file_in_the_root_folder(self, sandbox):
        assert sandbox.scenario == "root"

    @pytest.mark.scenario(Path(__file__).with_name("beside.yaml"))
    def test_a_path(self, sandbox):
        assert sandbox.scenario == "beside"

    @pytest.mark.scenario("scenario: inline\\nextends: default\\n")
    def test_text(self, sandbox):
        assert sandbox.scenario == "inline"
        assert sandbox.ask("GET", "/clock")["mode"] == "manual"

    @pytest.mark.scenario({"extends": "default", "scenario": "mapping"}, clock=None)
    def test_a_mapping(self, sandbox):
        assert sandbox.scenario == "mapping"
        assert sandbox.ask("GET", "/clock")["mode"] == "real"
        assert sandbox.api_key != "test_key_RS001"


class TestMisuse:
    @pytest.mark.scenario("bad-dya")
    def test_an_unknown_name(self, sandbox): ...

    @pytest.mark.scenario("nowhere.yaml")
    def test_an_unknown_file(self, sandbox): ...

    @pytest.mark.scenario("default", "bad-day")
    def test_two_scenarios(self, sandbox): ...

    @pytest.mark.scenario(clokc="manual")
    def test_an_unknown_argument(self, sandbox): ...

    @pytest.mark.scenario(7)
    def test_a_number(self, sandbox): ...

    @pytest.mark.scenario(clock=7)
    def test_an_unknown_clock(self, sandbox): ...

    @pytest.mark.scenario(clock="manul")
    def test_a_clock_of_another_name(self, sandbox): ...

    @pytest.mark.scenario(credentials="uniqe")
    def test_credentials(self, sandbox): ...

    @pytest.mark.scenario(audit="no")
    def test_audit(self, sandbox): ...

    @pytest.mark.scenario("")
    def test_an_empty_scenario(self, sandbox): ...

    @pytest.mark.scenario(seed="7")
    def test_a_seed(self, sandbox): ...

    @pytest.mark.scenario("mistaken.yaml")
    def test_a_mistake_in_a_file(self, sandbox): ...


def test_the_environment_names_the_sandbox(sandbox_environment):
    assert os.environ["RESELLER_BASE_URL"] == sandbox_environment.url
    assert os.environ["RESELLER_API_KEY"] == sandbox_environment.api_key


KEYS = "{scenario: keys, resellers: [{code: RS001, api_keys: [{key: k1, secret: c2VjcmV0}]}]}"


@pytest.mark.scenario(KEYS, credentials="scenario")
def test_no_credentials_of_another_service_are_left(sandbox_environment):
    assert os.environ["RESELLER_API_KEY"] == "k1"
    assert "RESELLER_PASSWORD" not in os.environ


@pytest.mark.reseller_sim_scenario("bad-day")
def test_fixtures_and_the_mark_have_long_names(
    sandbox, reseller_sim_sandbox, reseller_sim_async_sandbox, reseller_sim_environment
):
    assert sandbox is reseller_sim_sandbox is reseller_sim_environment
    assert reseller_sim_async_sandbox.id == sandbox.id
    assert sandbox.scenario == "bad-day"


def test_the_environment_is_restored():
    assert "RESELLER_BASE_URL" not in os.environ
    assert os.environ["RESELLER_PASSWORD"] == "staging"


@pytest.mark.anyio
async def test_both_kinds_are_one_sandbox(sandbox, async_sandbox):
    assert async_sandbox.id == sandbox.id
    await async_sandbox.advance("90s")
    answer = await async_sandbox.call("POST", "/v2/topup", ORDER)
    assert answer.status == 200
    await async_sandbox.run_until_idle()
    sandbox.expect_status("order-1", "Succesful")


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
FILES = {
    "pytest.ini": "[pytest]\nfilterwarnings = error\n",
    "root.yaml": "scenario: root\nextends: default\n",
    "inner/test_fixtures.py": TESTS,
    "inner/beside.yaml": "scenario: beside\nextends: default\n",
    "inner/mistaken.yaml": "scenario: mistaken\nextends: default\npayment: []\n",
}
ERRORS = {
    "test_an_unknown_name": "there is no bundled scenario 'bad-dya' (did you mean 'bad-day'?)",
    "test_an_unknown_file": "cannot be made: there is no file nowhere.yaml; looked for ",
    "test_two_scenarios": "@pytest.mark.scenario takes one scenario, not 2",
    "test_an_unknown_argument": "cannot be made: @pytest.mark.scenario has no argument 'clokc'; it has scenario, clock",
    "test_a_number": "400 bad_request, at scenario",
    "test_an_unknown_clock": "clock must be manual, real or a rate such as x60",
    "test_a_clock_of_another_name": "clock must be manual, real or a rate such as x60",
    "test_credentials": "at credentials",
    "test_audit": "400 bad_request, at audit",
    "test_an_empty_scenario": "there is no bundled scenario ''",
    "test_a_seed": "400 bad_request, at seed",
    "test_a_mistake_in_a_file": "inner/mistaken.yaml:3, payment: there is no key 'payment' here",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("suite")
    with serving("--port", "0", "--json") as server:
        url = server.ready["url"]
        yield run_pytest(folder, files=FILES, RESELLER_SIM_URL=f"{url}/_sim", RESELLER_PASSWORD="staging")
        assert [one["id"] for one in ask(f"{url}/_sim/sandboxes").json["sandboxes"]] == ["default"]


def test_the_fixtures_and_marks_do_what_the_tests_say(run: Run) -> None:
    assert "17 passed, 12 errors" in run.shown, run.shown


@pytest.mark.parametrize("test", ERRORS)
def test_misuse_is_an_error_with_a_sentence_that_says_what_to_do(run: Run, test: str) -> None:
    assert run.outcome(f"TestMisuse::{test}") == "ERROR"
    report = run.report(f"TestMisuse.{test}")
    assert ERRORS[test] in report
    assert "Traceback" not in report
    assert "another exception" not in report


def test_both_places_are_named_where_a_file_was_looked_for(run: Run) -> None:
    assert "/inner/nowhere.yaml and /" in run.report("TestMisuse.test_an_unknown_file")


def test_a_missing_simulator_is_reported_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RESELLER_SIM_URL", "http://127.0.0.1:9/_sim")
    with pytest.raises(pytest.fail.Exception, match="no simulator answers at"), simulator(tmp_path):
        raise AssertionError("there is none")
