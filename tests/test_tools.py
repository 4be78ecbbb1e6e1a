"""What a run says about tests whose programs a machine lacks."""

import pytest

from tests.support import tools
from tests.support.tools import node_command, not_run, program


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
