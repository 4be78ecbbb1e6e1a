"""The recipes of docs/recipes.md, each played in an empty folder against a server that began with its file."""

import re
from pathlib import Path

import pytest

from simulator.scenario.library import problems
from tests.support.pages import RECIPES as PAGE
from tests.support.pages import blocks, empty_folder, follow, printed_on_terminal
from tests.support.processes import serving

pytestmark = pytest.mark.slow

SERVE = "reseller-sim serve "
RECIPES = dict(re.findall(r"^### (.+?)\n(.*?)(?=^#{2,3} |\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_the_page_shows(title: str, tmp_path: Path) -> None:
    """Its files are written first, and `check` finds nothing in them. The server begins with the last one, or as a `sh`
    block with `reseller-sim serve` says."""
    steps, folder = blocks(RECIPES[title]), empty_folder(tmp_path)
    files = [step for step in steps if step.action]
    starts = [step.text for step in steps if step.text.startswith(SERVE)]
    played = [step for step in steps if not step.action and not step.text.startswith(SERVE)]
    assert files, "a recipe has a file"
    assert any(step.language == "text" for step in played), "a recipe shows what happens"
    follow(files, folder)
    for step in files:
        assert problems(folder / step.name) == []  # what `check` prints
    flags = starts[0].removeprefix(SERVE).split() if starts else [files[-1].name]
    with serving(*flags, "--port", "0", "--json", folder=str(folder)) as server:
        follow(played, folder, server, printed_on_terminal)
