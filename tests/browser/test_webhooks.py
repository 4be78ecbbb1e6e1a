"""The webhooks of the console: deliveries, replays, configuration, events on demand, probes."""

from collections.abc import Iterator
from threading import Event

import pytest

from tests.support.answers_by_path import answering_by_path, sends
from tests.support.console import Console, console

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


def with_webhook(shared: Console, name: str = "events") -> None:
    shared.new_sandbox()
    shared.call("PUT", "/v2/balance-webhook", {"url": f"inbox:{name}"})


def deposit(shared: Console, seconds: int) -> None:
    shared.mine("POST", f"resellers/{shared.reseller['code']}/deposits", {"amount": "5"})
    shared.mine("POST", "clock/advance", {"seconds": seconds})


def test_a_triggered_event_is_delivered_and_opens_with_its_attempts(shared: Console) -> None:
    with_webhook(shared)
    shown = shared.open("webhooks")
    shown.get_by_text("No deliveries.").wait_for()
    trigger = shown.get_by_role("form", name="Trigger balance.added")
    trigger.get_by_label("deposit, MYR").fill("250")
    trigger.get_by_role("button", name="trigger balance.added").click()
    row = shared.row("balance.added")
    row.get_by_text("● success").wait_for()
    shown.locator("sim-action-log", has_text="trigger balance.added --amount 250").wait_for()
    row.locator(".kind").click()
    shown.wait_for_url("**/webhooks?at=*")
    whole = shown.locator("webhook-delivery")
    whole.get_by_role("cell", name="● 200").wait_for()
    assert '"type": "balance.added"' in whole.inner_text()


def test_a_failed_delivery_is_replayed(shared: Console) -> None:
    with_webhook(shared)
    shared.mine("PUT", "inbox/events", {"replies": [{"status": 500}]})
    deposit(shared, 86400)
    shown = shared.open("webhooks?state=failed")
    shared.row("✕ failed").locator(".kind").click()
    whole = shown.locator("webhook-delivery")
    whole.get_by_role("cell", name="✕ 500").first.wait_for()
    first = whole.locator("h2").inner_text()
    whole.get_by_role("button", name="replay").click()
    whole.get_by_text("replay of").wait_for()
    assert whole.locator("h2").inner_text() != first
    shown.wait_for_url("**/webhooks?at=*")


@pytest.fixture(scope="module")
def receiver() -> Iterator[str]:
    """A real receiver, whose paths say what it does; its address."""
    released = Event()
    moved = b"HTTP/1.0 302 X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    answers = {
        "/broken": sends(b"said", 500),
        "/redirect": lambda out: void(out.write(moved)),
        "/slow": lambda out: void(released.wait(30)),
        "*": sends(b"said"),
    }
    with answering_by_path(answers) as url:
        yield url
        released.set()


def void(_: object) -> None:
    """An answer writes, and returns nothing."""


@pytest.mark.parametrize(
    ("path", "ended"),
    [("/broken", "✕ 500"), ("/redirect", "✕ 302"), ("/slow", "✕ timeout")],
)
def test_the_answer_of_a_real_receiver_is_shown_also_after_a_replay(
    shared: Console, receiver: str, path: str, ended: str
) -> None:
    quick = {"extends": "default", "limits": {"callback_timeout_manual": "300ms"}}
    shared.new_sandbox(quick)
    shared.call("PUT", "/v2/balance-webhook", {"url": receiver + path})
    deposit(shared, 86400)
    shown = shared.open("webhooks")
    row = shared.row("✕ failed")
    row.locator(".kind").click()
    whole = shown.locator("webhook-delivery")
    whole.get_by_role("cell", name=ended).first.wait_for()
    first = whole.locator("h2").inner_text()
    whole.get_by_role("button", name="replay").click()
    whole.get_by_text("replay of").wait_for()
    assert whole.locator("h2").inner_text() != first
    shared.mine("POST", "clock/advance", {"seconds": 5})
    whole.get_by_role("cell", name=ended).first.wait_for()


def test_probes_distinguish_a_receiver_that_verifies_nothing_from_a_failing_receiver(
    shared: Console, receiver: str
) -> None:
    for path, verdict in (("/believes", "✕ finding"), ("/broken", "inconclusive")):
        shared.new_sandbox()
        shared.call("PUT", "/v2/balance-webhook", {"url": receiver + path})
        shown = shared.open("webhooks/probes")
        shown.get_by_role("button", name="send probes").click()
        verdicts = shown.get_by_role("table", name="Verdicts")
        row = verdicts.get_by_role("row").filter(has_text="webhook-unsigned")
        row.wait_for()
        assert verdict in row.inner_text(), row.inner_text()


def test_the_filters_are_in_the_address(shared: Console) -> None:
    with_webhook(shared)
    deposit(shared, 5)
    shown = shared.open("webhooks")
    shared.row("balance.added").wait_for()
    shown.get_by_label("State").select_option("failed")
    shown.wait_for_url("**/webhooks?state=failed")
    shown.get_by_text("0 deliveries").wait_for()
    shown.reload()
    shown.get_by_text("0 deliveries").wait_for()
    assert shown.get_by_label("State").input_value() == "failed"
    shown.get_by_label("State").select_option("")
    shared.row("balance.added").wait_for()
    shown.get_by_label("Deliveries of the event").fill("evt_none")
    shown.get_by_label("Deliveries of the event").press("Enter")
    shown.get_by_text("0 deliveries").wait_for()


