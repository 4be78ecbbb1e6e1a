"""The wallet's view: figures as drawings and tables, the ledger, deposits."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Route

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

HOSTILE = "<svg onload=alert(1)>\u202edrawkcab"
SHOWN_HOSTILE = "<svg onload=alert(1)>⟨202E⟩drawkcab"
MAGIC_FAILED = "0120000001"

# The texts of a drawing that cover one another, in pairs.
COVERED = """image => {
    const texts = [...image.querySelectorAll("text")].map(one => [one.textContent, one.getBoundingClientRect()]);
    return texts.flatMap(([a, one], at) => texts.slice(at + 1)
        .filter(([, other]) => one.left < other.right && other.left < one.right
            && one.top + 2 < other.bottom && other.top + 2 < one.bottom)
        .map(([b]) => `${a} and ${b}`));
}"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def cells(page: Console, table: str) -> list[list[str]]:
    """The texts of a table's body."""
    rows: Any = page.page.locator("table", has=page.page.locator("caption", has_text=table)).evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return list(rows)


def drawn(page: Console, name: str) -> str:
    """Return the description of a drawing for a screen reader, without its name."""
    return page.page.get_by_role("img", name=name).locator("desc").text_content() or ""


def test_an_empty_wallet_explains_its_views(page: Console) -> None:
    shown = page.open("wallet")
    shown.get_by_text("No payment yet").wait_for()
    assert "MYR 5,000.00 at the end" in drawn(page, "Balance over time")
    assert cells(page, "Wallets")[0][1] == "5,000.00"


def test_figures_are_drawn_and_stand_in_tables_to_open(page: Console) -> None:
    page.pay("order-1")
    page.pay("order-2", account=MAGIC_FAILED)
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.pay("order-3", product="RELOAD", amount="10")
    page.call("GET", "/v2/nowhere")
    shown = page.open("wallet")
    shown.get_by_role("heading", name="Requests: 4, 1 refused").wait_for()
    figures = page.mine("GET", "figures")
    assert "Accepted: 1; Processing: 0; Succesful: 1; Failed: 1" in drawn(page, "Payments by status")
    assert [row[1] for row in cells(page, "Payments by status")] == ["1", "0", "1", "1", "0"]
    assert cells(page, "Payments by product") == [["FP", "2", "1", "1", "5.00"], ["RELOAD", "1", "0", "0", "0.00"]]
    assert "FP, Faulty Phone Reload: 2; RELOAD, Mobile Reload: 1" in drawn(page, "Payments by product")
    delivered = figures["callbacks"]["delivered"]
    assert delivered > 0
    assert cells(page, "Callbacks and webhooks")[0][:2] == ["callbacks", str(delivered)]
    assert f"callbacks delivered: {delivered}; callbacks failed: 0" in drawn(page, "Callbacks and webhooks")
    [receiver] = cells(page, "Latency of receivers")
    assert receiver[:2] == ["inbox:callbacks", f"{delivered} of {delivered}"]
    assert "inbox:callbacks" in drawn(page, "Latency of receivers")
    assert cells(page, "Requests by the status of their answer") == [["200", "3"], ["404", "1"]]
    points = len(figures["wallets"][0]["points"])
    assert f", {points} points since" in drawn(page, "Balance over time")


def test_parts_of_a_drawing_differ_without_colour(page: Console) -> None:
    page.pay("order-1")
    page.pay("order-2", account=MAGIC_FAILED)
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.open("wallet")
    image = shown.get_by_role("img", name="Payments by product")
    image.wait_for()
    # Read in a single turn of the page: a redrawn drawing has other names for its patterns.
    marks = image.evaluate(
        """image => [...image.querySelectorAll("rect[fill]")].map(
            one => image.querySelector(one.getAttribute("fill").slice(4, -1) + " path").getAttribute("d"))"""
    )
    assert len(set(marks)) == len(marks) == 2
    shown.locator(".legend", has_text="succeeded").wait_for()


