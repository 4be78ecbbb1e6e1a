"""A payment's story as a picture: lanes on a line of time, each thing opens, two stories have the same scale."""

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

import pytest

from tests.support.console import Console, console

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
WIDE, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox("flaky-receiver")
    shared.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    return shared


def thing(shown: "Page", name: str) -> "Locator":
    """The button of a thing, by its name in the address."""
    return shown.locator(f"button.thing[data-id='{name}']")


def refused(page: Console, status: int) -> None:
    """Chromium logs a refused request as a mistake; here it is wanted."""
    assert page.mistakes
    assert all(f"status of {status}" in one for one in page.mistakes)
    page.mistakes.clear()


def await_same_place(page: Console, one: str, other: str) -> None:
    """Wait until the elements of these selectors are aligned; the page redraws them until everything is loaded."""
    left = "(document.querySelector(`{}`)?.getBoundingClientRect().x)"
    page.until(f"Math.abs({left.format(one)} - {left.format(other)}) < 1")


def test_each_lane_has_its_things_in_the_order_of_time(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 200})
    shown = page.open(f"payments/{trxid}")
    things = shown.get_by_role("list", name="what happened to order-7").get_by_role("listitem")
    things.first.wait_for()
    assert [one.replace("\n", " ") for one in things.all_text_contents()] == [
        "request●topup 200+0 ms",
        "status○Processing+0 ms",
        "wallet▪−4.90+0 ms",
        "status●Succesful+5 s",
        "callback✕500+5 s",
        "callback✕429+1 min 5 s",
        "callback✕time-out+2 min 5 s",
        "callback●200+3 min 5 s",
    ]
    await_same_place(page, "button.thing[data-id=status-Succesful]", "button.thing[data-id=callback-cb-1-1]")
    marks = shown.locator("button.thing[data-id^=callback-cb-1-]").evaluate_all(
        "all => all.map(one => [one.dataset.id, one.getBoundingClientRect().x])"
    )
    assert [name for name, _ in sorted(marks, key=itemgetter(1))] == [f"callback-cb-1-{n}" for n in (1, 2, 3, 4)]
    assert len({x for _, x in marks}) == 4
    assert shown.locator(".plane .bar").count() == 1
    assert shown.locator(".plane .break").count() >= 1
    assert shown.locator(".plane .tick-name").all_text_contents()[:2] == ["0 ms", "+5 s"]


def test_a_due_item_is_hollow_and_is_filled_when_it_happens(page: Console) -> None:
    trxid = page.pay("order-7")
    shown = page.open(f"payments/{trxid}")
    due = shown.locator("button.thing.due")
    due.wait_for()
    assert due.text_content() == "status◌Succesful (due)+5 s"
    page.mine("POST", "clock/advance", {"seconds": 5})
    thing(shown, "callback-cb-1-1").wait_for()
    shown.locator("button.thing.due", has_text="callback (due)").wait_for()
    due.click()
    shown.get_by_text("callback 2 of 4 for order-7").first.wait_for()


def test_a_thing_opens_by_a_click_and_its_address_can_be_pasted(page: Console) -> None:
    trxid = page.pay("order-7")
    shown = page.open(f"payments/{trxid}")
    thing(shown, "request-1").click()
    shown.wait_for_url("**?at=request-1")
    shown.get_by_role("heading", name="Answer").wait_for()
    request = shown.get_by_label("body of request")
    assert '"account": "0123456789"' in request.inner_text()
    assert thing(shown, "request-1").get_attribute("aria-expanded") == "true"
    shown.reload()
    shown.get_by_role("heading", name="POST /v2/topup ● 200").wait_for()
    thing(shown, "request-1").click()
    shown.wait_for_url(f"**/payments/{trxid}")
    shown.locator("sim-story sim-detail").wait_for(state="hidden")


