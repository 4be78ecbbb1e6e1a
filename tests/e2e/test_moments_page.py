"""The section of docs/tape.md on marks, rewinds and forks, played as it is printed against a real process."""

from pathlib import Path

import pytest

from tests.support.pages import blocks, empty_folder, follow, printed_on_terminal
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "tape.md").read_text("utf-8")
SECTION = PAGE.partition("\n## Marks, rewind, fork\n")[2].partition("\n## ")[0]


def test_the_page_shows_what_happens(tmp_path: Path) -> None:
    steps, folder = blocks(SECTION), empty_folder(tmp_path)
    assert [step.language for step in steps] == ["sh", "text"] * 3
    with serving("--clock", "manual", "--port", "0", "--json", folder=str(folder)) as server:
        follow(steps, folder, server, printed_on_terminal)
