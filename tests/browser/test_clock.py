"""The clock: where the sandbox stands, what is due next, and buttons, keys and fields that move it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202edrawkcab"


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def now(page: Console) -> str:
    """The second at which the sandbox stands, in UTC."""
    return str(page.mine("GET", "clock")["now"])[:19]


def wait_for_time(page: Console) -> None:
    """Until the bar shows where the sandbox stands; under a manual clock that is one text."""
    hours, rest = now(page)[11:].split(":", 1)
    page.page.locator("sim-clock > time", has_text=f"{(int(hours) + 8) % 24:02d}:{rest} +08:00").wait_for()


def test_the_bar_shows_the_time_of_the_sandbox_and_the_next_due_item(page: Console) -> None:
    shown = page.open()
    shown.get_by_text("nothing is due", exact=True).wait_for()
    wait_for_time(page)
    trxid = page.pay("order-7")
    shown.get_by_text("in 2 s").wait_for()
    shown.locator("sim-clock").get_by_role("link", name="order-7 becomes Processing").click()
    shown.wait_for_url(f"**/payments/{trxid}*")


@pytest.mark.parametrize(
    ("key", "command"), [("n", "advance to "), ("a", "advance 1m "), ("A", "advance 1h "), ("N", "advance idle ")]
)
def test_keys_advance_and_the_page_says_their_command(page: Console, key: str, command: str) -> None:
    page.pay("order-7")
    due = page.mine("GET", "clock")["next_due"]
    shown = page.open()
    shown.get_by_text("order-7 becomes Processing").wait_for()
    shown.keyboard.press(key)
    shown.get_by_role("button", name=re.compile(f"^reseller-sim {command}")).wait_for()
    assert (page.mine("GET", "clock")["now"] == due) is (key == "n")
    wait_for_time(page)


def test_both_lines_stay_after_one_of_them_was_copied(page: Console) -> None:
    shown = page.open()
    shown.keyboard.press("a")
    for name in ("reseller-sim advance 1m", "copy as curl", "reseller-sim advance 1m"):
        shown.locator("sim-action-log").get_by_role("button", name=name).click()
        shown.locator("sim-action-log", has_text=f"copied the {'curl' if 'curl' in name else 'CLI'} line").wait_for()


def test_buttons_advance_to_the_next_item_and_until_nothing_is_due(page: Console) -> None:
    page.pay("order-7")
    shown = page.open()
    shown.get_by_text("order-7 becomes Processing").wait_for()
    shown.get_by_role("button", name="next", exact=True).click()
    shown.get_by_role("link", name="order-7 becomes Succesful").wait_for()
    shown.get_by_role("button", name="idle", exact=True).click()
    shown.get_by_text("nothing is due", exact=True).wait_for()
    shown.keyboard.press("n")
    shown.locator("sim-clock > .mistake", has_text="nothing is due, so there is nothing to advance to").wait_for()


def test_each_due_item_is_listed_with_its_link_and_can_be_advanced_to(page: Console) -> None:
    trxids = [page.pay(f"order-{number}") for number in range(60)]
    shown = page.open()
    shown.get_by_text("59 more").wait_for()
    shown.keyboard.press("t")
    shown.wait_for_url("**clock=due")
    shown.get_by_text("The next 50 of 60 due items").wait_for()
    assert shown.evaluate("document.activeElement.name") == "until"
    rows = shown.locator("clock-panel tbody tr")
    assert rows.count() == 50
    assert trxids[9] in (rows.nth(9).get_by_role("link").get_attribute("href") or "")
    at = page.mine("GET", "due?limit=50")["due"][49]["at"]
    rows.nth(49).get_by_role("button", name="advance to order-49 becomes Processing").click()
    shown.get_by_role("button", name=f"reseller-sim advance to {at}").wait_for()
    assert page.mine("GET", "clock")["now"] == at
    shown.keyboard.press("Escape")
    shown.locator("clock-panel").wait_for(state="hidden")
    assert "clock=" not in shown.url


def test_a_due_webhook_leads_to_its_delivery(page: Console) -> None:
    page.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    page.mine("PUT", "inbox/events", {"replies": [{"status": 500}]})
    page.mine("POST", "resellers/RS001/deposits", {"amount": "5"})
    page.mine("POST", "clock/advance", {"seconds": 0})
    shown = page.open("live?clock=due")
    shown.locator("clock-panel tbody").get_by_role("link").first.click()
    shown.wait_for_url("**/webhooks?at=*")
    shown.locator("webhook-delivery h2", has_text="balance.added").wait_for()


@pytest.mark.parametrize(
    ("written", "command"),
    [
        ("90s", "advance 90s"),
        ("1h30m", "advance 5400s"),
        ("idle", "advance idle"),
        ("2099-01-10 23:59", "advance to 2099-01-10T23:59:00+08:00"),
        ("2099-01-10 9:05", "advance to 2099-01-10T09:05:00+08:00"),
        ("2099-01-10t23:59:30z", "advance to 2099-01-10T23:59:30Z"),
        ("2099-01-10 23:59:30.5 +0700", "advance to 2099-01-10T23:59:30.5+07:00"),
        ("2099-01-10T23:59:30Z", "advance to 2099-01-10T23:59:30Z"),
    ],
)
def test_the_clock_goes_to_a_time_that_is_written(page: Console, written: str, command: str) -> None:
    shown = page.open("live?clock=due")
    shown.get_by_label("by a duration, or to a time").fill(written)
    shown.keyboard.press("Enter")
    shown.get_by_role("button", name=f"reseller-sim {command} --sandbox").wait_for()
    wait_for_time(page)


def test_a_time_of_day_is_the_next_such_time_in_its_zone_or_where_the_service_is(page: Console) -> None:
    page.mine("PUT", "clock", {"now": "2099-01-10T23:30:00+08:00"})
    shown = page.open("live?clock=due")
    for written, reached in [
        ("23:59", "2099-01-10T23:59:00+08:00"),
        ("23:59:30.5", "2099-01-10T23:59:30.5+08:00"),
        ("08:15", "2099-01-11T08:15:00+08:00"),
        ("23:59z", "2099-01-11T23:59:00Z"),
        ("9:00+14:00", "2099-01-13T09:00:00+14:00"),
        ("10:00-0800", "2099-01-13T10:00:00-08:00"),
    ]:
        shown.get_by_label("by a duration, or to a time").fill(written)
        shown.get_by_role("button", name="advance", exact=True).click()
        shown.get_by_role("button", name=f"reseller-sim advance to {reached} --sandbox").wait_for()
        assert now(page) == datetime.fromisoformat(reached).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize(
    ("written", "refusal"),
    [
        ("soon", "“soon” is not a time; write 90s"),
        ("25:00", "to must be an ISO 8601 time"),
        ("2027-02-30 10:00", "to must be an ISO 8601 time"),
        ("\u202e12:00", "“⟨202E⟩12:00” is not a time"),
        ("2001-01-01 10:00", "to is in the past: the sandbox's time is 20"),
        ("99999999d", "seconds must be"),
    ],
)
def test_a_time_that_cannot_be_gone_to_is_refused_where_it_was_written(
    page: Console, written: str, refusal: str
) -> None:
    before = now(page)
    shown = page.open("live?clock=due")
    shown.get_by_label("by a duration, or to a time").fill(written)
    shown.keyboard.press("Enter")
    shown.locator("clock-panel .mistake", has_text=refusal).wait_for()
    assert shown.get_by_label("by a duration, or to a time").input_value() == written
    assert now(page) == before
    page.forget_refusals()


def set_mode(page: Console, mode: str, rate: str = "") -> None:
    """Choose a mode in the panel, and a rate where there is one."""
    shown = page.page
    shown.get_by_label("mode", exact=True).select_option(mode)
    assert shown.get_by_label("times as fast").is_visible() is (mode == "xN")
    if rate:
        shown.get_by_label("times as fast").fill(rate)
    shown.get_by_role("button", name="set", exact=True).click()


def test_the_mode_is_shown_and_changed(page: Console) -> None:
    shown = page.open("live?clock=due")
    shown.get_by_role("button", name="Clock: manual").wait_for()
    set_mode(page, "xN", "50")
    shown.get_by_role("button", name="Clock: x50").wait_for()
    shown.get_by_role("button", name="copy as curl").wait_for()
    set_mode(page, "real")
    shown.get_by_role("button", name="Clock: real").wait_for()
    page.mine("PUT", "clock", {"mode": "manual"})
    shown.get_by_role("button", name="Clock: manual").wait_for()
    set_mode(page, "xN", "fast")
    shown.locator("clock-panel .mistake", has_text="a number from 0.01 to 100000").wait_for()
    assert shown.get_by_label("times as fast").get_attribute("aria-invalid") == "true"
    assert page.mine("GET", "clock")["mode"] == "manual"
    page.forgive(400)


TEXTS = "() => { const shown = document.querySelector('sim-clock > time'); window.texts = new Set(); " \
    "window.watching = new MutationObserver(() => window.texts.add(shown.textContent)); " \
    "window.watching.observe(shown, {childList: true, characterData: true, subtree: true}) }"  # fmt: skip


def test_a_running_clock_ticks_without_asking_and_stands_in_a_tab_that_is_hidden(page: Console) -> None:
    page.mine("PUT", "clock", {"mode": "xN", "rate": 100})
    shown = page.open()
    shown.get_by_role("button", name="Clock: x100").wait_for()
    page.row("you").first.wait_for()
    asked: list[str] = []
    shown.wait_for_timeout(500)
    shown.on("request", lambda request: asked.append(request.url))
    shown.evaluate(TEXTS)
    shown.wait_for_function("() => window.texts.size > 3")
    assert asked == []
    shown.evaluate("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})")
    shown.evaluate("document.dispatchEvent(new Event('visibilitychange')); window.texts.clear()")
    shown.wait_for_timeout(700)
    assert shown.evaluate("window.texts.size") == 0
    shown.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    shown.wait_for_function("() => window.texts.size > 1")


def test_a_long_advance_shows_its_progress_and_is_stopped(page: Console) -> None:
    for number in range(5):
        page.pay(f"order-{number}")
        page.mine("POST", "clock/advance", {"seconds": 0.05})
    slow: dict[str, Any] = {"replies": [{"status": 200, "delay": "500ms"}] * 10}
    page.mine("PUT", "inbox/callbacks", slow)
    shown = page.open()
    shown.get_by_text("order-0 becomes Processing").wait_for()
    shown.keyboard.press("A")
    progress = shown.get_by_role("progressbar", name="the advance that runs")
    progress.wait_for()
    assert 0 <= float(progress.get_attribute("value") or "-1") < 1
    shown.get_by_text(re.compile(r"advancing to .*, \d+ events?")).wait_for()
    shown.get_by_role("button", name="stop", exact=True).click()
    progress.wait_for(state="hidden")
    shown.locator("sim-action-log", has_text=re.compile("stopped at|is stopped at")).wait_for()
    clock = page.mine("GET", "clock")
    assert clock["advancing"] is None
    assert clock["pending"] > 0
    shown.get_by_role("button", name="idle", exact=True).wait_for()


def test_a_stop_says_that_it_waits_for_a_receiver(page: Console) -> None:
    page.pay("order-7")
    page.mine("PUT", "inbox/callbacks", {"replies": [{"status": 200, "delay": "4s"}]})
    shown = page.open()
    shown.get_by_text("becomes Processing").first.wait_for()
    shown.keyboard.press("N")
    stop = shown.get_by_role("button", name="stop", exact=True)
    stop.click()
    shown.get_by_text("stopping: it waits for receivers that have not answered yet").wait_for()
    assert stop.is_disabled()
    stop.wait_for(state="hidden")


def test_a_due_item_is_shown_as_text(page: Console) -> None:
    page.call("POST", "/v2/topup", {"refid": HOSTILE, "product": "FP", "account": "0123456789", "amount": "5"})
    due = page.mine("GET", "due")["due"]
    assert HOSTILE in due[0]["about"]
    shown = page.open("live?clock=due")
    cell = shown.locator("clock-panel tbody tr td:nth-child(4)").first
    cell.wait_for()
    assert cell.inner_text() == "<img src=x onerror=alert(1)>⟨202E⟩drawkcab becomes Processing"
    assert shown.locator("sim-clock img").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_no_element_is_wider_than_the_screen(page: Console, width: int) -> None:
    page.pay("order-with-a-name-as-long-as-names-of-orders-are-made-by-machines")
    shown = page.open("live?clock=due")
    shown.set_viewport_size({"width": width, "height": 800})
    shown.locator("clock-panel tbody tr").first.wait_for()
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert shown.locator("clock-panel").evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    shown.set_viewport_size({"width": 1280, "height": 720})
