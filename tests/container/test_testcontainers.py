"""docs/testcontainers.md in Python: the page's files, checked against the types of the real library."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import blocks
from tests.support.processes import DEADLINE_S, ROOT, environment

pytestmark = pytest.mark.slow

PAGE = blocks((ROOT / "docs" / "testcontainers.md").read_text("utf-8"))


def test_the_page_s_files_have_the_types_of_the_library(tmp_path: Path) -> None:
    names = [one.name for one in PAGE if one.language == "python"]
    for one in PAGE:
        if one.name in names:
            (tmp_path / one.name).write_text(one.text)
    flags = ["--strict", "--cache-dir", str(tmp_path / "cache"), "--config-file", "/dev/null"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *flags, *names],
        cwd=tmp_path,
        env=environment(MYPYPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
