"""A system that lacks what only POSIX has, as Windows does, keeps sandboxes in a folder, too."""

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.persistence.maintenance import check
from tests.support.processes import DEADLINE_S, ROOT, ask, environment, run, serving
from tests.support.pytest_runs import run_pytest

WITHOUT = f"{ROOT / 'tests' / 'support' / 'no_posix'}:{ROOT}"
DEPOSITS = "/_sim/sandboxes/default/resellers/RS001/deposits"
SNAPSHOT = """
import sys
from pathlib import Path
from tests.support.data_folders import saving_of, serving
with serving(Path(sys.argv[1])) as client:
    client.pay("one")
    assert client.run(saving_of(client).save(client.live))
"""
JSON = {"content-type": "application/json"}


def test_a_folder_is_owned_and_kept_by_a_server(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"))
    with serving(*flags, PYTHONPATH=WITHOUT) as server:
        assert ask(server.ready["url"] + DEPOSITS, "POST", b'{"amount":"1.50"}', JSON).status == 201
        second = run("serve", *flags, PYTHONPATH=WITHOUT)
        assert (second.status, "in use by the process with pid" in second.only_error_line) == (3, True)
    checked = check(tmp_path / "data")
    assert (checked.problems, checked.sandboxes) == ([], 1)
    assert checked.entries >= 1


def test_a_snapshot_is_taken_without_a_fork(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SNAPSHOT, str(tmp_path / "data")],
        env=environment(PYTHONPATH=WITHOUT),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    checked = check(tmp_path / "data")
    assert (checked.problems, checked.snapshots) == ([], 1)


@pytest.mark.slow
def test_exec_runs_a_command(tmp_path: Path) -> None:
    done = run(
        "exec", "--", sys.executable, "-c", "import os; print(os.environ['RESELLER_SANDBOX'])", PYTHONPATH=WITHOUT
    )
    assert (done.status, done.out) == (0, "default\n")


@pytest.mark.slow
def test_the_plugin_gives_a_test_its_sandbox(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(sandbox):\n    assert sandbox.balance('RS001') > 0\n", "utf-8")
    assert run_pytest(tmp_path, PYTHONPATH=WITHOUT).outcome("test_one") == "PASSED"
