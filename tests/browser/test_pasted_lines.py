"""Every action of the console shows the curl that does the same and, where there is one, the verb."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.console import Console, console
from tests.support.pasted_lines import run_pasted, said, state

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.slow

TOKEN = "open-sesame-of-the-test"
WEB = Path(__file__).parents[2] / "simulator" / "console" / "web"
SCENARIO = {
    "extends": "default",
    "seed": 7,
    "clock": {"mode": "manual", "start": "2047-01-10T12:00:00+08:00"},
    "webhooks": {"catalog": {"url": "inbox:catalog"}},
}
STOP = "app/moves.js"  # has a test of its own, since there must be an advance to stop
Steps = list[Callable[[Console], None]]


class Action(NamedTuple):
    """`where` is the module that does it, `steps` are the clicks, `count` how many lines they leave; `before` is done
    to the other sandboxes, too. `of` is added to the sandbox's id for the one that is looked at."""

    where: str
    view: str
    steps: Steps
    has_cli: bool
    before: Steps = []
    of: str = ""


def button(name: str, within: str = "main") -> Callable[[Console], None]:
    return lambda page: page.page.locator(within).get_by_role("button", name=name, exact=True).click()


def key(text: str) -> Callable[[Console], None]:
    return lambda page: page.page.keyboard.press(text)


def filled(label: str, submit: str, **fields: str) -> Callable[[Console], None]:
    """Fill the fields of a form by the names of its controls, and send it."""

    def fill(page: Console) -> None:
        form = page.page.get_by_role("form", name=label)
        form.wait_for()
        for name, value in fields.items():
            control: Locator = form.locator(f"[name={name}]")
            value = value.replace("{sandbox}", page.sandbox)
            if control.evaluate("one => one.localName") == "select":
                control.select_option(value)
            else:
                control.fill(value)
        form.get_by_role("button", name=submit).click()

    return fill


def named(name: str, submit: str) -> Callable[[Console], None]:
    """Answer the question for a name."""

    def answer(page: Console) -> None:
        dialog = page.page.get_by_role("dialog")
        dialog.get_by_role("textbox").fill(name.replace("{sandbox}", page.sandbox))
        dialog.get_by_role("button", name=submit).click()

    return answer


def of_sandbox(name: str) -> Callable[[Console], None]:
    return lambda page: page.page.get_by_role("button", name=f"{name} {page.sandbox}", exact=True).click()


def row(text: str) -> Callable[[Console], None]:
    return lambda page: page.row(text).first.locator(".kind").click()


def paid(page: Console) -> None:
    page.pay("order-7")


def settled(page: Console) -> None:
    page.pay("order-7")
    page.mine("POST", "clock/advance", {"until": "idle"})


def webhook(page: Console) -> None:
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})


def failed_delivery(page: Console) -> None:
    webhook(page)
    page.mine("PUT", "inbox/events", {"replies": [{"status": 500}, {"status": 500}, {"status": 500}, {"status": 500}]})
    page.mine("POST", "resellers/RS001/deposits", {"amount": "5"})
    page.mine("POST", "clock/advance", {"seconds": 86_400})


def message(page: Console) -> None:
    page.inbox("mine", b"hello", {})


def written(page: Console) -> None:
    area = page.page.get_by_role("combobox", name="The scenario as YAML")
    page.until("document.querySelector('sim-editor textarea')?.value")
    area.fill("extends: default\nscenario: tried\nseed: 11\n")


def preset(page: Console) -> None:
    page.page.locator(".member").first.wait_for()
    page.page.get_by_role("button", name="declined 48", exact=True).click()


def in_live(text: str) -> Callable[[Console], None]:
    def select(page: Console) -> None:
        page.row(text).first.locator(".time").click()
        page.page.locator("sim-detail").wait_for()

    return select


