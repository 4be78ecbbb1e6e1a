"""docs/debug-a-signature.md, played from the refusal to the accepted payment."""

from pathlib import Path

import pytest

from tests.support.pages import blocks, empty_folder, follow
from tests.support.processes import serving
from tools.pages.mistakes import BEGIN, PAGE

pytestmark = pytest.mark.slow


def test_the_page_leads_from_a_refusal_to_the_fix(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    steps = [one for one in blocks(PAGE.read_text("utf-8").partition(BEGIN)[0]) if one.language != "console"]
    assert sum(one.language == "text" for one in steps) > 5
    follow([one for one in steps if one.action], folder)
    with serving("--port", "0", "--json", folder=str(folder)) as server:
        follow([one for one in steps if not one.action], folder, server)
