"""The words that call this program in the user's shell."""

import sys
from pathlib import Path

import pytest

from simulator.cli.child import pasted


@pytest.mark.parametrize(
    ("name", "mode", "words"),
    [
        ("reseller-sim", 0o755, "{path}"),
        ("reseller-sim", 0o644, "{python} {path}"),
        ("__main__.py", 0o755, "{python} -m reseller_sim"),
    ],
)
def test_a_program_that_is_not_on_the_path_is_called_by_its_own_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int, words: str
) -> None:
    path = tmp_path / name
    path.touch(mode)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [str(path), "serve"])
    assert pasted() == words.format(path=path, python=sys.executable)
