"""docs/assistant.md, played from an empty folder: the calls by the official client, the commands in a shell."""

import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client

from tests.support.assistants import call, hosted, played
from tests.support.pages import Block, assert_shown, blocks, empty_folder, printed
from tests.support.processes import ROOT

PAGE = (ROOT / "docs" / "assistant.md").read_text("utf-8")
SETTING = re.compile(r"RESELLER_[A-Z_]+=\S+")
SESSION = PAGE.partition("\n## A session\n")[2].partition("\n## ")[0]


@pytest.mark.slow
def test_the_session_does_what_it_shows(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    variables = ""

    async def do(step: Block, client: Client, shown: str) -> str:
        nonlocal variables
        if step.action:
            (folder / step.name).write_text(step.text)
        elif step.language == "sh":
            return printed(variables + step.text, folder, "")
        elif step.language == "json":
            asked = json.loads(step.text)
            result = await call(client, asked["tool"], **asked["arguments"])
            assert not result.is_error, result.text
            variables += "".join(f"export {one}\n" for one in result.text.splitlines() if SETTING.fullmatch(one))
            return result.text
        else:
            assert_shown(step.text, shown)
        return shown

    async def play() -> None:
        async with hosted(folder=folder) as client:
            shown = ""
            for step in blocks(SESSION):
                shown = await do(step, client, shown)

    played(play())
    assert variables.count("\n") == 5
    assert [path.name for path in folder.iterdir()] == ["shop.py"]


def test_the_configuration_is_printed_as_the_page_shows(tmp_path: Path) -> None:
    install, shown = blocks(PAGE)[:2]
    command = install.text.splitlines()[-1]
    assert command == "reseller-sim mcp --config"
    installed = Path(sys.executable).with_name("reseller-sim")
    assert_shown(shown.text, printed(f"{installed} mcp --config", empty_folder(tmp_path), ""))
