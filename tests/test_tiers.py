"""The two tiers of the suite, and the quarter of the slow one that the build machine runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import ROOT
from tests.support.tiers import QUARTERS, Tier, is_in_quarter, slow_files

SCRIPT = ROOT / ".ci" / "run"
HASHES = [f"{number:040x}" for number in range(QUARTERS)]


def test_each_slow_module_is_in_a_single_quarter() -> None:
    parts = [set(slow_files(commit)) for commit in HASHES]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(set(slow_files()))
    assert all(parts)


def test_no_test_begins_after_the_minutes_of_a_quarter() -> None:
    Tier("", 0).pytest_runtest_setup()
    Tier("", 10).pytest_runtest_setup()
    with pytest.raises(pytest.skip.Exception, match="the time for this quarter is used up"):
        Tier("", -1).pytest_runtest_setup()


@pytest.mark.slow
@pytest.mark.parametrize("marked", [True, False])
def test_a_run_of_a_quarter_keeps_its_modules(marked: bool) -> None:
    file = "tests/test_tiers.py"
    commit = next(one for one in HASHES if is_in_quarter(file, one) is marked)
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--quarter", commit, file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ("::test_each_slow_module_is_in_a_single_quarter" in listed.stdout) is marked


@pytest.mark.slow
@pytest.mark.parametrize("lacking", ["", "apt php-cli\nmake interop-tools\n"])
def test_the_build_machine_runs_the_fast_tests_and_installs_what_a_quarter_lacks(lacking: str, tmp_path: Path) -> None:
    """The script runs in a folder of its own, with programs that print how they were called."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "sed"):
        (programs / name).symlink_to(shutil.which(name) or name)
    for name in ("make", "apt-get", "chromium", "node"):
        _program(programs / name, f'echo {name} "$@" >&3')
    _program(programs / "python3", "true")
    _program(programs / "git", "echo 7f")
    _program(tmp_path / ".venv" / "bin" / "python", f"printf '{lacking}'")
    env = {"PATH": str(programs), "HOME": str(tmp_path)}
    log = tmp_path / "calls"
    command = f'exec 3>{log}; exec "{tmp_path}/.ci/run"'
    subprocess.run([shutil.which("bash") or "bash", "-c", command], env=env, check=True, timeout=60)
    installed = ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends php-cli", "make interop-tools"]
    wanted = ["make test", *(installed if lacking else []), "make test-quarter COMMIT=7f"]
    assert log.read_text().splitlines() == wanted


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!{shutil.which('bash')}\n{line}\n")
    path.chmod(0o755)
