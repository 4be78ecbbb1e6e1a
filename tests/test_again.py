"""The second run of the few tests that failed beside others."""

import json
from pathlib import Path

import pytest

from tests.support.again import FEW, again

TESTS = """
from pathlib import Path

def test_by_chance() -> None:
    assert Path(__file__).with_name("calm").exists()

def test_at_fault() -> None:
    raise AssertionError
"""


def failed(folder: Path, *names: str) -> Path:
    """What pytest keeps of a run in which these tests of a module failed; its file."""
    module, kept = folder / "test_failed.py", folder / "lastfailed"
    module.write_text(TESTS)
    kept.write_text(json.dumps({f"{module}::{name}": True for name in names}))
    return kept


def test_what_passes_alone_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "calm").touch()
    assert again(failed(tmp_path, "test_by_chance")) == 0
    said = capfd.readouterr().out
    assert said.splitlines()[-2:] == [
        "failed beside others, and passed alone:",
        f"  {tmp_path}/test_failed.py::test_by_chance",
    ]


def test_what_fails_again_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "calm").touch()
    assert again(failed(tmp_path, "test_by_chance", "test_at_fault")) == 1
    assert "1 failed, 1 passed" in capfd.readouterr().out


def test_many_are_no_chance_and_a_run_that_left_none_ended_otherwise(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert again(failed(tmp_path, *(f"test_{number}" for number in range(FEW + 1)))) == 1
    (tmp_path / "emptied").touch()
    assert again(failed(tmp_path)) == again(tmp_path / "none") == again(tmp_path / "emptied") == 1
    lines = capfd.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        f"{FEW + 1} tests failed",
        *["the last run left no failed test to run again: it ended before"] * 3,
    ]
