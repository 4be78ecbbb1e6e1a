"""docs/first-payment.md, played on a terminal from an empty folder."""

import os
from pathlib import Path

from tests.support.pages import ADDRESS, assert_shown, blocks, empty_folder
from tests.support.processes import ROOT, environment, serving
from tests.support.terminal import shown_on_terminal

PAGE = (ROOT / "docs" / "first-payment.md").read_text("utf-8")


def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    steps, folder = blocks(PAGE), empty_folder(tmp_path)
    install, *others = steps
    serve = install.text.splitlines()[-1].split()
    assert serve[:2] == ["reseller-sim", "serve"]
    assert [step.language for step in others] == ["sh", "text"] * 9
    with serving(*serve[2:], "--port", "0", "--json") as server:
        url = server.ready["url"]
        path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
        variables = environment(PATH=path, PYTHONPATH=str(ROOT), RESELLER_SIM_URL=url, NO_COLOR="1")
        shown = ""
        for step in others:
            if step.language == "sh":
                shown = shown_on_terminal(["/bin/sh", "-c", step.text], variables, folder=folder).replace(url, ADDRESS)
            else:
                assert_shown(step.text, shown)
    assert list(folder.iterdir()) == []
