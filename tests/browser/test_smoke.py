"""One test for each view of the console: it shows what happened, and the most usual action in it works."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.support.browser import collect_mistakes
from tests.support.console import Console, console

REFID = "order-7"
WEBHOOK = {"id": "evt_1", "type": "balance.added", "data": {"resellerCode": "nobody"}}


@pytest.fixture(scope="module")
def server() -> Iterator[Console]:
    """One server and one browser for all tests of this file. Playwright allows one of its kind in a process."""
    with console() as shown:
        yield shown


@pytest.fixture
def page(server: Console) -> Iterator[Console]:
    """A page of its own, and a new sandbox under a manual clock."""
    with server.page.context.new_page() as tab:
        page = Console(server.server, tab, [])
        collect_mistakes(tab, page.mistakes)
        page.new_sandbox()
        yield page
        assert page.mistakes == []


def test_live_shows_what_happens_and_advances_the_clock(page: Console) -> None:
    page.open("live")
    page.row("created").wait_for()
    page.pay(REFID)
    page.row("POST /v2/topup").get_by_text("rule: ordinary").wait_for()
    page.page.keyboard.press("A")
    page.row("callback Succesful").first.wait_for()
    page.page.locator("sim-action-log", has_text="reseller-sim advance 1h").wait_for()


def test_payments_follow_their_status(page: Console) -> None:
    page.pay(REFID)
    page.open("payments")
    page.row("Accepted").get_by_text(REFID).wait_for()
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.row("Succesful").get_by_text(REFID).wait_for()


def test_a_story_has_its_request_statuses_wallet_and_callback(page: Console) -> None:
    trxid = page.pay(REFID)
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.open(f"payments/{trxid}")
    items = shown.get_by_role("list", name=f"what happened to {REFID}").get_by_role("listitem")
    items.first.wait_for()
    lanes = [re.match("[a-z]+", text) for text in items.all_text_contents()]
    assert {lane.group() for lane in lanes if lane} == {"request", "status", "wallet", "callback"}


def test_the_wallet_draws_its_figures_and_takes_a_deposit(page: Console) -> None:
    page.pay(REFID)
    shown = page.open("wallet")
    shown.get_by_role("img", name="Payments by status").wait_for()
    shown.get_by_label("deposit, MYR").fill("19.90")
    shown.keyboard.press("Enter")
    shown.get_by_role("table", name="Wallets").get_by_text("5,015.00").first.wait_for()


def test_rules_are_added(page: Console) -> None:
    shown = page.open("rules")
    shown.get_by_role("group", name="Ready rules").get_by_role("button", name="declined 48", exact=True).click()
    shown.get_by_role("button", name="Add it to the sandbox").click()
    shown.get_by_role("button", name="Remove declined", exact=True).wait_for()
    page.pay(REFID)
    assert page.mine("GET", f"transactions?refid={REFID}")["transactions"][0]["rule"] == "declined"


def test_an_inbox_shows_what_arrives(page: Console) -> None:
    shown = page.open("inbox/mine")
    shown.get_by_text("Nothing arrived yet").wait_for()
    page.inbox("mine", json.dumps(WEBHOOK).encode(), {})
    page.row("✕ not verified").wait_for()
    shown.get_by_text("1 arrived").wait_for()


def test_webhooks_are_triggered(page: Console) -> None:
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    shown = page.open("webhooks")
    shown.get_by_label("deposit, MYR").fill("250")
    shown.get_by_role("button", name="trigger balance.added").click()
    page.row("balance.added").get_by_text("● success").wait_for()


def test_a_product_of_the_catalog_is_taken_off_sale(page: Console) -> None:
    page.open("catalog/FP").get_by_role("button", name="take off sale").click()
    page.row("FP").get_by_text("off sale").wait_for()


def test_coverage_counts_endpoints(page: Console) -> None:
    shown = page.open("coverage")
    shown.get_by_text("0 of 27 met").wait_for()
    page.call("GET", "/v2/balance")
    shown.get_by_text("1 of 27 met").wait_for()


def test_the_audit_shows_a_violation(page: Console) -> None:
    page.call("GET", "/v2/balance?api_secret=abc")
    found = page.open("audit").locator("details[data-key=violated-no-credentials-in-query]")
    found.get_by_role("link", name="#1").wait_for()


def test_a_request_is_explained(page: Console) -> None:
    shown = page.open("sign")
    shown.get_by_label("A curl command").fill("GET /v2/balance\nX-Api-Key: wrong")
    shown.get_by_role("button", name="Explain").click()
    shown.get_by_role("heading", level=2).first.wait_for()


def test_sandboxes_are_listed_and_created(page: Console) -> None:
    shown = page.page
    shown.goto(f"{page.url}/_sim/ui/sandboxes")
    shown.get_by_role("link", name=page.sandbox, exact=True).wait_for()
    form = shown.get_by_role("form", name="Create a sandbox")
    form.get_by_label("Id").fill(f"{page.sandbox}-b")
    form.get_by_role("button").click()
    shown.wait_for_url(f"**/_sim/s/{page.sandbox}-b/live")


def test_a_scenario_is_opened_in_the_editor_with_its_problems(page: Console) -> None:
    shown = page.page
    shown.goto(f"{page.url}/_sim/ui/scenarios/default")
    page.until("document.querySelector('sim-editor textarea')?.value")
    shown.get_by_role("combobox", name="The scenario as YAML").fill("extends: default\npaymets: []\n")
    shown.locator(".problems li", has_text="paymets").wait_for()


def test_the_page_of_the_contracts_draws_the_endpoints(page: Console) -> None:
    page.page.goto(f"{page.url}/_sim/docs")
    page.page.locator(".opblock").first.wait_for()
