"""Reports of a run about programs that a machine lacks."""

from pathlib import Path

import pytest

from tests.support import programs
from tests.support.programs import FOLDERS, PREPARED, PROGRAMS, ROOT, missing, node_command, not_run, program


def skipped(reason: str) -> tuple[str, int, str]:
    """The report of a skipped test, as pytest has it: place and reason."""
    return "tests/interop/test_any.py", 1, f"Skipped: {reason}"


def test_one_line_counts_the_tests_that_each_missing_program_skipped() -> None:
    reasons = ["node is not installed", "redocly is not installed", "node is not installed", "another reason"]
    assert not_run([*map(skipped, reasons), None, "a text"]) == "not run: 2 that need node, 1 that need redocly"
    assert not_run([skipped("another reason")]) == ""


def test_a_test_is_skipped_without_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="node is not installed"):
        program("node")
    monkeypatch.setattr(programs, "program", lambda name: name)
    with pytest.raises(pytest.skip.Exception, match="no-such-command is not installed"):
        node_command("no-such-command")


def test_missing_programs_come_from_the_markers_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = {"php", "interop-tools"}
    monkeypatch.setattr(programs, "_is_here", lambda name: name not in lacking)
    examples, linters = (ROOT / "tests" / name for name in ("examples/test_examples.py", "interop/test_linters.py"))
    assert missing([examples, linters]) == {
        "interop-tools": ["tests/interop/test_linters.py"],
        "php": ["tests/examples/test_examples.py"],
    }


def test_every_need_that_a_module_names_can_be_installed() -> None:
    named = {name for file in ROOT.glob("tests/**/test_*.py") for name in programs.needs_of(file)}
    assert named <= PROGRAMS.keys() | PREPARED.keys()
    assert all(Path(ROOT, folder).is_dir() for folder in FOLDERS)
