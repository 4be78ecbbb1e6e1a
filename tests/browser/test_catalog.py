"""The catalog's view: products with their switches, for everybody or one reseller, and the magic accounts."""

import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.console import Console, console
from tests.support.runner import invoke

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)> & <script>alert(2)</script>"


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def product(page: Console, code: str, reseller: str = "") -> Any:
    """A product as the control API lists it."""
    rows = page.mine("GET", "catalog" + (f"?reseller={reseller}" if reseller else ""))["products"]
    return next(one for one in rows if one["code"] == code)


def curl(page: Console) -> str:
    """The curl line of what the page did last."""
    return page.page.get_by_role("button", name="copy as curl").get_attribute("title") or ""


def test_products_are_listed_and_found_by_a_filter_in_the_address(page: Console) -> None:
    shown = page.open("catalog")
    page.row("RETIRED").wait_for()
    assert "off sale" in page.row("RETIRED").inner_text()
    assert "to 200.00" in page.row("PARKING").inner_text()
    shown.keyboard.press("/")
    shown.keyboard.type("bill on sale")
    page.row("RETIRED").wait_for(state="detached")
    assert shown.url.endswith("?q=bill+on+sale")
    shown.get_by_text("4 of 14").wait_for()


def test_a_product_is_chosen_by_keys_and_stands_in_the_address(page: Console) -> None:
    shown = page.open("catalog")
    page.row("RELOAD").first.wait_for()
    shown.keyboard.press("j")
    shown.wait_for_url("**/catalog/RELOAD")
    shown.get_by_role("heading", name="RELOAD Mobile Reload").wait_for()
    shown.keyboard.press("Enter")
    assert shown.evaluate("document.activeElement.id") == "switch-sale"
    shown.keyboard.press("Escape")
    shown.get_by_role("heading", name="RELOAD Mobile Reload").wait_for(state="hidden")


def test_a_product_is_taken_off_sale_and_put_on_again(page: Console) -> None:
    shown = page.open("catalog/FP")
    shown.get_by_role("button", name="take off sale").click()
    shown.get_by_role("button", name="put on sale").wait_for()
    assert product(page, "FP")["is_active"] is False
    assert f"/_sim/sandboxes/{page.sandbox}/catalog/products/FP" in curl(page)
    assert '{"is_active":false}' in curl(page)
    page.row("FP").get_by_text("off sale").wait_for()
    shown.get_by_role("button", name="put on sale").click()
    shown.get_by_role("button", name="take off sale").wait_for()
    assert product(page, "FP")["is_active"] is True


def test_one_reseller_has_its_own_and_goes_back_to_everybodys(page: Console) -> None:
    page.mine("POST", "resellers", {"code": "RS002", "balance": 800})
    shown = page.open("catalog/FP")
    shown.get_by_label("Reseller").select_option("RS002")
    shown.get_by_role("button", name="take off sale for RS002").click()
    shown.get_by_text("RS002 has its own").wait_for()
    assert (product(page, "FP")["is_active"], product(page, "FP", "RS002")["is_active"]) == (True, False)
    assert "reseller=RS002" in shown.url
    shown.get_by_role("button", name="as for everybody").click()
    shown.get_by_role("button", name="take off sale for RS002").wait_for()
    assert product(page, "FP", "RS002")["is_active"] is True


def test_a_network_is_interrupted_and_healed(page: Console) -> None:
    page.mine("PUT", "network/RELOAD", {"status": "Healthy"})
    shown = page.open("catalog/RELOAD")
    shown.get_by_role("button", name="interrupt its network").click()
    shown.get_by_role("button", name="heal its network").wait_for()
    page.row("RELOAD").first.get_by_text("Interruption").wait_for()
    assert product(page, "RELOAD")["network"] == "Interruption"
    assert '{"status":"Interruption"}' in curl(page)
    shown.get_by_role("button", name="heal its network").click()
    shown.get_by_role("button", name="interrupt its network").wait_for()
    assert product(page, "RELOAD")["network"] == "Healthy"


def test_a_price_is_adjusted_and_a_wrong_one_refused_where_it_was_written(page: Console) -> None:
    shown = page.open("catalog/FP")
    shown.get_by_label("price adjustment", exact=True).select_option("percentage")
    shown.get_by_label("value", exact=True).fill("1.25")
    shown.get_by_role("button", name="adjust", exact=True).click()
    page.row("FP").get_by_text("× 1.25").wait_for()
    assert product(page, "FP")["product"]["pricing"]["price_adjustment"] == {"type": "percentage", "value": 1.25}
    shown.get_by_label("value", exact=True).fill("dear")
    shown.get_by_role("button", name="adjust", exact=True).click()
    shown.locator("catalog-product form .mistake:not(:empty)").wait_for()
    assert shown.get_by_label("value", exact=True).input_value() == "dear"
    assert product(page, "FP")["product"]["pricing"]["price_adjustment"]["value"] == 1.25
    page.forgive(400)
    shown.get_by_label("price adjustment", exact=True).select_option("")
    shown.get_by_role("button", name="adjust", exact=True).click()
    page.row("FP").get_by_text("× 1.25").wait_for(state="detached")
    assert product(page, "FP")["product"]["pricing"]["price_adjustment"] is None


def edges(shown: "Locator") -> tuple[float, float]:
    """Return the top and the bottom of an element on the page."""
    box = shown.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"]


