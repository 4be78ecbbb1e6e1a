"""GitHub's actions and GitLab's template: their shell is run, in an empty folder, with a wheel of this tree."""

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.environments import our_wheel
from tests.support.pages import blocks
from tests.support.pipelines import INSTALLING, Job, gitlab_job, run_gitlab
from tests.support.processes import ROOT, ask, serving
from tests.support.programs import required
from tests.support.shared_work import once

pytestmark = [pytest.mark.slow, pytest.mark.needs("bash", "wheelhouse")]

PAYMENT = '{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":10}'
PAY = f"reseller-sim call POST /v2/topup -d '{PAYMENT}'"
GOOD = f"{PAY} && reseller-sim advance idle && {PAY}"
COMMON = {"Name what is downloaded", INSTALLING}
FAILS = "reseller-sim call GET /v2/balance; exit 4"
PAGE = (ROOT / "docs" / "run-it-in-ci.md").read_text("utf-8")
PYTHON = str(Path(sys.base_prefix) / "bin" / "python3")
ACTIONS = {
    name: yaml.safe_load((ROOT / name).read_text("utf-8"))["runs"]["steps"]
    for name in ("action.yml", "ci/serve/action.yml")
}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return our_wheel(tmp_path_factory)


def without_an_index(patch: pytest.MonkeyPatch) -> None:
    """The libraries come from this environment, so that pip installs the package alone."""
    for name in ("PIP_NO_INDEX", "PIP_NO_DEPS", "PIP_NO_COMPILE"):
        patch.setenv(name, "1")
    patch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))