ACTIONS = {
    "deposit of the wallet": Action(
        "elements/sim-wallet.js",
        "wallet",
        [filled("Put money into a wallet", "deposit", amount="19.90", description='it\'s "mine" $HOME')],
        True,
    ),
    "deposit": Action(
        "elements/hands-on.js",
        "rules",
        [filled("Make a deposit", "Deposit", amount="12.50", description="two words")],
        True,
    ),
    "network": Action("elements/hands-on.js", "rules", [filled("Switch a network", "Switch", product="RELOAD")], True),
    "product": Action("elements/hands-on.js", "rules", [filled("Deactivate a product", "Set", product="RELOAD")], True),
    "settings": Action(
        "elements/hands-on.js",
        "rules",
        [filled("Change settings", "Change", only="yes", addresses="127.0.0.1, 10.0.0.0/8")],
        False,
    ),
    "new key": Action("elements/key-forms.js", "rules", [filled("Make an API key", "New key")], False),
    "revoke a key": Action(
        "elements/key-forms.js",
        "rules",
        [filled("Revoke an API key", "Revoke"), named("test_key_RS001", "Revoke")],
        False,
    ),
    "add a rule": Action("elements/rule-maker.js", "rules", [preset, button("Add it to the sandbox")], True),
    "remove a rule": Action("elements/sim-rules.js", "rules", [button("Remove ordinary")], True),
    "put a rule back": Action(
        "elements/sim-rules.js", "rules", [button("Remove ordinary"), button("put it back")], True
    ),
    "replies": Action(
        "elements/sim-inbox.js",
        "inbox/mine",
        [
            lambda page: page.page.locator(".program summary").click(),
            filled("Program the replies", "set replies", replies="500, 503:1.5, disconnect"),
        ],
        True,
    ),
    "clear an inbox": Action(
        "elements/sim-inbox.js", "inbox/mine", [button("clear…"), named("mine", "clear")], True, [message]
    ),
    "make a sandbox": Action(
        "elements/sim-sandboxes.js",
        "/ui/sandboxes",
        [filled("Make a sandbox", "Make it", id="{sandbox}-made", scenario="lost-answers", clock="manual", seed="7")],
        True,
        of="-made",
    ),
    "make a sandbox of the folder": Action(
        "elements/sim-sandboxes.js",
        "/ui/sandboxes",
        [filled("Make a sandbox", "Make it", id="{sandbox}-made", scenario="file night.yaml")],
        True,
        of="-made",
    ),
    "reset": Action(
        "elements/sim-sandboxes.js", "/ui/sandboxes", [of_sandbox("Reset"), named("{sandbox}", "Reset")], False, [paid]
    ),
    "forget": Action(
        "elements/sim-sandboxes.js", "/ui/sandboxes", [of_sandbox("Forget"), named("{sandbox}", "Forget")], True
    ),
    "load a draft": Action(
        "elements/sim-scenarios.js",
        "/ui/scenarios/default",
        [
            written,
            lambda page: _download(page, "default.yaml"),
            filled("Load it into a new sandbox", "Load into a new sandbox", id="{sandbox}-made", clock="manual"),
        ],
        True,
        of="-made",
    ),
    "load one of the folder": Action(
        "elements/sim-scenarios.js",
        "/ui/scenarios/night.yaml?source=folder",
        [
            lambda page: page.until("document.querySelector('sim-editor textarea')?.value"),
            filled("Load it into a new sandbox", "Load into a new sandbox", id="{sandbox}-made"),
        ],
        True,
        of="-made",
    ),
    "trigger balance.added": Action(
        "app/triggers.js",
        "webhooks",
        [filled("Trigger balance.added", "trigger balance.added", amount="250")],
        True,
        [webhook],
    ),
    "trigger product.updated": Action(
        "app/triggers.js", "webhooks", [filled("Trigger product.updated", "trigger product.updated", code="FP")], True
    ),
    "probes": Action(
        "app/triggers.js", "webhooks/probes", [filled("Send probes", "send probes")], True, [webhook, settled]
    ),
    "replay a delivery": Action(
        "elements/webhook-delivery.js", "webhooks", [row("✕ failed"), button("replay")], False, [failed_delivery]
    ),
    "replay a request": Action("app/actions.js", "live", [in_live("POST /v2/topup"), key("r")], True, [paid]),
    "callback again": Action("app/actions.js", "live", [in_live("callback"), key("r")], True, [settled]),
    "replay a webhook": Action("app/actions.js", "live", [in_live("webhook"), key("r")], False, [failed_delivery]),
    "advance": Action("app/moves.js", "live", [key("A")], True, [paid]),
    "mode": Action(
        "app/moves.js", "live?clock=due", [filled("Mode of the clock", "set", mode="xN", rate="0.01")], True
    ),
    "network of the catalog": Action(
        "elements/catalog-product.js",
        "catalog/RELOAD",
        [lambda page: page.page.locator("#switch-network").click()],
        True,
    ),
    "sale of the catalog": Action(
        "elements/catalog-product.js", "catalog/RELOAD", [lambda page: page.page.locator("#switch-sale").click()], True
    ),
}


def _download(page: Console, name: str) -> None:
    with page.page.expect_download() as got:
        page.page.get_by_role("button", name="download").click()
    assert got.value.suggested_filename == name
    got.value.save_as(page.folder / name)  # type: ignore[attr-defined]


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
    """A sandbox in which what the action needs has happened; its id."""
    page.new_sandbox(SCENARIO)
    page.mine("PUT", "network/RELOAD", {"status": "Healthy"})
    for step in action.before:
        step(page)
    return page.sandbox


@pytest.mark.parametrize("name", ACTIONS)
def test_a_line_does_what_was_clicked(shared: Console, tmp_path: Path, name: str) -> None:
    action, page = ACTIONS[name], shared
    page.folder = tmp_path  # type: ignore[attr-defined]
    by_curl, by_cli, clicked = (made(page, action) for _ in range(3))
    page.page.goto(f"{page.url}/_sim{action.view if action.view[0] == '/' else f'/s/{clicked}/{action.view}'}")
    lines: list[dict[str, str]] = []
    for step in action.steps:
        step(page)
    page.page.get_by_role("button", name="copy as curl").last.wait_for()
    page.page.wait_for_timeout(300)
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
    expected = state(page, clicked + action.of)
    assert state(page, by_curl + action.of) == expected
    if action.has_cli:
        assert state(page, by_cli + action.of) == expected


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
            if path.name != "said.js"
        }
    )
    assert found - Counter([STOP, *(action.where for action in ACTIONS.values())]) == Counter()
