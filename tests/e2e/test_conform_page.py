"""docs/conform.md, played: its commands against a simulator in the place of a staging."""

from pathlib import Path

import pytest

from tests.support.pages import blocks, empty_folder, follow
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "conform.md").read_text("utf-8")


def test_the_page_is_played(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    steps = blocks(PAGE)
    first = next(number for number, step in enumerate(steps) if step.action)
    with serving("--port", "0", "--json", folder=str(folder)) as server:
        follow(steps[:first], folder, server)
    assert "<h1>http://127.0.0.1" in (folder / "conform.html").read_text()
    follow(steps[first:], folder)