@pytest.fixture(autouse=True)
def _without_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    without_an_index(monkeypatch)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installation of the action's own step, made once: tests of the other steps use copies."""

    def install(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            without_an_index(patch)
            done = Job(folder, PYTHON).use(
                ROOT / "action.yml", run="reseller-sim --version", flags="", package=str(wheel)
            )
        assert done.status == 0, done

    return once(tmp_path_factory, "action", install) / "temp" / "reseller-sim"


@pytest.fixture
def from_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As there is an index: pip installs all that is needed, and builds, from the wheels of `make wheelhouse`."""
    required("wheelhouse", any((ROOT / "wheelhouse").glob("hatchling-*.whl")))
    monkeypatch.setenv("PIP_FIND_LINKS", str(ROOT / "wheelhouse"))
    for name in ("PIP_NO_DEPS", "PYTHONPATH"):
        monkeypatch.delenv(name)


def suites(path: Path) -> int:
    return len(ElementTree.parse(path).getroot().findall(".//testcase"))  # noqa: S314  # our own file


def test_the_action_runs_a_command_and_keeps_what_happened(installed: Path, tmp_path: Path) -> None:
    job = Job(tmp_path, PYTHON, installed)
    done = job.use(ROOT / "action.yml", run=GOOD)
    assert done.status == 0, done
    assert '"status":"Succesful"' in done.out
    kept = tmp_path / "workspace" / "reseller-sim"
    assert {path.name for path in kept.iterdir()} == {"result.xml", "report", "result.tape"}
    assert (kept / "report" / "index.html").exists()
    assert suites(kept / "result.xml") > 0
    assert job.artifacts == ["reseller-sim"]
    assert job.used == ["actions/setup-python", "actions/cache", "actions/upload-artifact"]
    pins = hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest()
    assert job.keys == [f"reseller-sim-Linux-X64-{pins[:16]}"], "what is cached is what these libraries need"
    (folder,) = job.path
    assert os.listdir(folder) == ["reseller-sim"], "no Python of ours is before the user's"


def test_the_action_fails_with_the_command_and_keeps_the_report_all_the_same(installed: Path, tmp_path: Path) -> None:
    job = Job(tmp_path, PYTHON, installed)
    done = job.use(ROOT / "action.yml", run=FAILS, flags="--coverage --seed 7", report="out")
    assert done.status == 4, done
    assert (tmp_path / "workspace" / "out" / "result.tape").exists()
    assert job.artifacts == ["out"]


def test_flags_may_stand_on_several_lines(installed: Path, tmp_path: Path) -> None:
    """As a block of YAML has them: none is left out without a word."""
    job = Job(tmp_path, PYTHON, installed)
    done = job.use(ROOT / "action.yml", run="true", flags="--coverage\n--audit\n")
    assert done.status == 1, done
    assert "audit_of_nothing" in done.out, "the flag of the second line asked for it"


@pytest.mark.usefixtures("from_wheels")
def test_the_action_installs_its_own_source(tmp_path: Path) -> None:
    """As `uses:` does, which has a checkout of this repository beside the user's."""
    done = Job(tmp_path, PYTHON).use(ROOT / "action.yml", run="reseller-sim --version", flags="")
    assert (done.status, "reseller-sim 0." in done.out) == (0, True), done


def test_the_actions_install_by_the_same_steps_from_the_same_source() -> None:
    """So one that is tried speaks for both."""
    both = [
        {step["name"]: (step["run"], step["env"]) for step in steps if step.get("name", "") in COMMON}
        for steps in ACTIONS.values()
    ]
    (alone, served) = ({name: run for name, (run, _) in one.items()} for one in both)
    assert set(alone) == COMMON
    assert alone == served
    for action, steps in zip(ACTIONS, both, strict=True):
        given = {name: text for _, env in steps.values() for name, text in env.items()}
        here = {
            name: text.replace("${{ github.action_path }}", str((ROOT / action).parent)) for name, text in given.items()
        }
        assert Path(here["SIM_SOURCE"]).resolve() == ROOT
        assert Path(here["SIM_PINS"]).resolve() == ROOT / "constraints.txt"


def test_a_simulator_serves_the_steps_of_a_job_until_it_is_judged(installed: Path, tmp_path: Path) -> None:
    job = Job(tmp_path, PYTHON, installed)
    started = job.use(ROOT / "ci" / "serve" / "action.yml")
    assert started.status == 0, started
    try:
        step = {"run": GOOD, "shell": "bash"}
        paid = job._step(step, {}, started)
        assert paid.status == 0, paid
        assert '"status":"Succesful"' in paid.out
        ended = job.use(ROOT / "ci" / "finish" / "action.yml")
        assert ended.status == 0, ended
        assert "0 violated" in ended.out
    finally:
        if Path(f"/proc/{job.variables['SIM_SERVER']}/cmdline").exists():
            os.kill(int(job.variables["SIM_SERVER"]), 9)
    kept = tmp_path / "workspace" / "reseller-sim"
    assert {path.name for path in kept.iterdir()} == {"result.xml", "default.requests.har", "default.tape"}


def test_a_simulator_that_does_not_start_says_why(installed: Path, tmp_path: Path) -> None:
    done = Job(tmp_path, PYTHON, installed).use(ROOT / "ci" / "serve" / "action.yml", scenario="none.yaml")
    assert done.status == 3
    assert "none.yaml" in done.err


def test_an_end_without_a_simulator_says_so_and_asks_no_other_server(tmp_path: Path) -> None:
    """As `if: always()` leads to when the start has failed."""
    job = Job(tmp_path, PYTHON)
    done = job.use(ROOT / "ci" / "finish" / "action.yml")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("ci/finish has nothing to judge: ci/serve has started no simulator in this job")
    assert done.err.count("\n") == 1
    assert job.artifacts == ["reseller-sim"]


@pytest.mark.parametrize("report", ["", ".sim", "out/sim", "/srv/sim"])
@pytest.mark.parametrize("action", ["action.yml", "ci/finish/action.yml"])
def test_a_report_that_no_artifact_can_be_named_by_is_refused(
    action: str, report: str, installed: Path, tmp_path: Path
) -> None:
    job = Job(tmp_path, PYTHON, installed)
    if action == "action.yml":
        done = job.use(ROOT / action, run="true", report=report)
    else:
        job.variables["RESELLER_SIM_URL"] = "http://127.0.0.1:9/_sim"
        job.variables["SIM_SERVER"] = "0"
        done = job.use(ROOT / action, report=report)
    assert done.status == 1
    assert done.err.splitlines() == [
        f"report is the name of a folder, without / and without . before it: '{report}' is none"
    ]


@pytest.mark.parametrize(("command", "status", "installs"), [(GOOD, 0, True), (FAILS, 4, False)])
def test_the_job_of_gitlab_runs_a_command(
    command: str, status: int, installs: bool, wheel: Path, installed: Path, tmp_path: Path
) -> None:
    job = gitlab_job(".reseller-sim:exec")
    there = None if installs else installed / "venv"
    done = run_gitlab(job, tmp_path / "project", there, SIM_COMMAND=command, SIM_PACKAGE=str(wheel))
    assert done.status == status, done
    (folder,) = job["artifacts"]["paths"]
    kept = tmp_path / "project" / folder
    assert {path.name for path in kept.iterdir()} == {"result.xml", "report", "result.tape"}
    assert suites(tmp_path / "project" / job["artifacts"]["reports"]["junit"]) > 0


def variables_of_service(job: Mapping[str, Any], **project: str) -> dict[str, str]:
    """The environment of a service on GitLab: the variables of the job, and its own, which may refer to others."""
    (service,) = job["services"]
    given = {name: str(text) for name, text in job["variables"].items()} | project
    assert not [name for name, text in service["variables"].items() if f"${name}" in text], "none refers to itself"
    return given | {name: Template(text).substitute(given) for name, text in service["variables"].items()}


def test_the_jobs_of_gitlab_install_by_the_same_lines() -> None:
    alone, served = (gitlab_job(name)["before_script"] for name in (".reseller-sim:exec", ".reseller-sim:service"))
    assert served[: len(alone)] == alone


def test_the_job_of_gitlab_asks_a_simulator_in_a_service(installed: Path, tmp_path: Path) -> None:
    job = gitlab_job(".reseller-sim:service")
    (service,) = job["services"]
    assert service["alias"] in job["variables"]["RESELLER_BASE_URL"]
    with serving("--port", "0", "--json", **variables_of_service(job)) as server:  # type: ignore[arg-type]
        url = server.ready["url"]
        here = {"RESELLER_BASE_URL": url, "RESELLER_SIM_URL": f"{url}/_sim", "SIM_PACKAGE": "installed"}
        done = run_gitlab(job, tmp_path / "project", installed / "venv", SIM_COMMAND=GOOD, **here)
        assert ask(f"{url}/_sim/sandboxes", "GET", None, {}).status == 401, "it has the job's token"
    assert done.status == 0, done
    assert "0 violated" in done.out
    assert suites(tmp_path / "project" / job["artifacts"]["reports"]["junit"]) > 0


def test_a_service_of_gitlab_starts_from_the_scenario_of_its_job() -> None:
    job = gitlab_job(".reseller-sim:service")
    assert variables_of_service(job)["RESELLER_SIM_SCENARIO"] == "default"
    assert variables_of_service(job, SIM_SCENARIO="bad-day")["RESELLER_SIM_SCENARIO"] == "bad-day"


def test_a_scenario_that_a_service_of_gitlab_cannot_read_is_refused_on_one_line(tmp_path: Path) -> None:
    job = gitlab_job(".reseller-sim:service")
    (line,) = (one for one in job["before_script"] if "a service cannot" in one)
    (tmp_path / "suite.yaml").touch()
    command = ["/bin/sh", "-c", line]
    done = subprocess.run(command, cwd=tmp_path, env={"SIM_SCENARIO": "suite.yaml"}, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"suite.yaml is a file of the job, which a service cannot read: extend .reseller-sim:exec" in done.stderr
    assert subprocess.run(command, cwd=tmp_path, env={"SIM_SCENARIO": "default"}, check=False).returncode == 0


def test_a_pipe_with_a_failed_part_fails_in_a_job_of_gitlab(installed: Path, tmp_path: Path) -> None:
    job = gitlab_job(".reseller-sim:exec")
    done = run_gitlab(
        job, tmp_path / "project", installed / "venv", SIM_COMMAND="false | cat", SIM_FLAGS="", SIM_PACKAGE="installed"
    )
    assert done.status == 1, done


def test_a_job_of_gitlab_without_a_package_says_what_is_missing(tmp_path: Path) -> None:
    done = run_gitlab(gitlab_job(".reseller-sim:exec"), tmp_path / "project", SIM_COMMAND="true")
    assert done.status != 0
    assert "SIM_PACKAGE: is a wheel of reseller-sim" in done.err


def test_the_page_uses_existing_actions_with_inputs_and_variables_that_they_have() -> None:
    page = [yaml.safe_load(one.text) for one in blocks(PAGE) if one.language == "yaml" and not one.action]
    steps = [
        step
        for one in page
        for job in [one.get("test", one.get("jobs", {}).get("test"))]
        for step in job.get("steps", ())
    ]
    used = {
        step["uses"]: step.get("with", {}) for step in steps if step.get("uses", "").startswith("OWNER/reseller-sim")
    }
    assert len(used) == 3
    for name, inputs in used.items():
        action = ROOT / name.partition("@")[0].removeprefix("OWNER/reseller-sim").lstrip("/") / "action.yml"
        assert set(inputs) <= set(yaml.safe_load(action.read_text("utf-8"))["inputs"])
    extending = [job for one in page for job in one.values() if isinstance(job, dict) and "extends" in job]
    assert len(extending) == 2
    for job in extending:
        assert set(job["variables"]) <= set(gitlab_job(job["extends"])["variables"])
    table = PAGE.partition("| input |")[2].partition("\n\n")[0]
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE))
    assert rows == set(yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"])
