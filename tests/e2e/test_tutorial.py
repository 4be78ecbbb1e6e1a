"""The tutorial of docs/scenarios.md, run from an empty folder: each command, and the output that the page shows."""

from pathlib import Path

import pytest

from tests.support.pages import SCENARIOS, blocks, empty_folder, follow, printed, printed_on_terminal
from tests.support.processes import serving

TUTORIAL = SCENARIOS.partition("## In ten minutes\n")[2].partition("\n## ")[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return empty_folder(tmp_path)


def test_the_tutorial_works_from_an_empty_folder(folder: Path) -> None:
    steps = blocks(TUTORIAL)
    begin = next(place for place, block in enumerate(steps) if "reseller-sim serve" in block.text)
    shown = follow(steps[:begin], folder)
    assert "mine.yaml: ok" in shown
    with serving(str(folder / "mine.yaml"), "--watch", "--port", "0", "--json") as server:
        follow(steps[begin + 1 :], folder, server, printed_on_terminal)
    assert "$schema=./scenario.schema.json" in (folder / "mine.yaml").read_text()
    assert (folder / "scenario.schema.json").is_file()


def test_check_reports_the_mistake_of_the_tutorial_as_printed(folder: Path) -> None:
    (first,) = (block.text for block in blocks(TUTORIAL) if block.action == "file")
    (folder / "mine.yaml").write_text(first.replace("suffix", "sufix"))
    shown = printed("reseller-sim check mine.yaml", folder, "")
    assert f"`{shown.strip()}`" in TUTORIAL
