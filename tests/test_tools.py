"""What a run says about tests whose programs a machine lacks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import tools
from tests.support.tools import node_command, not_run, program

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"


def skipped(reason: str) -> tuple[str, int, str]:
    """The report of a skipped test, as pytest has it: place and reason."""
    return "tests/interop/test_any.py", 1, f"Skipped: {reason}"


def test_one_line_says_how_many_tests_did_not_run_for_want_of_which_program() -> None:
    reasons = ["node is not installed", "redocly is not installed", "node is not installed", "another reason"]
    line = not_run([*map(skipped, reasons), None, "a text"])
    assert line == "not run: 2 that need node, 1 that need redocly; `.ci/run` installs what is missing"
    assert not_run([skipped("another reason")]) == ""


def test_without_a_program_a_test_is_skipped_here_and_fails_where_all_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="node is not installed"):
        program("node")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="node is not installed, and "):
        node_command("redocly")
    monkeypatch.setattr(tools, "program", lambda name: name)
    with pytest.raises(pytest.fail.Exception, match="no-such-command is not installed, and "):
        node_command("no-such-command")


@pytest.mark.slow
@pytest.mark.parametrize("has_npm", [True, False])
@pytest.mark.parametrize(("given", "then"), [(None, "true"), ("1", "1")])
def test_the_script_of_the_build_machine_says_where_it_runs_and_what_is_missing(
    has_npm: bool, given: str | None, then: str, tmp_path: Path
) -> None:
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    for name in ("make", "python3", "node", "chromium", *(["npm"] if has_npm else [])):
        (tmp_path / name).write_text(f'#!/usr/bin/env bash\n[ {name} = make ] && echo "make $1, CI is $CI" || true\n')
        (tmp_path / name).chmod(0o755)
    env = {name: text for name, text in os.environ.items() if name != "CI"} | {"PATH": str(tmp_path)}
    ran = subprocess.run(  # our own script, with programs that do nothing
        [str(SCRIPT)],
        env=env | ({"CI": given} if given else {}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    wanted = ["wheelhouse", "sbom", *(["interop", "bench-peers"] if has_npm else []), "site-tools", "test"]
    assert ran.stdout.splitlines() == [f"make {what}, CI is {then}" for what in wanted]
    assert ("npm is missing" in ran.stderr) == (not has_npm)
