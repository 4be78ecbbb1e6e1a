"""A run that does not use the plugin imports next to nothing for it."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys

import pytest


class Imported:
    def pytest_unconfigure(self):
        print("imported", *sorted(sys.modules))


sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Imported()]))
"""


def imported(folder: Path, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "1 passed" in done.stdout
    return set(done.stdout.partition("imported ")[2].split())


def test_a_run_without_a_sandbox_imports_two_small_modules(tmp_path: Path) -> None:
    tmp_path.joinpath("test_one.py").write_text("def test_one():\n    pass\n")
    with_it, without = imported(tmp_path), imported(tmp_path, "-p", "no:reseller_sim")
    assert with_it - without == {"reseller_sim", "reseller_sim.pytest_plugin"}
