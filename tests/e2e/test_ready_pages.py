"""docs/run-it-in-ci.md and docs/is-my-integration-ready.md, played from an empty folder."""

import re
from pathlib import Path

import pytest

from simulator.scenario import library
from tests.support.pages import Block, assert_shown, blocks, empty_folder, printed_on_terminal
from tests.support.processes import ROOT, free_port

pytestmark = pytest.mark.slow

CI = (ROOT / "docs" / "run-it-in-ci.md").read_text("utf-8")
READY = (ROOT / "docs" / "is-my-integration-ready.md").read_text("utf-8")
CONFIGURATIONS = 2  # of GitHub and GitLab, which are read and not run


def play(steps: list[Block], folder: Path, port: str) -> None:
    """Each block of commands is a shell of its own, on a free port in place of the page's; servers end with it."""
    shown, free = "", str(free_port())
    for step in steps:
        text = step.text.replace(port, free)
        if step.action:
            (folder / step.name).write_text(text)
        elif step.language == "sh":
            shown = printed_on_terminal(text, folder, "")
        elif step.language == "text":
            assert_shown(text, shown)


@pytest.mark.parametrize(("page", "port"), [(CI, "8191"), (READY, "8192")], ids=["ci", "ready"])
def test_the_page_does_what_it_shows(page: str, port: str, tmp_path: Path) -> None:
    steps = blocks(page)
    assert sum(step.language == "text" for step in steps) >= 4
    play(steps, empty_folder(tmp_path), port)


def test_the_configurations_of_ci_servers_call_the_program_as_the_page_does() -> None:
    commands = re.findall(r"reseller-sim exec suite\.yaml .*", CI)
    configured = [step.text for step in blocks(CI) if step.language == "yaml" and not step.action]
    assert len(configured) == CONFIGURATIONS
    assert all(any(command in text for command in commands) for text in configured)


def test_the_checklist_names_scenarios_that_exist() -> None:
    listed = READY.partition("- [ ] [Bundled scenarios]")[2].partition("- [ ]")[0]
    assert set(re.findall(r"`([a-z-]+)`", listed)) <= set(library.names())
