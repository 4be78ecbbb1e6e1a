"""The detail of a selected row of the live list: messages, reasons, actions."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.console import Console, console

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202e\x07"


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox("flaky-receiver")
    return shared


def select(page: Console, text: str, query: str = "") -> "Locator":
    """Open the live list, and click the newest row with this text; the pane beside it."""
    shown = page.open(f"live{query}")
    page.row(text).first.dispatch_event("click")
    pane = shown.locator("sim-detail")
    pane.wait_for()
    return pane


def clipboard(page: Console) -> str:
    return str(page.page.evaluate("navigator.clipboard.readText()"))


def test_a_request_is_shown_with_its_messages_and_its_rule(page: Console) -> None:
    page.pay("order-7")
    pane = select(page, "POST /v2/topup")
    pane.get_by_label("body of request").get_by_text('"refid": "order-7"').wait_for()
    pane.get_by_label("body of answer").get_by_text('"status": "Processing"').wait_for()
    assert pane.locator("dt", has_text="x-signature").count() == 1
    pane.get_by_role("link", name="one callback each").wait_for()
    page.page.keyboard.press("w")
    why = pane.get_by_role("region", name="Why")
    why.get_by_text("its condition matched 1 and it decided 1").wait_for()
    assert "name: one callback each" in why.inner_text()


def test_a_refused_signature_is_taken_apart(page: Console) -> None:
    page.reseller["api_secret"] = "bm90LXRoZS1zZWNyZXQtb2YtdGhpcy1rZXktYXQtYWxs"
    page.call("GET", "/v2/balance")
    pane = select(page, "/v2/balance")
    autopsy = pane.get_by_role("region", name="autopsy of the signature")
    autopsy.wait_for()
    assert autopsy.get_by_label("expected string").inner_text().startswith("v1:")
    assert autopsy.get_by_role("row", name="body_hash").count() == 1
    assert "refused as invalid_signature" in pane.get_by_role("region", name="Why").inner_text()


def test_the_menu_lists_the_actions_and_each_key_performs_its_action(page: Console) -> None:
    trxid = page.pay("order-7")
    pane = select(page, "POST /v2/topup")
    keyboard = page.page.keyboard
    keyboard.press(".")
    menu = page.page.get_by_role("dialog", name="Actions")
    names = ["copy as curlc", "replayr", "why?w", "its payment's storyEnter", "copy the refid"]
    assert menu.get_by_role("button").all_text_contents() == names
    keyboard.press("ArrowDown")
    keyboard.press("Escape")
    menu.wait_for(state="detached")
    keyboard.press("c")
    page.page.get_by_text("copied request 1 as curl").wait_for()
    assert "\ncurl " in clipboard(page)
    assert f"/s/{page.sandbox}/v2/topup" in clipboard(page)
    assert pane.is_visible()
    keyboard.press(".")
    menu.get_by_role("button", name="its payment's story").click()
    page.page.wait_for_url(f"**/payments/{trxid}?at=request-1")


def test_a_request_is_sent_again_and_its_outcome_is_shown(page: Console) -> None:
    page.pay("order-7")
    pane = select(page, "POST /v2/topup")
    pane.get_by_role("button", name="replay").click()
    page.page.get_by_text("request 1 was sent once more: it is request 2, answered 200").wait_for()
    page.page.get_by_role("button", name="reseller-sim requests 1 --replay").wait_for()
    pane = select(page, "POST /v2/topup", "?q=n%3A2")
    pane.locator("dt", has_text="replay of").wait_for()
    pane.get_by_role("link", name="1", exact=True).click()
    page.page.wait_for_url("**/live?q=n%3A1")
    page.page.get_by_text("1 of ").first.wait_for()


def test_a_replay_that_is_refused_says_why_where_it_was_asked(page: Console) -> None:
    page.reseller["api_key"] = "no-such-key"
    page.call("GET", "/v2/balance")
    pane = select(page, "/v2/balance")
    pane.get_by_role("button", name="replay").click()
    said = pane.get_by_role("alert")
    said.get_by_text("key").wait_for()
    assert all("status of 409" in one for one in page.mistakes)
    page.mistakes.clear()


def test_the_reason_of_a_refused_replay_stays_when_the_messages_of_the_request_arrive_later(page: Console) -> None:
    page.reseller["api_key"] = "no-such-key"
    page.call("GET", "/v2/balance")
    held: list[Route] = []
    page.page.route(re.compile(r"/requests/\d+$"), lambda route: held.append(route))
    with page.page.expect_request(re.compile(r"/requests/\d+$")):
        pane = select(page, "/v2/balance")
    pane.get_by_role("button", name="replay").click()
    reason = pane.get_by_role("alert").get_by_text("key")
    reason.wait_for()
    held[0].continue_()
    pane.get_by_role("region", name="Answer").wait_for()
    assert reason.is_visible()
    page.page.unroute_all()
    page.mistakes.clear()


def test_an_attempt_of_a_callback_shows_both_sides_and_is_copied_with_its_inbox_as_address(page: Console) -> None:
    page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 5})
    pane = select(page, "callback Succesful")
    pane.get_by_label("body of sent message").get_by_text('"refid": "order-7"').wait_for()
    assert "500" in pane.get_by_label("Answer of the receiver").inner_text()
    page.page.keyboard.press("c")
    page.page.get_by_text("copied the message as curl").wait_for()
    assert f"{page.url}/_sim/inbox/{page.sandbox}/callbacks" in clipboard(page)
    page.page.keyboard.press("w")
    pane.get_by_text("The receiver did not accept it; a retry follows.").wait_for()


def test_wallet_status_webhook_and_action_show_every_known_fact(page: Console) -> None:
    page.pay("order-7")
    page.mine("POST", "resellers/RS001/deposits", {"amount": 250})
    page.mine("POST", "clock/advance", {"seconds": 1})
    pane = select(page, "wallet", "?q=order-7")
    pane.get_by_text("−MYR 4.90").wait_for()
    pane = select(page, "status")
    pane.locator("dt", has_text="code").wait_for()
    pane = select(page, "webhook")
    pane.get_by_label("body of sent message").get_by_text("250").wait_for()
    page.page.keyboard.press("w")
    pane.get_by_text("happened.").wait_for()
    pane = select(page, "deposit")
    pane.locator("dl").first.wait_for()


def test_the_selected_row_is_in_the_address(page: Console) -> None:
    page.pay("order-7")
    pane = select(page, "POST /v2/topup")
    pane.get_by_label("body of answer").wait_for()
    page.page.reload()
    pane.get_by_role("heading", name="POST /v2/topup").wait_for()


def test_hostile_text_and_large_bodies_are_bounded_text(page: Console) -> None:
    body = {"refid": "order-7", "product": "FP", "account": "0123456789", "amount": "5", "remarks": HOSTILE}
    page.call("POST", "/v2/topup", body)
    pane = select(page, "POST /v2/topup")
    pane.get_by_label("body of request").get_by_text("\\u202e").wait_for()
    page.call("POST", "/v2/topup", {"refid": json.dumps([HOSTILE] * 20_000)})
    page.row("POST /v2/topup").nth(1).wait_for()  # the rows of both requests, the newest first
    pane = select(page, "POST /v2/topup")
    pane.get_by_role("button", name="show more of").first.wait_for()
    assert len(pane.get_by_label("body of request").inner_text()) <= 20_000
    page.call("GET", "/v2/%3Cimg%20src=x%20onerror=alert(1)%3E%E2%80%AE")
    pane = select(page, "GET /v2/")
    pane.get_by_label("body of answer").wait_for()
    assert page.page.locator("sim-live img").count() == 0