def test_the_button_of_a_form_is_beside_its_fields_or_close_below_them(page: Console) -> None:
    shown = page.open("catalog/FP")
    field, button = shown.get_by_label("value", exact=True), shown.get_by_role("button", name="adjust", exact=True)
    assert 0 < edges(button)[0] - edges(field)[1] <= 12
    shown.goto(f"{page.url}/_sim/ui/sandboxes")
    form = shown.get_by_role("form", name="Create a sandbox")
    assert abs(edges(form.get_by_role("button"))[0] - edges(form.get_by_label("Id"))[0]) <= 1


def test_a_wrong_price_stays_in_the_form_while_the_rest_of_the_product_changes(page: Console) -> None:
    shown = page.open("catalog/FP")
    shown.get_by_label("price adjustment", exact=True).select_option("percentage")
    shown.get_by_label("value", exact=True).fill("dear")
    shown.get_by_role("button", name="adjust", exact=True).click()
    shown.locator("catalog-product form .mistake:not(:empty)").wait_for()
    page.forgive(400)
    shown.evaluate("document.activeElement.blur()")
    page.mine("PATCH", "catalog/products/FP", {"is_active": False})
    shown.get_by_role("button", name="put on sale").wait_for()
    assert shown.locator("catalog-product form .mistake:not(:empty)").is_visible()
    assert shown.get_by_label("value", exact=True).input_value() == "dear"
    page.mine("PATCH", "catalog/products/FP", {"is_active": True, "price_adjustment": {"type": "fixed", "value": 1}})
    page.row("FP").get_by_text("+1.00").wait_for()
    assert shown.get_by_label("value", exact=True).input_value() == "1"
    page.mine("PATCH", "catalog/products/FP", {"price_adjustment": None})


@pytest.mark.parametrize(("width", "has_group"), [(390, True), (800, True), (1000, False), (1280, True)])
def test_columns_beside_an_open_product_have_room_or_are_left_out(
    page: Console, width: int, *, has_group: bool
) -> None:
    shown = page.page
    shown.set_viewport_size({"width": width, "height": 844})
    page.open("catalog/RELOAD")
    shown.locator("catalog-product #switch-sale").wait_for()
    row, scroller = page.row("RELOAD").first, shown.locator("sim-catalog .scroller")
    assert scroller.evaluate("one => one.scrollWidth <= one.clientWidth")
    right = row.evaluate("row => Math.max(...[...row.children].map(one => one.getBoundingClientRect().right))")
    assert right <= scroller.evaluate("one => one.getBoundingClientRect().right")
    group = row.locator(".text")
    assert group.is_visible() == has_group
    assert not has_group or group.evaluate("one => one.clientWidth") > 80
    shown.set_viewport_size({"width": 1280, "height": 720})


def test_changes_by_other_clients_are_seen_at_once(page: Console) -> None:
    page.open("catalog")
    page.row("WATER").wait_for()
    page.mine("PATCH", "catalog/products/WATER", {"name": "Aqua", "is_active": False})
    page.row("Aqua").get_by_text("off sale").wait_for()


def test_magic_accounts_are_at_hand_as_a_call_that_works(page: Console) -> None:
    shown = page.open("catalog?show=magic")
    row = shown.get_by_role("row", name="failed, 48, remarks HC")
    row.wait_for()
    assert "never" in row.inner_text()
    row.get_by_role("button", name="copy the account 01").click()
    shown.get_by_text("copied the account 0120000001").wait_for()
    assert shown.evaluate("() => navigator.clipboard.readText()") == "0120000001"
    row.get_by_role("button", name="copy the call").click()
    shown.get_by_text("copied the signed call").wait_for()
    line = shlex.split(shown.evaluate("() => navigator.clipboard.readText()"))
    assert line[:4] == ["reseller-sim", "call", "POST", "/v2/topup"]
    done = invoke(*line[1:])
    assert json.loads(done.stdout)["data"]["account"] == "0120000001"
    page.mine("POST", "clock/advance", {"until": "idle"})
    assert page.mine("GET", "transactions")["transactions"][0]["status"] == "Failed"
    row.get_by_role("cell", name="1", exact=True).wait_for()


def test_magic_accounts_follow_the_product_to_pay_for(page: Console) -> None:
    shown = page.open("catalog?show=magic")
    shown.get_by_label("to pay for").select_option("ELECTRIC")
    shown.wait_for_url("**pay=ELECTRIC")
    row = shown.get_by_role("row", name="failed, 62")
    account = row.locator("code").inner_text()
    assert account.endswith("0000002")
    paid = page.call("POST", "/v2/topup", {"refid": "m", "product": "ELECTRIC", "account": account, "amount": "10"})
    assert paid.json["data"]["account"] == account


def test_a_catalog_shows_every_value_as_text(page: Console) -> None:
    page.mine("PATCH", "catalog/products/FP", {"name": HOSTILE, "note": HOSTILE})
    shown = page.open("catalog/FP")
    shown.get_by_role("heading", name=f"FP {HOSTILE}").wait_for()
    assert page.row("FP").get_by_text(HOSTILE).count() == 1
    assert shown.locator("sim-catalog img, sim-catalog script").count() == 0
    shown.get_by_role("link", name="Magic accounts").click()
    shown.get_by_role("table", name="Magic accounts").wait_for()
    assert shown.locator("sim-catalog img, sim-catalog script").count() == 0


def test_the_catalog_fits_a_phone(page: Console) -> None:
    shown = page.open("catalog/FP")
    shown.set_viewport_size({"width": 390, "height": 844})
    shown.get_by_role("button", name="take off sale").wait_for()
    assert shown.evaluate("document.documentElement.scrollWidth") == 390
    assert shown.locator("catalog-product").evaluate("one => one.scrollWidth <= one.clientWidth")
    shown.set_viewport_size({"width": 1280, "height": 720})
