"""docs/testcontainers.md in Python: the page's files, with the real library, on an engine that plays containers."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_engine import PORT, engine
from tests.support.pages import blocks
from tests.support.processes import DEADLINE_S, ROOT, environment

pytestmark = pytest.mark.slow

PAGE = blocks((ROOT / "docs" / "testcontainers.md").read_text("utf-8"))


def test_the_page_s_container_serves_the_page_s_test(tmp_path: Path) -> None:
    for one in PAGE:
        if one.action and one.language == "python":
            (tmp_path / one.name).write_text(one.text)
    with engine() as made:
        found = {
            "DOCKER_HOST": f"tcp://127.0.0.1:{made.server_port}",
            "TESTCONTAINERS_RYUK_DISABLED": "true",
            "TESTCONTAINERS_CONNECTION_MODE": "docker_host",  # this machine may be a container itself
        }
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
            cwd=tmp_path,
            env=environment(**found, HOME=str(tmp_path), PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=2 * DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, (done.stdout, done.stderr, made.asked)
        assert "1 passed" in done.stdout
        assert list(made.created["ExposedPorts"]) == [PORT]
        assert made.running is None, "its container is gone"


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
