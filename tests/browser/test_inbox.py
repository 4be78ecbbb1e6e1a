"""The inbox of the console: what arrived, whether it is genuine, and the program of its replies."""

import json
from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


def test_arrived_messages_are_listed_and_open_whole_with_a_link_to_their_payment(shared: Console) -> None:
    shared.new_sandbox()
    trxid = shared.pay("order-7")
    shared.mine("POST", "clock/advance", {"seconds": 300})
    shown = shared.open("inbox")
    row = shared.row("order-7")
    row.first.wait_for()
    assert "not signed" in row.first.inner_text()
    assert "callbacks are not signed" not in row.first.inner_text()  # the open message says it
    row.first.locator(".kind").click()
    shown.wait_for_url("**/inbox?at=*")
    whole = shown.locator("inbox-message")
    whole.get_by_text("callbacks are not signed").wait_for()
    assert '"refid": "order-7"' in whole.locator("pre").inner_text()
    assert "content-type" in whole.inner_text().lower()
    shown.reload()
    whole.get_by_role("link", name="order-7").click()
    shown.wait_for_url(f"**/payments/{trxid}*")


def test_a_post_from_outside_appears_by_itself_and_an_unsigned_webhook_is_not_verified(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("inbox/mine")
    shown.get_by_text("Nothing arrived yet").wait_for()
    body = {"id": "evt_1", "type": "balance.added", "data": {"resellerCode": "nobody"}}
    shared.inbox("mine", json.dumps(body).encode(), {"Content-Type": "application/json"})
    row = shared.row("webhook")
    row.wait_for()
    assert "✕ not verified" in row.inner_text()
    shown.get_by_role("navigation", name="Inboxes").get_by_role("link", name="mine 1").wait_for()
    shared.inbox("mine", b"hello", {})
    shared.row("other").wait_for()
    shown.get_by_text("2 arrived").wait_for()


def test_a_genuine_webhook_is_verified_and_leads_to_its_delivery(shared: Console) -> None:
    shared.new_sandbox()
    shared.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    shared.mine("POST", f"resellers/{shared.reseller['code']}/deposits", {"amount": "5"})
    shared.mine("POST", "clock/advance", {"seconds": 5})
    shown = shared.open("inbox/events?at=1")
    whole = shown.locator("inbox-message")
    whole.get_by_text("● verified").wait_for()
    job = whole.locator("a[href*=webhooks]").inner_text()
    whole.get_by_role("link", name=job).click()
    shown.wait_for_url("**/webhooks?at=*")
    shown.locator("webhook-delivery h2", has_text=job).wait_for()


def test_replies_are_set_by_the_form_and_shown(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("inbox/mine")
    shown.get_by_text("next: 200").wait_for()
    shown.locator(".program summary").click()
    program = shown.get_by_role("form", name="Program the replies")
    program.get_by_label("replies, in order").fill("500, 503:1.5, disconnect")
    program.get_by_role("button", name="set replies").click()
    shown.get_by_text("next: 500, then 503 after 1.5 s, then disconnect, then the last repeats").wait_for()
    shown.locator("sim-action-log", has_text="inbox mine --reply 500,503:1.5,disconnect").wait_for()
    program.get_by_label("replies, in order").fill("201, 202")
    program.get_by_label("then").select_option("all")
    program.get_by_role("button", name="set replies").click()
    shown.get_by_text("next: 201, then 202, then all repeat").wait_for()
    window = {"status": 503, "time": {"from": "12:00", "to": "13:00"}}
    shared.mine("PUT", "inbox/mine", {"replies": [{"status": 202}], "during": [window]})
    shown.reload()
    shown.get_by_text("12:00:00–13:00:00: 503; next: 202, then the last repeats").wait_for()


def test_a_callback_and_its_retry_get_the_replies_that_the_form_programs(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("inbox/callbacks")
    shown.locator(".program summary").click()
    program = shown.get_by_role("form", name="Program the replies")
    program.get_by_label("replies, in order").fill("503:0.2, disconnect, 200")
    program.get_by_label("with the body").fill("busy, <b>later</b>")
    program.get_by_role("button", name="set replies").click()
    shown.get_by_text("next: 503 after 0.2 s with a body, then disconnect, then 200 with a body").wait_for()
    shared.pay("order-7")
    shared.mine("POST", "clock/advance", {"seconds": 86400})
    shown.locator("sim-list .rows .row .answered", has_text="closed").wait_for()
    answered = shown.locator("sim-list .rows .row .answered").all_inner_texts()
    assert answered[::-1][:3] == ["503", "closed", "200"]


def test_a_bad_reply_is_refused_where_it_was_written(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("inbox/mine")
    shown.locator(".program summary").click()
    program = shown.get_by_role("form", name="Program the replies")
    program.get_by_label("replies, in order").fill("often")
    program.get_by_role("button", name="set replies").click()
    program.get_by_role("alert").get_by_text("“often” is not a reply").wait_for()
    program.get_by_label("replies, in order").fill("700")
    program.get_by_role("button", name="set replies").click()
    program.get_by_role("alert").get_by_text("599").wait_for()
    shared.forgive(400)


def test_clearing_asks_for_the_name(shared: Console) -> None:
    shared.new_sandbox()
    shared.inbox("mine", b"one", {})
    shared.inbox("mine", b"two", {})
    shown = shared.open("inbox/mine")
    shown.get_by_text("2 arrived").wait_for()
    shown.get_by_role("button", name="clear…").click()
    dialog = shown.get_by_role("dialog")
    assert dialog.get_by_role("button", name="clear", exact=True).is_disabled()
    dialog.get_by_label("Type mine to continue").fill("mine")
    dialog.get_by_role("button", name="clear", exact=True).click()
    shown.get_by_text("Nothing arrived yet").wait_for()
    shared.inbox("mine", b"three", {})
    shown.get_by_text("1 arrived").wait_for()


def test_an_inbox_that_another_client_clears_is_noticed(shared: Console) -> None:
    shared.new_sandbox()
    shared.inbox("mine", b"one", {})
    shown = shared.open("inbox/mine")
    shown.get_by_text("1 arrived").wait_for()
    shown.wait_for_timeout(500)
    shared.mine("DELETE", "inbox/mine")
    shown.get_by_text("Nothing arrived yet").wait_for(timeout=15_000)
    shown.get_by_text("0 arrived").wait_for()


def test_hostile_messages_are_text(shared: Console) -> None:
    shared.new_sandbox()
    hostile = "<img src=x onerror=alert(1)>\u202e\u0000"
    body = {"data": {"refid": hostile, "statusCode": "1", "product": hostile}}
    sent = json.dumps(body, ensure_ascii=False).encode()
    shared.inbox("mine", sent, {"X-Hostile": "<script>alert(1)</script>", "Content-Type": "application/json"})
    shown = shared.open("inbox/mine?at=1")
    whole = shown.locator("inbox-message")
    whole.get_by_text("<script>alert(1)</script>").wait_for()
    assert "⟨202E⟩" in whole.inner_text()
    assert shown.locator("sim-inbox img, sim-inbox script").count() == 0


def test_on_a_phone_nothing_is_wider_than_the_screen(shared: Console) -> None:
    shared.new_sandbox()
    shared.inbox("mine", b"x" * 3000, {"X-Long": "y" * 500})
    shared.page.set_viewport_size({"width": 390, "height": 844})
    shown = shared.open("inbox/mine?at=1")
    shown.locator("inbox-message h2").wait_for()
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    shared.page.set_viewport_size({"width": 1280, "height": 800})
