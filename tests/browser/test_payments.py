"""The payments: found by the words of the API, kept true as things happen, opened by keys, two beside each other."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202eabc"


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def test_a_payment_stands_in_the_list_and_its_status_changes_there(page: Console) -> None:
    page.open("payments")
    page.page.get_by_text("No payment yet.").wait_for()
    page.page.get_by_text('"product":"RELOAD"').wait_for()
    page.pay("order-7")
    row = page.row("order-7")
    row.wait_for()
    text = row.inner_text()
    assert [word in text for word in ("FP", "0123456789", "5.00", "Accepted", "4.90", "ordinary")] == [True] * 6
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.row("Succesful").wait_for()
    assert page.row("order-7").count() == 1


def test_the_empty_list_shows_a_command_for_this_sandbox(page: Console) -> None:
    shown = page.open("payments")
    line = shown.locator(".empty pre")
    line.wait_for()
    assert "reseller-sim call POST /v2/topup" in line.inner_text()
    assert f"--sandbox {page.sandbox} --url {page.url}" in line.inner_text()


def test_the_filter_is_in_the_address_and_in_the_words_of_the_api(page: Console) -> None:
    for number in (1, 2):
        page.pay(f"order-{number}")
    page.mine("POST", "clock/advance", {"until": "idle"})
    page.pay("order-3")
    shown = page.open("payments?q=status%3ASuccesful")
    page.row("order-1").wait_for()
    assert page.row("order-3").count() == 0
    shown.get_by_text("2 of 3").wait_for()
    box = shown.get_by_label("Filter")
    shown.keyboard.press("/")
    shown.keyboard.press("Control+A")
    shown.keyboard.type("refid:order-3 product:FP reseller:RS001 rule:ord*")
    page.row("order-3").wait_for()
    assert page.row("order-1").count() == 0
    assert "q=refid%3Aorder-3+product" in shown.url
    box.fill("colour:red")
    shown.get_by_role("alert").get_by_text("there is no colour: here; use refid, trxid, status").wait_for()
    box.fill("refid:order-9")
    shown.get_by_text("No payment matches.").wait_for()


def test_keys_choose_a_payment_open_it_and_lead_back_to_its_row(page: Console) -> None:
    trxid = page.pay("order-1")
    page.pay("order-2")
    shown = page.open("payments")
    page.row("order-1").wait_for()
    shown.keyboard.press("j")
    shown.keyboard.press("j")
    shown.keyboard.press("Enter")
    shown.wait_for_url(f"**/payments/{trxid}")
    shown.locator("sim-story h2", has_text="order-1").wait_for()
    shown.keyboard.press("Escape")
    shown.wait_for_url(f"**/payments?at={trxid}")
    assert "order-1" in shown.locator("[aria-selected=true]").inner_text()


def test_two_that_are_marked_stand_beside_each_other(page: Console) -> None:
    first, second = page.pay("order-1"), page.pay("order-2", account="0123456790")
    shown = page.open("payments")
    page.row("order-1").wait_for()
    shown.keyboard.press("j")
    shown.keyboard.press("x")
    shown.get_by_role("button", name="compare order-2 with …").wait_for()
    shown.keyboard.press("j")
    shown.keyboard.press("x")
    shown.wait_for_url(f"**/payments/{second}?with={first}")
    shown.locator("section.story").nth(1).wait_for()
    table = shown.get_by_role("table", name="Differences")
    assert table.get_by_role("row", name="account 0123456790 0123456789").count() == 1
    assert table.get_by_role("row", name="product").count() == 0


def test_two_payments_are_compared_by_touch_on_a_phone(page: Console) -> None:
    first, second = page.pay("order-1"), page.pay("order-2")
    page.page.set_viewport_size({"width": 390, "height": 844})
    try:
        shown = page.open("payments")
        page.row("order-1").wait_for()
        compare = shown.get_by_role("button", name="compare…")
        assert compare.is_disabled()
        place = page.row("order-1").bounding_box()
        page.row("order-1").locator(".state").click()
        compare.click()
        shown.get_by_role("button", name="compare order-1 with … ✕").click()
        compare.click()
        page.row("order-2").locator(".state").click()
        shown.get_by_role("button", name="compare with order-1").wait_for()
        page.row("order-1").locator(".state").click()
        shown.get_by_role("button", name="compare order-1 with … ✕").click()
        compare.wait_for()
        assert page.row("order-1").bounding_box() == place
        compare.click()
        page.row("order-2").locator(".state").click()
        shown.get_by_role("button", name="compare with order-1").click()
        shown.wait_for_url(f"**/payments/{first}?with={second}")
    finally:
        page.page.set_viewport_size({"width": 1280, "height": 720})


def test_a_reset_empties_the_list(page: Console) -> None:
    page.pay("order-1")
    shown = page.open("payments")
    page.row("order-1").wait_for()
    page.mine("POST", "reset")
    shown.get_by_text("No payment yet.").wait_for()


def test_markup_and_turned_text_of_a_client_are_only_text(page: Console) -> None:
    page.call("POST", "/v2/topup", {"refid": HOSTILE, "product": "FP", "account": "0123456789", "amount": "5"})
    shown = page.open("payments")
    row = page.row("<img src=x onerror=alert(1)>⟨202E⟩abc")
    row.wait_for()
    row.get_by_role("link").first.click()
    shown.locator("sim-story h2", has_text="<img src=x onerror=alert(1)>⟨202E⟩abc").wait_for()
    shown.go_back()
    shown.get_by_label("Filter").fill('refid:"<script>alert(1)</script>"')
    shown.get_by_text("No payment matches.").wait_for()
    assert shown.locator("img").count() == 0


def test_on_a_phone_nothing_scrolls_sideways(page: Console) -> None:
    page.pay("order-" + "1" * 40)
    page.page.set_viewport_size({"width": 390, "height": 844})
    try:
        shown = page.open("payments")
        page.row("order-1").wait_for()
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.row("order-1").bounding_box()["width"] <= 390  # type: ignore[index]
    finally:
        page.page.set_viewport_size({"width": 1280, "height": 720})


def test_the_reseller_of_a_payment_is_shown_only_when_there_are_several(page: Console) -> None:
    page.pay("order-1")
    shown = page.open("payments")
    page.row("order-1").wait_for()
    header = shown.get_by_role("columnheader", name="reseller", exact=True)
    assert header.count() == 0
    page.mine("POST", "resellers", {"code": "RS002", "balance": 800})
    shown.reload()
    page.row("order-1").wait_for()
    header.wait_for()
    assert "RS001" in page.row("order-1").inner_text()


def test_the_rule_of_a_magic_account_leads_to_its_row_in_the_catalog(page: Console) -> None:
    page.pay("order-1", account="0120000001")
    shown = page.open("payments")
    page.row("order-1").get_by_role("link", name="magic-01").click()
    shown.wait_for_url("**/catalog?show=magic&at=magic-01")
    marked = shown.locator("catalog-magic tr[aria-current=true]")
    marked.get_by_text("failed, 48, remarks HC").wait_for()
    assert marked.count() == 1
