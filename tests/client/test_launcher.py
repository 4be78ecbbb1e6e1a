"""The command runs in a project that has a package `simulator` of its own, and what it starts imports the project's."""

import subprocess
import sys
from pathlib import Path

import pytest

from simulator import __version__
from tests.support.processes import DEADLINE_S, ROOT, environment

# The script that pip writes for an entry point of the distribution.
SCRIPT = "import sys\nfrom reseller_sim.launcher import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
OF_THE_PROJECT = "import os; print(os.environ['PYTHONPATH']); import simulator"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a package of our name that cannot be imported, and the command."""
    package = tmp_path / "project" / "simulator"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('this is the package of the project')\n")
    (tmp_path / "reseller-sim").write_text(SCRIPT)
    return package.parent


def run(project: Path, *command: str, path: str = ".") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.mark.parametrize("path", [".", f".:{ROOT}"])
def test_the_command_uses_its_own_package(project: Path, path: str) -> None:
    done = run(project, "../reseller-sim", "scenarios", path=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "default" in done.stdout


def test_so_does_the_package_as_a_command(project: Path) -> None:
    done = run(project, "-m", "reseller_sim", "--version")
    assert (done.returncode, done.stdout) == (0, f"reseller-sim {__version__}\n")


@pytest.mark.slow
def test_the_tests_of_exec_import_the_project(project: Path) -> None:
    done = run(project, "../reseller-sim", "exec", "--", sys.executable, "-c", OF_THE_PROJECT)
    assert (done.returncode, done.stdout) == (1, ".\n")
    assert "RuntimeError: this is the package of the project" in done.stderr


def test_a_started_simulator_uses_its_own_package(project: Path) -> None:
    start = "from reseller_sim import Simulator\nwith Simulator.start() as one: print(one.health()['status'])"
    done = run(project, "-c", start)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_a_package_that_is_loaded_already_is_kept() -> None:
    done = run(ROOT, "-c", "import simulator as own\nfrom reseller_sim.launcher import load\nload()\n"
               "import simulator\nassert simulator is own")  # fmt: skip
    assert done.returncode == 0, done.stderr
