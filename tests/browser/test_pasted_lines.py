"""Every action of the console shows the curl that does the same and, where there is one, the verb."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.console import Console, console
from tests.support.console_actions import ACTIONS, Action
from tests.support.pasted_lines import SAID, run_pasted, said, states

pytestmark = pytest.mark.slow

TOKEN = "open-sesame-of-the-test"
WEB = Path(__file__).parents[2] / "simulator" / "console" / "web"
SCENARIO = {
    "extends": "default",
    "seed": 7,
    "clock": {"mode": "manual", "start": "2047-01-10T12:00:00+08:00"},
    "webhooks": {"catalog": {"url": "inbox:catalog"}},
}
STOP = "app/clock-actions.js"  # has a test of its own, since there must be an advance to stop


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("scenarios")
    (folder / "night.yaml").write_text("extends: default\nscenario: night\nclock: manual\nseed: 3\n")
    with console("--control-token", TOKEN, "--scenarios", str(folder)) as shown:
        shown.page.goto(f"{shown.url}/_sim/ui/sandboxes")
        shown.page.locator("#control-token").fill(TOKEN)
        shown.page.get_by_role("button", name="Continue").click()
        shown.page.get_by_role("link", name="default", exact=True).wait_for()
        shown.mistakes[:] = [one for one in shown.mistakes if "401" not in one]
        yield shown


def made(page: Console, action: Action) -> str:
    """Prepare a sandbox for the action; return its id."""
    page.new_sandbox(SCENARIO)
    page.mine("PUT", "network/RELOAD", {"status": "Healthy"})
    for step in action.before:
        step(page)
    return page.sandbox


@pytest.mark.parametrize("name", ACTIONS)
def test_a_line_performs_the_clicked_action(shared: Console, tmp_path: Path, name: str) -> None:
    action, page = ACTIONS[name], shared
    page.folder = tmp_path  # type: ignore[attr-defined]
    by_curl, by_cli, clicked = (made(page, action) for _ in range(3))
    page.page.goto(f"{page.url}/_sim{action.view if action.view[0] == '/' else f'/s/{clicked}/{action.view}'}")
    for step in action.steps:
        step(page)
    page.page.get_by_role("button", name="copy as curl").last.wait_for()
    page.until(f"{SAID}.then(said => said.some(one => one.curl))")
    page.page.wait_for_timeout(300)  # more than one line may come
    lines = [one for one in said(page) if one["curl"]]
    assert lines
    assert all(bool(one["cli"]) is action.has_cli for one in lines), lines
    assert TOKEN not in str(lines) + page.page.url
    for one in lines:
        for line, twin in ((one["curl"], by_curl), (one["cli"], by_cli)):
            if line:
                done = run_pasted(line.replace(clicked, twin), tmp_path, TOKEN)
                is_found = name == "probes" and line is one["cli"]  # a finding is a negative result
                assert done.returncode == int(is_found), (line, done)
    made_by = [clicked, by_curl, *([by_cli] if action.has_cli else [])]
    expected, *others = states(page, *(one + action.of for one in made_by))
    assert others == [expected] * len(others)


def test_the_line_of_a_stop_stops(shared: Console, tmp_path: Path) -> None:
    shared.new_sandbox()
    slow = {"replies": [{"status": 200, "delay": "300ms"}] * 10}
    shared.mine("PUT", "inbox/callbacks", slow)
    shown = shared.open()
    lines: list[str] = []
    for number in range(2):
        for order in range(10):
            shared.pay(f"order-{number}-{order}")
            shared.mine("POST", "clock/advance", {"seconds": 0.05})
        shown.keyboard.press("A")
        shown.get_by_role("progressbar", name="the advance that runs").wait_for()
        if lines:
            assert run_pasted(lines[0], tmp_path, TOKEN).returncode == 0
        else:
            shown.get_by_role("button", name="stop", exact=True).click()
        shown.get_by_role("button", name="idle", exact=True).wait_for()
        clock = shared.mine("GET", "clock")
        assert (clock["advancing"], clock["pending"] > 0) == (None, True)
        lines += [one["curl"] for one in said(shared) if "the advance is stopped" in one["text"]]


def test_each_action_of_the_console_stands_in_the_table() -> None:
    found = Counter(
        {
            str(path.relative_to(WEB)): len(re.findall(r"\bact\(\{", path.read_text()))
            for path in sorted(WEB.rglob("*.js"))
            if path.name != "action-log.js"
        }
    )
    assert found - Counter([STOP, *(action.where for action in ACTIONS.values())]) == Counter()