def test_figures_follow_what_happens(page: Console) -> None:
    shown = page.open("wallet")
    shown.get_by_text("No payment yet").wait_for()
    page.pay("order-1")
    shown.get_by_role("img", name="Payments by status").wait_for()
    shown.get_by_role("table", name="Wallets").get_by_text("4,995.10").first.wait_for()


def test_the_curve_begins_with_the_balance_before_the_first_entry(page: Console) -> None:
    page.pay("order-1")
    shown = page.open("wallet")
    shown.get_by_role("img", name="Balance over time").wait_for()
    said = drawn(page, "Balance over time")
    assert "RS001: MYR 5,000.00 at " in said
    assert "1 point since, lowest MYR 4,995.10, highest MYR 5,000.00, MYR 4,995.10 at the end" in said
    assert cells(page, "Wallets")[0][4:] == ["4,995.10", "5,000.00"]


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_of_a_drawing_covers_another(page: Console, width: int) -> None:
    for number in range(2, 6):
        page.mine("POST", "resellers", {"code": f"RS00{number}", "balance": 5000 + number})
    page.pay("order-1")
    page.mine("POST", "clock/advance", {"seconds": 400_000})
    page.page.set_viewport_size({"width": width, "height": 800})
    try:
        shown = page.open("wallet")
        image = shown.get_by_role("img", name="Balance over time")
        image.locator(".line-name", has_text="RS005").wait_for()
        covered = image.evaluate(COVERED)
    finally:
        page.page.set_viewport_size({"width": 1280, "height": 800})
    assert covered == []


def test_a_refund_is_of_the_past_in_the_drawing(page: Console) -> None:
    page.pay("bill-1", product="ELECTRIC", account="210012345678", amount="100")
    page.mine("POST", "clock/advance", {"until": "idle"})
    void = {"refid": "bill-1", "refund_type": 1, "user_email": ["a@example.com"]}
    page.call("POST", "/v2/transactions/void", void)
    page.mine("POST", "clock/advance", {"until": "idle"})
    shown = page.open("wallet")
    shown.get_by_role("img", name="Payments by status").locator("rect.fill-past").wait_for()
    assert cells(page, "Payments by status")[4] == ["Refund", "1"]


def test_receivers_that_are_not_listed_are_counted(page: Console) -> None:
    page.page.route("**/figures", lambda route: route.fulfill(json=with_receivers(page.mine("GET", "figures"), 103)))
    try:
        page.open("wallet").get_by_text("and 3 receivers with fewer attempts").wait_for()
        assert len(cells(page, "Latency of receivers")) == 100
    finally:
        page.page.unroute("**/figures")


def with_receivers(figures: Any, count: int) -> Any:
    """Return equal figures with so many receivers."""
    one = {"attempts": 1, "answered": 1, "p50_ms": 1.0, "p95_ms": 1.0, "max_ms": 1.0}
    return figures | {"receivers": [one | {"url": f"http://127.0.0.1:{9000 + at}/"} for at in range(count)]}


def test_one_of_several_resellers_is_chosen_in_the_address(page: Console) -> None:
    page.mine("POST", "resellers", {"code": "RS002", "balance": 800})
    page.pay("order-1")
    shown = page.open("wallet")
    shown.get_by_label("Reseller", exact=True).select_option("RS002")
    shown.wait_for_url("**reseller=RS002")
    shown.get_by_text("No payment yet").wait_for()
    assert [row[:2] for row in cells(page, "Wallets")] == [["RS002", "800.00"]]
    shown.reload()
    shown.get_by_text("No payment yet").wait_for()
    assert shown.get_by_label("Reseller", exact=True).input_value() == "RS002"


