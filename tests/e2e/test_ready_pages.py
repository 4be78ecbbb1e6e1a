"""docs/run-it-in-ci.md and docs/explore.md, played in a pipe, and docs/is-my-integration-ready.md, on a terminal."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.pages import Block, assert_shown, blocks, empty_folder, printed, printed_on_terminal
from tests.support.processes import ROOT, free_port

pytestmark = pytest.mark.slow

CI = (ROOT / "docs" / "run-it-in-ci.md").read_text("utf-8")
EXPLORE = (ROOT / "docs" / "explore.md").read_text("utf-8")
READY = (ROOT / "docs" / "is-my-integration-ready.md").read_text("utf-8")
BAD_DAYS = READY.partition("## 3. ")[2].partition("\n## ")[0]
CLIENT = [step for step in blocks(READY) if step.name == "client.sh"]
SCENARIOS = 11
CONFIGURATIONS = 2  # of GitHub and GitLab, which are read and not run


def play(steps: list[Block], folder: Path, port: str, shows: Callable[[str, Path, str], str]) -> None:
    """Each block of commands is a shell of its own, on a free port instead of the page's; servers end with it."""
    shown, free = "", str(free_port())
    for step in steps:
        text = step.text.replace(port, free)
        if step.action:
            (folder / step.name).write_text(text)
        elif step.language == "sh":
            shown = shows(text, folder, "")
        elif step.language == "text":
            assert_shown(text, shown)


@pytest.mark.parametrize(
    ("steps", "port", "shows"),
    [
        (blocks(CI), "8191", printed),
        (blocks(EXPLORE), "8193", printed),
        (blocks(READY.replace(BAD_DAYS, "")), "8192", printed_on_terminal),
        ([*CLIENT, *blocks(BAD_DAYS)], "8192", printed_on_terminal),
    ],
    ids=["ci", "explore", "ready", "bad days"],
)
def test_the_page_does_what_it_shows(
    steps: list[Block], port: str, shows: Callable[[str, Path, str], str], tmp_path: Path
) -> None:
    assert any(step.language == "text" for step in steps)
    play(steps, empty_folder(tmp_path), port, shows)


def test_the_checklist_plays_each_scenario_that_it_names() -> None:
    (loop,) = (step.text for step in blocks(BAD_DAYS) if step.name == "bad-days.sh")
    played = loop.partition("for scenario in ")[2].partition(";")[0].replace("\\", "").split()
    listed = [
        name for row in re.findall(r"^\| (`.*?`) \|", BAD_DAYS, re.MULTILINE) for name in re.findall("`(.+?)`", row)
    ]
    assert sorted(listed) == sorted(played)
    assert len(played) == len(re.findall(": exit code 0\n", BAD_DAYS)) == SCENARIOS


def test_the_configurations_of_ci_servers_call_the_program_as_the_page_does() -> None:
    commands = re.findall(r"reseller-sim exec suite\.yaml .*", CI)
    configured = [step.text for step in blocks(CI) if step.language == "yaml" and not step.action]
    assert len([text for text in configured if any(command in text for command in commands)]) == CONFIGURATIONS
    ours = "OWNER/reseller-sim", "extends: .reseller-sim:"  # tests/ci plays them
    assert len([text for text in configured if any(one in text for one in ours)]) == len(configured) - CONFIGURATIONS
