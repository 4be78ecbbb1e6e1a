"""A client that knows the catalog, the options and the fulfillment alone: what it pays with and without the header
`X-API-Version` (SPEC 2.1, 9)."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from simulator.scenario.library import descriptions, load_scenario
from tests.support.client import Client, Response, running
from tests.support.forms import NEW, Form, Json, catalog, fetch, fill, payment

OLD: dict[str, str] = {}
NEEDS_HEADER = {"DATA", "GAME", "GIFTCARD", "VOUCHER", "ABROAD"}
NEEDS_CODE = {"STUDENTLOAN"}  # a money field is mapped in every version, the required code is not
SECTIONS = ("seed", "clock", "catalog", "assume", "magic")  # what a sale depends on, without rules that refuse
RESELLERS = [{"code": "RS001", "balance": "10000000.00", "api_keys": [{"key": "k", "secret": "c2VjcmV0c2VjcmV0"}]}]
ADJUSTMENT = {"type": "fixed", "value": 5}
FIVE_MORE = {"catalog": {"products": [{"code": "RELOAD", "price_adjustment": ADJUSTMENT}]}}


def sales() -> dict[str, Any]:
    """The products of each bundled scenario, by its name; equal product lists are tried once."""
    by_text = {}
    for name in sorted(descriptions(), reverse=True):
        whole: Any = load_scenario(name).document
        kept = {section: whole[section] for section in SECTIONS if section in whole}
        by_text[json.dumps(kept, sort_keys=True, default=str)] = (name, kept | {"resellers": RESELLERS})
    return dict(by_text.values())


SALES = sales()


def pricing_of(product: Json) -> Json:
    found: Json = next(field for field in product["fields"] if field["role"] == "pricing")
    return found


def choices(client: Client, product: Json, headers: dict[str, str]) -> Iterator[Form]:
    """A form for each option of the pricing select; one form for a product without one."""
    plain, pricing = fill(client, product, headers=headers), pricing_of(product)
    if pricing["type"] != "select":
        yield plain
        return
    for option in fetch(client, pricing, plain, headers):
        yield plain | {pricing["id"]: option}


def assert_paid(client: Client, product: Json, headers: dict[str, str]) -> None:
    """Every choice is paid as the fulfillment says, and what was bought is what was chosen."""
    for number, form in enumerate(choices(client, product, headers)):
        body = payment(product, form, f"{product['code']}-{number}")
        answer = client.call("POST", "/v2/topup", body, headers=headers)
        assert answer.status == 200, (body, answer.data)
        chosen = form[pricing_of(product)["id"]]
        if isinstance(chosen, dict):
            assert Decimal(str(answer.data["cost"])) == Decimal(chosen["cost"]["amount"]), "another option was bought"


@pytest.mark.parametrize("name", SALES)
def test_a_form_filler_pays_all_products_with_the_header(name: str) -> None:
    with running(SALES[name]) as client:
        for product in catalog(client, NEW).values():
            assert_paid(client, product, NEW)


@pytest.mark.parametrize("name", SALES)
def test_a_form_filler_pays_every_mapped_product_without_the_header(name: str) -> None:
    with running(SALES[name]) as client:
        products = catalog(client, OLD)
        withheld = {code for code, product in products.items() if product["fulfillment"]["amount"] is None}
        for code in products.keys() - withheld - NEEDS_CODE:
            assert_paid(client, products[code], OLD)
        assert withheld == NEEDS_HEADER


@pytest.mark.parametrize("name", SALES)
def test_with_denomination_a_form_filler_pays_all_products_without_the_header(name: str) -> None:
    with running(SALES[name] | {"assume": {"old-fulfillment": "denomination"}}) as client:
        for product in catalog(client, OLD).values():
            assert_paid(client, product, OLD)


def test_a_price_adjustment_takes_the_mapping_away() -> None:
    with running(FIVE_MORE) as client:
        assert catalog(client, OLD)["RELOAD"]["fulfillment"]["amount"] is None
        assert catalog(client, NEW)["RELOAD"]["fulfillment"]["amount"]["path"] == "denomination"
        client.sim("PATCH", "/sandboxes/default/catalog/products/RELOAD", {"price_adjustment": None})
        assert catalog(client, OLD)["RELOAD"]["fulfillment"]["amount"]["path"] == "price.amount"


@pytest.mark.parametrize("choice", ["payable", "absent", "price_amount"])
def test_the_amount_of_a_money_field_is_mapped_in_every_version(choice: str) -> None:
    with running({"assume": {"old-fulfillment": choice}}) as client:
        found = catalog(client, OLD)["STUDENTLOAN"]["fulfillment"]
    assert found["amount"] == {"from_field": "amount"}
    assert found["extras"] == {"ic_number": {"from_field": "ic_number"}}


def test_plans_with_amounts_of_their_own_are_paid_without_a_plan_code() -> None:
    data = {"code": "DATA", "price_adjustment": None}
    with running({"catalog": {"products": [data]}}) as client:
        assert catalog(client, OLD)["DATA"]["fulfillment"]["amount"] is None, "three plans cost 10.00"
        for code in ("D10M", "D10N"):
            change = {"options": {code: {"is_active": False}}}
            client.sim("PATCH", "/sandboxes/default/catalog/products/DATA", change)
        product = catalog(client, OLD)["DATA"]
        assert product["fulfillment"] == {
            "account": {"from_field": "phone"},
            "amount": {"from_field": "plan", "path": "price.amount"},
            "extras": {},
        }
        assert_paid(client, product, OLD)
    with running({"catalog": {"products": [data]}, "assume": {"plan-code-required": "always"}}) as client:
        for code in ("D10M", "D10N"):
            change = {"options": {code: {"is_active": False}}}
            client.sim("PATCH", "/sandboxes/default/catalog/products/DATA", change)
        assert catalog(client, OLD)["DATA"]["fulfillment"]["amount"] is None


@pytest.mark.parametrize(
    ("choice", "reload", "game", "electric"),
    [
        ("payable", "price.amount", None, "entered"),
        ("absent", None, None, "entered"),
        ("price_amount", "price.amount", "price.amount", "entered"),
        ("denomination", "denomination", "denomination", "entered"),
    ],
)
def test_each_choice_has_its_mappings(choice: str, reload: str | None, game: str | None, electric: str) -> None:
    with running({"assume": {"old-fulfillment": choice}}) as client:
        found = catalog(client, OLD)
        options = client.call("GET", "/v2/options?product_code=RELOAD&field_id=amount").json["items"]

    def path(code: str) -> str | None:
        amount = found[code]["fulfillment"]["amount"]
        return str(amount.get("path", "entered")) if amount else None

    assert (path("RELOAD"), path("GAME"), path("ELECTRIC")) == (reload, game, electric)
    assert ("subproduct_code" in found["DATA"]["fulfillment"]["extras"]) is (choice == "denomination")
    assert ("denomination" in options[0]) is (choice == "denomination")


def warned(answer: Response) -> str:
    return answer.headers.get("x-sim-diagnosis", "")


def test_an_amount_that_is_one_price_and_another_denomination_is_diagnosed() -> None:
    warning = "10 is the denomination of RELOAD-10 and the price.amount of RELOAD-5; an amount is a denomination"
    with running(FIVE_MORE) as client:
        ambiguous, plain = client.pay("a", "10"), client.pay("b", "5")
        assert (ambiguous.status, warned(ambiguous)) == (200, warning)
        assert (plain.status, warned(plain)) == (200, "")
        assert warned(client.pay("a", "10")) == "", "a re-query buys nothing"
    poor = FIVE_MORE | {"resellers": [{"code": "RS001", "balance": "1.00"}]}
    with running(poor) as client:
        refused = client.pay("a", "10")
        assert refused.data["remarks"] == "Insufficient_Balance"
        assert warned(refused).endswith(warning)


def test_the_price_of_another_plan_with_the_same_amount_is_diagnosed() -> None:
    with running({"catalog": {"products": [{"code": "DATA", "price_adjustment": ADJUSTMENT}]}}) as client:
        refused = client.pay("a", "10", "DATA")
        assert refused.data["statusCode"] == 44
        assert "10 is the denomination of D10W, D10M, D10N and the price.amount of D5" in warned(refused)
        with_code = client.pay("b", "10", "DATA", extras={"subproduct_code": "D10W"})
        assert (with_code.status, warned(with_code)) == (200, "")


def test_the_price_of_another_is_diagnosed_for_percentages_and_currencies_too() -> None:
    half = {"code": "GIFTCARD", "price_adjustment": {"type": "percentage", "value": 2}}
    with running({"catalog": {"products": [half]}}) as client:
        assert "50 is the denomination of GIFTCARD-50 and the price.amount of GIFTCARD-25" in warned(
            client.pay("a", "50", "GIFTCARD", account="x")
        )
    packs = [{"code": "N45", "label": "45 gems", "denomination": 45}]
    game = {"code": "GAME", "fields": [{"id": "pack", "options": packs}]}
    with running({"catalog": {"products": [game]}}) as client:
        assert "45 is the denomination of N45 and the price.amount of GAME-1000" in warned(
            client.pay("a", "45", "GAME", account="player")
        )
