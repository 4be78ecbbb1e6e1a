"""A client that reads catalog and options can pay every product, and knows the price before."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model.money import cents
from simulator.scenario.library import load_scenario
from tests.support.client import Client, running
from tests.support.forms import (
    NEW,
    catalog,
    fetch,
    fill,
    payment,
)

PRODUCTS = [code for code, product in load_scenario("default").catalog.products.items() if product.is_active]
RICH = {"resellers": [{"code": "RS001", "balance": "1000000.00"}]}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running(RICH) as client:
        yield client


@pytest.fixture(scope="module")
def products(client: Client) -> dict[str, Any]:
    return catalog(client)


def every_form(client: Client, product: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A form for each option of each select field."""
    plain = fill(client, product)
    selects = [field for field in product["fields"] if field["type"] == "select"]
    if not selects:
        yield plain
    for field in selects:
        for option in fetch(client, field, plain):
            yield fill(client, product, given={field["id"]: option})


def paid(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    response = client.call("POST", "/v2/topup", body)
    assert response.status == 200, (body, response.body)
    data: dict[str, Any] = response.data
    return data


def exact(value: Any) -> Decimal:
    return Decimal(str(value))


@pytest.mark.parametrize("code", PRODUCTS)
def test_every_product_is_paid_from_catalog_and_options_alone(
    client: Client, products: dict[str, Any], code: str
) -> None:
    product = products[code]
    for number, form in enumerate(every_form(client, product)):
        body = payment(product, form, f"{code}-{number}")
        data = paid(client, body)
        assert (data["status"], data["product"], data["account"]) == ("Accepted", code, body["account"])
        assert exact(data["amount"]) == exact(body["amount"])


@pytest.mark.parametrize("code", PRODUCTS)
def test_the_wallet_is_debited_the_cost_of_an_option(client: Client, products: dict[str, Any], code: str) -> None:
    product = products[code]
    (pricing,) = [field for field in product["fields"] if field["role"] == "pricing"]
    for number, form in enumerate(every_form(client, product)):
        data = paid(client, payment(product, form, f"cost-{code}-{number}"))
        assert exact(data["cost"]) == told_cost(product, exact(data["amount"]))
        if pricing["type"] == "select":
            option = form[pricing["id"]]
            assert exact(data["cost"]) == exact(option["cost"]["amount"])
            assert exact(option["price"]["amount"]) == told_price(product, exact(data["amount"]))
            assert option["has_loss_risk"] == (exact(option["price"]["amount"]) < exact(option["cost"]["amount"]))
        story = client.sim("GET", f"/sandboxes/default/transactions?refid=cost-{code}-{number}").json
        (row,) = story["transactions"]
        whole = client.sim("GET", f"/sandboxes/default/transactions/{row['trxid']}").json
        assert [exact(entry["amount"]) for entry in whole["entries"]] == [-exact(data["cost"])]


@pytest.mark.parametrize("code", ["ELECTRIC", "WATER", "INTERBANK", "STUDENTLOAN", "PARKING"])
@pytest.mark.parametrize("amount", ["10", "33.33", "100.01", "199.99"])
def test_the_cost_of_an_entered_amount_follows_from_the_catalog(
    client: Client, products: dict[str, Any], code: str, amount: str
) -> None:
    if code == "PARKING":
        amount = str(int(Decimal(amount)))  # a number field takes whole ones
    form = fill(client, products[code], given={"amount": amount})
    data = paid(client, payment(products[code], form, f"{code}-of-{amount}"))
    assert exact(data["cost"]) == told_cost(products[code], Decimal(amount))


def told_cost(product: dict[str, Any], amount: Decimal) -> Decimal:
    """SPEC 2.1: a percentage's unit price multiplies the face value, a fixed one is taken off."""
    face = amount * exact(product["denomination_unit_price"])
    pricing = product["pricing"]
    unit_price = Decimal(pricing["unit_price"])
    return cents(face * unit_price if pricing["discount"]["type"] == "percentage" else face - abs(unit_price))


def told_price(product: dict[str, Any], amount: Decimal) -> Decimal:
    """SPEC 2.1: a fixed adjustment is added, a percentage multiplies."""
    face = amount * exact(product["denomination_unit_price"])
    adjustment = product["pricing"]["price_adjustment"]
    if adjustment is None:
        return cents(face)
    value = exact(adjustment["value"])
    return cents(face + value if adjustment["type"] == "fixed" else face * value)


def test_a_loan_is_paid_to_the_account_of_the_chosen_option(client: Client, products: dict[str, Any]) -> None:
    loans = products["STUDENTLOAN"]
    form = fill(client, loans, choose=lambda field, options: options[1])
    body = payment(loans, form, "second-loan")
    assert (body["account"], body["extras"]) == (
        "837465920",
        {"subproduct_code": "SP", "ic_number": "900101145678"},
    )
    assert paid(client, body)["account"] == "837465920"


def test_an_empty_field_is_left_out_of_the_extras(client: Client, products: dict[str, Any]) -> None:
    form = fill(client, products["INTERBANK"], given={"ref2": ""})
    body = payment(products["INTERBANK"], form, "no-ref2")
    assert set(body["extras"]) == {"biller_code", "ic_number"}
    assert paid(client, body)["status"] == "Accepted"


def test_a_client_without_the_version_header_pays_for_products_without_adjustment(client: Client) -> None:
    old = client.call("GET", "/v2/catalog").json["products"]["RELOAD"]
    options = client.call("GET", "/v2/options?product_code=RELOAD&field_id=amount").json["items"]
    body = payment(old, {"phone": "0123456789", "amount": options[1]}, "old-client")
    assert body["amount"] == "10.00"
    assert paid(client, body)["amount"] == 10


def test_the_catalog_and_the_options_have_equal_version_headers(client: Client, products: dict[str, Any]) -> None:
    plan = products["DATA"]["fields"][1]
    assert all("denomination" in option for option in fetch(client, plan, {"phone": "0123456789"}))
    assert products["DATA"]["fulfillment"]["amount"]["path"] == "denomination"
    assert NEW["X-API-Version"] == "2026-09-16"
