"""The actions of the console: the clicks of each action, and its preconditions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tests.support.console import Console

if TYPE_CHECKING:
    from playwright.sync_api import Locator

Steps = list[Callable[[Console], None]]


class Action(NamedTuple):
    """An action of the module `where`. `steps` are the clicks, and `count` is the number of lines that they leave.
    `before` also runs in the other sandboxes. `of` is appended to the id of the sandbox that is viewed."""

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


def held_callback(page: Console) -> None:
    steps = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]
    page.mine("POST", "rules", {"section": "payments", "rule": {"then": steps, "callbacks": {"hold": "told"}}})
    page.pay("order-7", product="RELOAD")
    page.mine("POST", "clock/advance", {"seconds": 1})
    page.mine("GET", "holds?wait_for=1&timeout=60")


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
    "deposit": Action(
        "elements/sim-wallet.js",
        "wallet",
        [filled("Put money into a wallet", "deposit", amount="19.90", description='it\'s "mine" $HOME')],
        True,
    ),
    "settings": Action(
        "elements/reseller-settings.js",
        "rules",
        [filled("Change settings", "Change", only="yes", addresses="127.0.0.1, 10.0.0.0/8")],
        False,
    ),
    "new key": Action("elements/reseller-settings.js", "rules", [filled("Create an API key", "New key")], False),
    "revoke a key": Action(
        "elements/reseller-settings.js",
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
        [filled("Create a sandbox", "Create", id="{sandbox}-made", scenario="lost-answers", clock="manual", seed="7")],
        True,
        of="-made",
    ),
    "make a sandbox of the folder": Action(
        "elements/sim-sandboxes.js",
        "/ui/sandboxes",
        [filled("Create a sandbox", "Create", id="{sandbox}-made", scenario="file night.yaml")],
        True,
        of="-made",
    ),
    "reset": Action(
        "elements/sim-sandboxes.js", "/ui/sandboxes", [of_sandbox("Reset"), named("{sandbox}", "Reset")], False, [paid]
    ),
    "forget": Action(
        "elements/sim-sandboxes.js", "/ui/sandboxes", [of_sandbox("Delete"), named("{sandbox}", "Delete")], True
    ),
    "save a draft": Action(
        "elements/sim-scenarios.js",
        "/ui/scenarios/default",
        [written, filled("Save it in the folder of --scenarios", "Save", file="{sandbox}.yaml")],
        False,
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
    "release a hold": Action("elements/sim-holds.js", "live", [button("release")], True, [held_callback]),
    "advance": Action("app/clock-actions.js", "live", [key("A")], True, [paid]),
    "mode": Action(
        "app/clock-actions.js", "live?clock=due", [filled("Mode of the clock", "set", mode="xN", rate="0.01")], True
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