def test_keys_move_along_the_line_open_and_close(page: Console) -> None:
    trxid = page.pay("order-7")
    shown = page.open(f"payments/{trxid}")
    thing(shown, "request-1").wait_for()
    for key in ("j", "ArrowRight", "ArrowDown", "k"):
        shown.keyboard.press(key)
    assert shown.evaluate("document.activeElement.dataset.id") == "status-Processing"
    shown.wait_for_url("**?at=status-Processing")
    shown.get_by_role("heading", name="status ○ Processing").wait_for()
    assert shown.evaluate("document.activeElement.dataset.id") == "status-Processing"
    shown.keyboard.press("w")
    shown.get_by_text("the status in the answer to the request").wait_for()
    shown.keyboard.press("Escape")
    shown.wait_for_url(f"**/payments/{trxid}")
    shown.keyboard.press("Escape")
    shown.wait_for_url("**/payments?at=*")


def test_a_callback_shows_its_request_its_answer_and_the_reason_of_each_attempt(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 200})
    shown = page.open(f"payments/{trxid}?at=callback-cb-1-3")
    shown.get_by_label("body of sent message").get_by_text('"refid": "order-7"').wait_for()
    assert "no answer within 0.2 s" in shown.get_by_label("Answer of the receiver").inner_text()
    shown.get_by_role("button", name="why?").click()
    shown.get_by_text("A retry, 1 min after attempt 2, which was answered 429.").wait_for()
    shown.get_by_role("link", name="one callback each").first.wait_for()
    thing(shown, "callback-cb-1-1").click()
    shown.get_by_role("button", name="why?").click()
    shown.get_by_text("It is sent because the payment became Succesful.").wait_for()


def test_a_payment_that_an_account_decided_says_how_it_ends(page: Console) -> None:
    trxid = page.pay("order-7", account="0120000001")
    page.mine("POST", "clock/advance", {"seconds": 200})
    shown = page.open(f"payments/{trxid}")
    thing(shown, "status-Failed").click()
    shown.get_by_role("button", name="why?").click()
    shown.get_by_text("decided by the account, magic-01: one that ends in 01").wait_for()


def test_a_callback_is_sent_once_more_and_appears(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 200})
    shown = page.open(f"payments/{trxid}")
    shown.get_by_role("button", name="send callback").click()
    thing(shown, "callback-cb-2-1").wait_for()
    shown.get_by_text("the callback Succesful of order-7 is sent once more").wait_for()
    shown.get_by_role("button", name="reseller-sim trigger callback order-7 --reseller RS001").wait_for()


def test_a_callback_that_cannot_be_sent_is_refused_in_the_words_of_the_control_api(page: Console) -> None:
    page.reseller = page.mine("POST", "resellers", {"code": "RS009", "balance": 100})
    trxid = page.pay("order-7")
    shown = page.open(f"payments/{trxid}")
    shown.get_by_role("button", name="send callback").click()
    refusal = shown.locator("sim-story > .mistake", has_text="callback")
    refusal.wait_for()
    refused(page, 409)
    # The story is read again when something happens, and what was refused still stands there.
    page.mine("POST", "clock/advance", {"seconds": 7})
    shown.locator("[data-id='status-Succesful']:not(.due)").wait_for()
    assert refusal.is_visible()


def test_two_stories_have_the_same_scale_and_each_opens(page: Console) -> None:
    first = page.pay("order-1")
    page.mine("POST", "clock/advance", {"seconds": 3600})
    second = page.pay("order-2")
    shown = page.open(f"payments/{first}?with={second}")
    due = shown.locator("section.story").nth(1).locator(".thing.due")
    due.wait_for()
    await_same_place(page, "button.thing[data-id=status-Succesful]", "section.story ~ section.story .thing.due")
    thing(shown, "with-request-2").click()
    shown.wait_for_url("**at=with-request-2*")
    shown.get_by_label("body of request").get_by_text("order-2").wait_for()
    shown.get_by_role("button", name="only the first").click()
    shown.wait_for_url(f"**/payments/{first}")
    shown.locator("section.story").nth(1).wait_for(state="detached")