def test_configuration_shows_urls_retries_and_never_a_whole_secret(shared: Console) -> None:
    with_webhook(shared, "there")
    shown = shared.open("webhooks")
    shown.get_by_role("link", name="Configuration").click()
    shown.wait_for_url("**/webhooks/configuration")
    hooks = shown.get_by_role("table", name="Webhooks")
    hooks.get_by_role("cell", name="inbox:there").wait_for()
    assert "balance.added" in hooks.inner_text()
    assert "● enabled" in hooks.inner_text()
    shown.get_by_role("table", name="Callbacks").get_by_text("inbox:callbacks").wait_for()
    shown.get_by_role("table", name="Settings").get_by_text(shared.reseller["api_key"], exact=True).wait_for()
    assert shared.reseller["api_secret"] not in shown.locator("sim-webhooks").inner_text()


def test_a_webhook_that_is_set_now_appears_by_itself(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("webhooks/configuration")
    shown.get_by_text("no webhook is set").wait_for()
    shared.call("PUT", "/v2/balance-webhook", {"url": "inbox:late"})
    shown.get_by_role("cell", name="inbox:late").wait_for()


def test_probes_give_a_table_of_verdicts(shared: Console) -> None:
    with_webhook(shared)
    shared.pay("order-7")
    shared.mine("POST", "clock/advance", {"seconds": 300})
    shown = shared.open("webhooks/probes")
    shown.get_by_role("button", name="send probes").click()
    verdicts = shown.get_by_role("table", name="Verdicts")
    row = verdicts.get_by_role("row").filter(has_text="webhook-unsigned")
    row.get_by_text("✕ finding").first.wait_for()
    assert verdicts.get_by_role("row").count() == 10
    shared.new_sandbox()
    shared.open("webhooks/probes").get_by_role("button", name="send probes").wait_for()
    assert verdicts.count() == 0


def test_mistakes_in_a_form_are_reported_next_to_it(shared: Console) -> None:
    shared.new_sandbox()
    shown = shared.open("webhooks")
    trigger = shown.get_by_role("form", name="Trigger balance.added")
    trigger.get_by_label("deposit, MYR").fill("5")
    trigger.get_by_role("button").click()
    trigger.get_by_text("nothing is done, since RS001 has no balance webhook that is enabled").wait_for()
    assert shared.mine("GET", "")["resellers"][0]["balance"] == 5000
    shared.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
    trigger.get_by_label("deposit, MYR").fill("much")
    trigger.get_by_role("button").click()
    trigger.get_by_role("alert").get_by_text("amount").wait_for()
    shared.forgive(400)
    product = shown.get_by_role("form", name="Trigger product.updated")
    product.get_by_label("product").fill("NOSUCH")
    product.get_by_role("button").click()
    product.get_by_role("alert").get_by_text("NOSUCH").wait_for()
    shared.forgive(404)
    shown.goto(f"{shared.url}/_sim/s/{shared.sandbox}/webhooks/probes")
    probes = shown.get_by_role("form", name="Send probes")
    probes.get_by_label("time-out, s").fill("long")
    probes.get_by_role("button").click()
    probes.get_by_role("alert").get_by_text("timeout").wait_for()
    shared.forgive(400)


def test_a_changed_product_reaches_the_catalog_webhook(shared: Console) -> None:
    scenario = {"extends": "default", "webhooks": {"catalog": {"url": "inbox:catalog"}}}
    shared.new_sandbox(scenario)
    shown = shared.open("webhooks")
    product = shown.get_by_role("form", name="Trigger product.updated")
    product.get_by_label("product").fill("FP")
    product.get_by_role("button").click()
    shared.row("product.updated").get_by_text("● success").wait_for()
    assert product.get_by_role("alert").inner_text() == ""


def test_a_hostile_answer_of_a_receiver_is_text(shared: Console) -> None:
    with_webhook(shared)
    shared.mine("PUT", "inbox/events", {"replies": [{"status": 500, "body": HOSTILE}]})
    deposit(shared, 5)
    shown = shared.open("webhooks")
    shared.row("balance.added").locator(".kind").click()
    shown.locator("webhook-delivery summary").first.click()
    shown.get_by_text("<img src=x onerror=alert(1)>⟨202E⟩").first.wait_for()
    assert shown.locator("sim-webhooks img").count() == 0


def test_on_a_phone_nothing_is_wider_than_the_screen(shared: Console) -> None:
    with_webhook(shared)
    deposit(shared, 5)
    shared.page.set_viewport_size({"width": 390, "height": 844})
    for view in ("webhooks", "webhooks/configuration", "webhooks/probes"):
        shown = shared.open(view)
        shown.get_by_role("heading", name="Webhooks").wait_for()
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390, view
    shared.page.set_viewport_size({"width": 1280, "height": 800})
