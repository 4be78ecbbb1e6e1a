"""docs/import.md, played: a simulator is the account, and its file is checked, extended and served."""

from pathlib import Path

import pytest

from simulator.staging.importer.account_import import KEY
from tests.support.pages import blocks, empty_folder, follow
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "import.md").read_text("utf-8")


def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    """Each block of commands is a shell of its own here, so that each begins with what earlier ones exported."""
    steps, folder = blocks(PAGE.partition("\n## Try it\n")[2].partition("\n## ")[0]), empty_folder(tmp_path)
    assert [step.language for step in steps] == ["sh", "text", "sh", "text", "yaml", "sh", "text"]
    played, exported = [], ""
    for step in steps:
        played.append(step._replace(text=exported + step.text) if step.language == "sh" else step)
        exported += "".join(f"{line}\n" for line in step.text.splitlines() if line.startswith("export "))
    with serving("--port", "0", "--json") as server:
        follow([step for step in played if step.action], folder)
        follow([step for step in played if not step.action], folder, server)
    assert (folder / "mine.yaml").is_file()


def test_the_page_names_the_key_of_the_file() -> None:
    assert f"`{KEY}`" in PAGE