def test_on_a_phone_the_story_stands_upright(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 200})
    page.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    shown = page.open(f"payments/{trxid}?at=request-1")
    shown.get_by_role("heading", name="Answer").wait_for()
    boxes = shown.locator("button.thing").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    tops = [box["y"] for box in boxes if box]
    assert tops == sorted(set(tops))
    assert len(tops) == 8
    assert shown.locator(".when", has_text="+1 min 5 s").is_visible()
    assert not shown.locator(".plane svg").is_visible()
    assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert shown.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('sim-payments'))")


def test_an_unknown_payment_is_reported_in_the_words_of_the_control_api(page: Console) -> None:
    shown = page.open("payments/1234567890123456789012")
    shown.get_by_role("alert").get_by_text("this sandbox has no such transaction").wait_for()
    refused(page, 404)
    shown.get_by_role("heading", name="Payment 1234567890123456789012").wait_for()
    shown.get_by_role("link", name="all payments").click()
    shown.wait_for_url("**/payments")


@pytest.mark.parametrize("is_first", [True, False])
def test_the_known_of_two_payments_is_shown_and_the_other_reported_as_unknown(page: Console, is_first: bool) -> None:
    known, unknown = page.pay("order-7"), "nope"
    shown = page.open(f"payments/{known}?with={unknown}" if is_first else f"payments/{unknown}?with={known}")
    shown.get_by_role("region", name="story of order-7").wait_for()
    mistake = shown.locator("sim-story > .mistake")
    mistake.filter(has_text="nope: this sandbox has no such transaction").wait_for()
    if is_first:
        shown.get_by_role("button", name="only the first").click()
        mistake.filter(has_text=unknown).wait_for(state="detached")
        assert shown.url.endswith(f"payments/{known}")
    # An event that arrives lets the page ask again, so that the refusals may be two until it is left.
    page.open("live")
    page.forget_refusals()


def test_hostile_text_of_client_and_receiver_is_only_text(page: Console) -> None:
    reply = {"replies": [{"status": 500, "body": f"{HOSTILE}<script>alert(1)</script>"}]}
    page.mine("PUT", "inbox/callbacks", reply)
    body = {"refid": HOSTILE, "product": "FP", "account": "0123456789", "amount": "5", "remarks": HOSTILE + "\x07"}
    page.call("POST", "/v2/topup", body)
    trxid = page.mine("GET", "transactions")["transactions"][0]["trxid"]
    page.mine("POST", "clock/advance", {"seconds": 5})
    shown = page.open(f"payments/{trxid}?at=callback-cb-1-1")
    shown.get_by_label("body of the receiver's answer").get_by_text("⟨202E⟩<script>").wait_for()
    for name in ("request-1", "status-Succesful", "wallet-1"):
        thing(shown, name).click()
        shown.locator("sim-detail .messages, sim-detail .pairs").first.wait_for()
    shown.locator("sim-detail dd", has_text="<img src=x onerror=alert(1)>⟨202E⟩").first.wait_for()
    assert shown.locator("sim-story img, sim-story script").count() == 0


def test_an_attempt_whose_event_is_gone_is_not_called_the_end(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 70})
    shown = page.page
    shown.route("**/events?*", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=""))
    try:
        page.open(f"payments/{trxid}?at=callback-cb-1-2")
        shown.get_by_role("button", name="why?").click()
        shown.get_by_text("so a retry is not shown here").wait_for()
        assert "tone-wait" in (thing(shown, "callback-cb-1-2").get_attribute("class") or "")
        thing(shown, "callback-cb-1-1").click()
        shown.get_by_role("button", name="why?").click()
        shown.get_by_text("The receiver did not accept it; a retry follows.").wait_for()
    finally:
        shown.unroute("**/events?*")


def test_a_retried_attempt_has_the_same_mark_and_colour_in_the_list_and_in_the_story(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"seconds": 30})
    shown = page.open("live?q=kind%3Acallback")
    row = page.row("order-7")
    row.get_by_text("✕ 500").wait_for()
    assert "tone-wait" in (row.get_attribute("class") or "")
    page.open(f"payments/{trxid}")
    button = thing(shown, "callback-cb-1-1")
    button.get_by_text("✕").wait_for()
    assert "tone-wait" in (button.get_attribute("class") or "")
