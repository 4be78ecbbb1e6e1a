"""The audit and the report of two workers, whose simulators are their own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.pytest_runs import Run, run_pytest

pytestmark = pytest.mark.slow

INI = """
[pytest]
addopts = -n 2 --dist=each --reseller-sim-audit --reseller-sim-report=report
filterwarnings = error
reseller_sim_scenario = scenarios/mine.yaml
reseller_sim_clock = x60
"""
TESTS = """
import os
from base64 import b64encode
from hashlib import sha256
from hmac import digest
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest


def order(refid, amount=10):
    return {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": amount}


def test_the_ini_file_is_read(sandbox, reseller_sim):
    sandbox.call("POST", "/v2/topup", order("order-1"))
    Path(os.environ["PYTEST_XDIST_WORKER"]).write_text(reseller_sim.url)
    assert sandbox.scenario == "mine"
    assert sandbox.ask("GET", "/clock")["rate"] == 60


def test_violation(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-1"))
    sandbox.call("POST", "/v2/topup", order("order-1", 20))


@pytest.mark.scenario(audit=False)
def test_violation_on_purpose(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-1"))
    sandbox.call("POST", "/v2/topup", order("order-1", 20))


def test_warning(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-1", 11))
    sandbox.call("POST", "/v2/topup", order("order-1", 11))


def test_failure(sandbox):
    sandbox.call("POST", "/v2/topup", order("order-<1>"))
    sandbox.call("POST", "/v2/topup", order("order-<1>", 20))
    assert False


def test_signature(sandbox):
    headers = dict(sandbox.auth.headers("GET", sandbox.url + "/v2/balance", b""))
    signed = f"v1:{headers['X-Timestamp']}:{headers['X-Nonce']}:get::{b64encode(sha256().digest()).decode()}"
    mac = b64encode(digest(sandbox.api_secret.encode(), signed.encode(), "sha256")).decode()
    urlopen_refused(Request(sandbox.url + "/v2/balance", headers=headers | {"X-Signature": f"v1={mac}"}))
    found = sandbox.ask("GET", "/requests/1")["autopsy"]
    assert len(found["mistakes"]) == 2
    Path(sandbox.id).write_text(f"{found['sentence']}; {found['fix']}")


def urlopen_refused(request):
    with pytest.raises(HTTPError) as refused:
        build_opener(ProxyHandler({})).open(request)
    refused.value.close()


def test_gone(sandbox):
    sandbox.delete()


def test_without_a_sandbox():
    pass
"""
WORKERS = 2
FILES = {
    "pytest.ini": INI,
    "scenarios/base.yaml": "scenario: base\nextends: default\n",
    "scenarios/mine.yaml": "scenario: mine\nextends: base.yaml\n",
    "inner/test_options.py": TESTS,
    "report/test-old-1234/test.json": "{}",
    "report/others/test.json": "{}",
    "report/others/notes.txt": "of somebody else",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suite")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return run_pytest(folder, files=FILES)


def reported(folder: Path, test: str) -> list[Path]:
    """The folders of a test, one for each worker."""
    return sorted(folder.glob(f"report/{test.replace('_', '-')}-????????"))


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_each_worker_has_a_simulator(run: Run, folder: Path) -> None:
    assert f"{3 * WORKERS} failed, {5 * WORKERS} passed" in run.shown, run.shown
    assert (folder / "gw0").read_text() != (folder / "gw1").read_text()


def test_a_violated_obligation_fails_the_test_that_violated_it(run: Run) -> None:
    report = run.report("test_violation")
    assert "reseller-sim: the test passed, but violates 1 obligation of a client" in report
    assert "refid-keeps-its-order: A refid that may have created a payment is never sent with another" in report
    assert "What to do: Store the whole order with its refid before you send it" in report
    assert "Succesful" in run.section("test_violation", "reseller-sim: story of order-1")[0] or "Accepted" in report
    assert run.report("test_violation_on_purpose") == ""


def test_a_sandbox_that_cannot_be_audited_fails_its_test(run: Run) -> None:
    assert "reseller-sim: the test passed, but cannot be audited: there is no sandbox" in run.report("test_gone")


def test_a_test_that_failed_is_not_judged(run: Run) -> None:
    assert "obligation" not in run.report("test_failure")


def test_warnings_of_the_audit_are_warnings_of_pytest_and_never_errors(run: Run) -> None:
    lines = re.findall(r"^inner/test_options.py::(\w+)\n.+: RuntimeWarning: reseller-sim: ([\w-]+): ", run.shown, re.M)
    assert lines == [("test_warning", "refusal-not-repeated")], "pytest merges equal warnings of its workers"
    assert f", {WORKERS} warnings in " in run.shown


def test_the_report_has_a_folder_for_each_sandbox_with_what_it_did(run: Run, folder: Path) -> None:
    for path in reported(folder, "test_failure"):
        about = read(path / "test.json")
        assert about["test"] == "inner/test_options.py::test_failure"
        assert (about["outcome"], about["requests"], about["payments"]) == ("failed", 2, 1)
        assert read(path / "payments.json")["payments"][0]["refid"] == "order-<1>"
        assert [one["n"] for one in read(path / "requests.json")] == [2, 1]
        assert read(path / "audit.json")["ok"] is False
        assert "callbacks.json" in {one.name for one in path.iterdir()}
    assert len(reported(folder, "test_failure")) == WORKERS
    assert read(reported(folder, "test_warning")[0] / "test.json")["outcome"] == "passed"


def test_the_journal_of_the_report_has_the_autopsy_of_a_refused_signature(run: Run, folder: Path) -> None:
    found = reported(folder, "test_signature")
    assert len(found) == WORKERS
    for path in found:
        (row,) = read(path / "requests.json")
        assert row["diagnosis"] == (folder / path.name).read_text()


def test_a_sandbox_that_is_gone_is_reported_with_the_reason(run: Run, folder: Path) -> None:
    (path, *_) = reported(folder, "test_gone")
    assert [one.name for one in path.iterdir()] == ["test.json"]
    assert "no sandbox" in read(path / "test.json")["problem"]


def test_the_end_of_a_run_names_the_folder_which_has_every_test_with_a_sandbox(run: Run, folder: Path) -> None:
    outcomes = [read(path)["outcome"] for path in folder.glob("report/*-????????/test.json")]
    assert (len(outcomes), outcomes.count("failed")) == (7 * WORKERS, 3 * WORKERS)
    assert f"reseller-sim: report of the tests: {folder}/report\n" in run.shown


def test_only_files_of_an_earlier_report_are_removed(run: Run, folder: Path) -> None:
    assert not (folder / "report" / "test-old-1234").exists()
    assert (folder / "report" / "others" / "notes.txt").exists()


def test_a_report_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    files = {"test_one.py": "def test_one(): ...\n", "file": "no folder"}
    done = run_pytest(tmp_path, "--reseller-sim-report", "file", files=files)
    assert (done.status, done.shown) == (
        4,
        f"ERROR: --reseller-sim-report: {tmp_path}/file cannot be written: File exists\n\n",
    )