def test_a_deposit_is_made_and_says_its_command(page: Console) -> None:
    shown = page.open("wallet/ledger")
    shown.get_by_label("deposit, MYR").fill("19.90")
    shown.get_by_label("description").fill("bank transfer")
    shown.keyboard.press("Enter")
    line = "reseller-sim deposit 19.90 --reseller RS001 --description 'bank transfer' --sandbox"
    shown.get_by_role("button", name=line).wait_for()
    page.row("bank transfer").wait_for()
    assert "+19.90" in page.row("bank transfer").inner_text()
    shown.get_by_label("deposit, MYR").fill("5")
    shown.get_by_label("type", exact=True).select_option("COMMISSION")
    shown.get_by_role("button", name="deposit", exact=True).click()
    page.row("commission").wait_for()
    assert page.mine("GET", "ledger")["entries"][0]["type"] == "COMMISSION"


def test_an_invalid_amount_is_refused_next_to_its_field(page: Console) -> None:
    shown = page.open("wallet")
    shown.get_by_label("deposit, MYR").fill("a lot")
    shown.keyboard.press("Enter")
    shown.locator("form .mistake", has_text="amount must be a positive amount").wait_for()
    assert shown.get_by_label("deposit, MYR").get_attribute("aria-invalid") == "true"
    assert shown.get_by_label("deposit, MYR").input_value() == "a lot"
    assert page.mine("GET", "ledger")["entries"] == []
    page.forgive(400)


def test_the_ledger_lists_entries_with_links_and_filters(page: Console) -> None:
    trxid = page.pay("order-1")
    page.pay("order-2")
    page.mine("POST", "resellers/RS001/deposits", {"amount": "10"})
    shown = page.open("wallet/ledger")
    assert page.row("order-1").get_by_role("link").get_attribute("href") == f"/_sim/s/{page.sandbox}/payments/{trxid}"
    shown.get_by_label("Type of entry").select_option("DEPOSIT")
    shown.wait_for_url("**type=DEPOSIT")
    page.row("order-1").wait_for(state="detached")
    page.row("deposit").wait_for()
    assert page.row("deposit").count() == 1
    shown.get_by_label("Type of entry").select_option("")
    shown.keyboard.press("/")
    shown.keyboard.type("order-2")
    shown.keyboard.press("Enter")
    shown.wait_for_url("**refid=order-2")
    page.row("order-1").wait_for(state="detached")
    page.row("order-2").wait_for()


def test_the_ledger_is_read_as_far_as_one_scrolls(page: Console) -> None:
    for number in range(450):
        page.mine("POST", "resellers/RS001/deposits", {"amount": "1", "description": f"entry {number}"})
    shown = page.open("wallet/ledger")
    shown.get_by_text("the latest 200").wait_for()
    shown.keyboard.press("End")
    shown.get_by_text("the latest 400").wait_for()
    shown.keyboard.press("End")
    shown.get_by_role("status").get_by_text("450", exact=True).wait_for()
    shown.keyboard.press("End")
    page.row("entry 0").wait_for()


def test_a_wallet_shows_every_value_as_text(page: Console) -> None:
    page.mine("PATCH", "catalog/products/FP", {"name": HOSTILE.replace("\u202e", "")})
    page.call("POST", "/v2/topup", {"refid": HOSTILE, "product": "FP", "account": "0123456789", "amount": "5"})
    page.mine("POST", "resellers/RS001/deposits", {"amount": "1", "description": "<b>gift</b>"})
    shown = page.open("wallet")
    image = shown.get_by_role("img", name="Payments by product")
    image.wait_for()
    assert image.locator("text").first.text_content() == "FP, <svg onload=alert(1)>drawkcab"
    shown.get_by_role("link", name="Ledger").click()
    page.row("<b>gift</b>").wait_for()
    page.row(SHOWN_HOSTILE).wait_for()
    assert shown.locator("sim-wallet [onload], sim-wallet b").count() == 0


def test_each_number_is_shown_once_until_its_table_is_opened_which_stays_open(page: Console) -> None:
    page.pay("order-1")
    shown = page.open("wallet")
    shown.get_by_role("img", name="Payments by status").wait_for()
    assert shown.get_by_role("table").count() == 1
    shown.get_by_label("Payments by product as a table").click()
    opened = shown.get_by_role("table", name="Payments by product")
    opened.get_by_text("FP").wait_for()
    page.pay("order-2", product="RELOAD", amount="10")
    opened.get_by_text("RELOAD").wait_for()
    assert shown.get_by_role("table").count() == 2


def test_the_wallet_fits_a_phone(page: Console) -> None:
    page.pay("order-1")
    shown = page.open("wallet")
    shown.set_viewport_size({"width": 390, "height": 844})
    shown.get_by_role("img", name="Payments by status").wait_for()
    shown.wait_for_function("() => document.querySelector('.figures svg').clientWidth <= 390")
    for name in ("status", "product"):
        shown.get_by_label(f"Payments by {name} as a table").click()
    assert shown.evaluate("document.querySelector('sim-wallet').scrollWidth") <= 390
    shown.set_viewport_size({"width": 1280, "height": 720})


def test_numbers_of_payments_lead_to_those_payments(page: Console) -> None:
    page.pay("order-1")
    page.pay("order-2", account=MAGIC_FAILED)
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.pay("order-3", product="RELOAD", amount="10")
    for table, name, refid in (("status", "Failed", "order-2"), ("product", "RELOAD", "order-3")):
        shown = page.open("wallet?reseller=RS001")
        shown.get_by_label(f"Payments by {table} as a table").click()
        shown.get_by_role("table", name=f"Payments by {table}").get_by_role("link", name=name, exact=True).click()
        page.row(refid).wait_for()
        shown.get_by_text("1 of 3").wait_for()
        assert f"/payments?q={table}%3A{name}+reseller%3ARS001" in shown.url


def test_amounts_and_times_at_the_axes_are_whole_and_no_time_stands_twice(page: Console) -> None:
    page.mine("POST", "resellers/RS001/deposits", {"amount": "99999999.90"})
    shown = page.open("wallet")
    drawing = shown.get_by_role("img", name="Balance over time")
    drawing.get_by_text("100,000,000.00").wait_for()
    texts: list[list[object]] = drawing.evaluate(
        "image => [...image.querySelectorAll('text.value')].map(one => [one.textContent, one.getBBox().x])"
    )
    assert all(float(str(left)) >= 0 for _, left in texts)
    words = [text for text, _ in texts]
    assert len(words) == len(set(words))


def test_a_curve_begins_when_its_reseller_was_added(page: Console) -> None:
    page.mine("POST", "clock/advance", {"seconds": 3600})
    page.mine("POST", "resellers", {"code": "RS009", "balance": "7.00"})
    page.mine("POST", "clock/advance", {"seconds": 3600})
    shown = page.open("wallet")
    drawing = shown.get_by_role("img", name="Balance over time")
    drawing.locator("text.line-name", has_text="RS009").wait_for()
    begins = drawing.evaluate(
        "image => [...image.querySelectorAll('path.curve')].map(one => one.getPointAtLength(0).x)"
    )
    ends = drawing.evaluate("image => image.viewBox.baseVal.width")
    assert begins[-1] == pytest.approx((begins[0] + ends) / 2, abs=5)


def test_a_reseller_who_is_chosen_while_figures_are_read_is_shown(page: Console) -> None:
    page.mine("POST", "resellers", {"code": "RS002", "balance": 800})
    page.pay("order-1")
    held: list[Route] = []
    page.page.route("**/figures", lambda route: held.append(route))
    shown = page.open("wallet")
    shown.get_by_label("Reseller", exact=True).select_option("RS002")
    shown.wait_for_url("**reseller=RS002")
    held.pop().continue_()
    shown.get_by_text("No payment yet").wait_for()
    page.page.unroute("**/figures")
