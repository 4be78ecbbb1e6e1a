"""`GET /v2/catalog`: its products by filter, API version and reseller."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.api import catalog_endpoints
from tests.support.client import Client, running

NEW = {"X-API-Version": "2026-09-16"}
CODES = {
    "RELOAD", "DATA", "ELECTRIC", "WATER", "INTERBANK", "STUDENTLOAN", "PARKING", "GAME", "GIFTCARD", "VOUCHER", "ESIM",
    "ABROAD", "FP",
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def catalog(client: Client, query: str = "", headers: dict[str, str] | None = None, **more: Any) -> Any:
    response = client.call("GET", f"/v2/catalog{'?' if query else ''}{query}", headers=headers, **more)
    assert response.status == 200, response.body
    return response.json


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", CODES),
        ("is_active=true", CODES),
        ("is_active=false", {"RETIRED"}),
        ("include_inactive=true", CODES | {"RETIRED"}),
        ("include_inactive=TRUE&is_active=false", CODES | {"RETIRED"}),
        ("include_inactive=true&is_active=true", CODES | {"RETIRED"}),
        ("include_inactive=false&is_active=false", {"RETIRED"}),
        ("product_code=DATA", {"DATA"}),
        ("product_code=RETIRED", set()),
        ("product_code=RETIRED&include_inactive=true", {"RETIRED"}),
        ("product_code=DATA&is_active=false", set()),
        ("product_code=data", set()),
        ("product_code=NOTHING", set()),
        ("product_code=", CODES),
    ],
)
def test_filters_leave_products_and_the_tree_of_them(client: Client, query: str, expected: set[str]) -> None:
    body = catalog(client, query)
    assert set(body["products"]) == expected
    assert all(code == product["code"] for code, product in body["products"].items())
    preserved = in_tree(catalog(client, query.partition("&")[2] if "product_code" in query else query))
    assert in_tree(body) == (expected or preserved)
    assert skeleton(body) == skeleton(catalog(client))


def in_tree(body: Any) -> set[str]:
    return {code for group in body["tree"]["groups"] for one in group["categories"] for code in one["product_codes"]}


def skeleton(body: Any) -> Any:
    return [[group["id"], *[one["id"] for one in group["categories"]]] for group in body["tree"]["groups"]]


def test_an_unknown_product_code_preserves_the_tree(client: Client) -> None:
    for code in ("NOTHING", "RETIRED", "data"):
        body = catalog(client, f"product_code={code}")
        assert body["products"] == {}
        assert body["tree"] == catalog(client)["tree"]


def test_the_tree_may_name_every_product_of_the_scenario() -> None:
    with running({"assume": {"tree-products": "whole"}}) as client:
        assert in_tree(catalog(client)) == in_tree(catalog(client, "product_code=DATA")) == CODES | {"RETIRED"}


def test_the_tree_of_a_reseller_has_no_product_that_it_does_not_sell() -> None:
    own = {"resellers": [{"code": "RS001", "catalog": {"GAME": {"is_active": False}, "RETIRED": {"is_active": True}}}]}
    with running(own) as client:
        body = catalog(client)
        assert in_tree(body) == set(body["products"]) == CODES - {"GAME"} | {"RETIRED"}


def test_the_tree_has_groups_and_categories_in_order(client: Client) -> None:
    groups = catalog(client)["tree"]["groups"]
    assert [group["id"] for group in groups] == ["everyday", "leisure", "travel", "past"]
    assert [shelf["id"] for shelf in groups[0]["categories"]] == ["mobile-reload", "mobile-data", "bills", "parking"]
    assert groups[0]["categories"][2]["product_codes"] == ["ELECTRIC", "WATER", "INTERBANK", "STUDENTLOAN"]


def test_the_default_catalog_shows_every_kind_of_everything(client: Client) -> None:
    products = catalog(client, "include_inactive=true", NEW)["products"].values()
    fields = [field for product in products for field in product["fields"]]
    sources = [field["data_source"] for field in fields if "data_source" in field]
    extras = {name: source for product in products for name, source in product["fulfillment"]["extras"].items()}
    assert {field["type"] for field in fields} == {"text", "number", "select", "money"}
    assert {field["input_mode"] for field in fields} == {"text", "tel", "numeric", "email", "decimal"}
    assert {field["role"] for field in fields} == {"account", "pricing", "none"}
    assert {source["type"] for source in sources} == {"reference", "dynamic"}
    assert all(source["endpoint"] == "/options" for source in sources)
    assert {product["processing_time"] for product in products} == {"instant", "24_hours", "3_days", "link", "pin"}
    assert {product["pricing"]["discount"]["type"] for product in products} == {"percentage", "fixed"}
    adjustments = [product["pricing"]["price_adjustment"] for product in products]
    assert {one and one["type"] for one in adjustments} == {None, "fixed", "percentage"}
    assert [product["code"] for product in products if product["pricing"]["has_loss_risk"]] == ["VOUCHER"]
    assert {product["denomination_currency"] for product in products} == {None, "Gems", "IDR"}
    assert set(extras) == {"ic_number", "biller_code", "ref2", "subproduct_code"}
    assert extras["ref2"]["omit_if_empty"] is True


def test_a_dynamic_field_says_what_to_ask_with(client: Client) -> None:
    plan = catalog(client, "product_code=DATA")["products"]["DATA"]["fields"][1]
    assert plan["data_source"] == {
        "type": "dynamic",
        "endpoint": "/options",
        "depends_on": ["phone"],
        "params": {
            "product_code": {"static": "DATA"},
            "field_id": {"static": "plan"},
            "account_number": {"from_field": "phone"},
        },
    }


def test_a_limit_of_the_product_overrides_the_limit_of_the_field(client: Client) -> None:
    parking = catalog(client, "product_code=PARKING")["products"]["PARKING"]
    assert (parking["min_amount"], parking["max_amount"]) == (None, {"amount": "200.00", "currency": "MYR"})
    assert parking["fields"][1]["validation"] == {"min": 1, "max": 500}
    assert client.pay("a", "200", "PARKING").status == 200
    assert client.pay("b", "201", "PARKING").status == 400


@pytest.mark.parametrize(
    ("version", "path"),
    [
        (None, "price.amount"),
        ("2026-09-15", "price.amount"),
        ("2026-09-16", "denomination"),
        ("2026-09-17", "denomination"),
        ("2026-09-31", "price.amount"),
        ("20260916", "price.amount"),
        ("16-09-2026", "price.amount"),
        ("", "price.amount"),
    ],
)
def test_fulfillment_changes_at_the_version_gate(client: Client, version: str | None, path: str) -> None:
    headers = None if version is None else {"X-API-Version": version}
    products = catalog(client, headers=headers)["products"]
    is_new = path == "denomination"
    assert products["RELOAD"]["fulfillment"]["amount"]["path"] == path
    for code in ("DATA", "GIFTCARD", "GAME"):
        amount = products[code]["fulfillment"]["amount"]
        assert amount["path"] == path if is_new else amount is None
    assert "path" not in products["ELECTRIC"]["fulfillment"]["amount"]
    for code, product in products.items():
        has_code = "subproduct_code" in product["fulfillment"]["extras"]
        assert has_code == (is_new and code in ("DATA", "STUDENTLOAN"))


def test_a_malformed_version_is_noted(client: Client) -> None:
    response = client.call("GET", "/v2/catalog", headers={"X-API-Version": "newest"})
    assert "X-API-Version" in response.headers["x-sim-diagnosis"]


def test_fulfillment_changes_for_everybody_when_the_day_begins() -> None:
    with running({"clock": {"mode": "manual", "start": "2027-01-10T23:59:59+08:00"}}) as client:
        before = catalog(client)
        assert before["products"]["DATA"]["fulfillment"]["amount"] is None
        client.advance(1)
        after = catalog(client)
        assert after["products"]["DATA"]["fulfillment"]["amount"]["path"] == "denomination"
        assert before["last_updated"] < after["last_updated"] == "2027-01-10T16:00:00.000Z"
        client.advance(60)
        assert catalog(client)["last_updated"] == after["last_updated"]
        client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"note": "New"})
        assert catalog(client)["last_updated"] > after["last_updated"]


@pytest.mark.parametrize(
    ("zone", "switch"), [("service", "2027-01-10T16:00:00.000Z"), ("utc", "2027-01-11T00:00:00.000Z")]
)
def test_last_updated_moves_in_the_zone_of_the_switch_for_everybody(zone: str, switch: str) -> None:
    start = {"clock": {"mode": "manual", "start": "2027-01-10T15:00:00Z"}, "assume": {"version-switch-zone": zone}}
    with running(start) as client:
        client.advance(to=switch)
        for headers in (None, NEW):
            assert catalog(client, headers=headers)["last_updated"] == switch
        changed = client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"note": "New"}).json
        assert changed["last_updated"] == catalog(client)["last_updated"].replace("Z", "000Z") > switch
    with running(start | {"clock": {"mode": "manual", "start": "2027-01-12T00:00:00Z"}}) as client:
        assert catalog(client)["last_updated"] == "2027-01-12T00:00:00.000Z"


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("is_active=yes", "is_active"),
        ("include_inactive=0", "include_inactive"),
        ("product_code=A&product_code=B", "product_code"),
        ("product_code=" + "x" * 101, "product_code"),
        ("product_code=%FF", "product_code"),
    ],
)
def test_a_bad_parameter_is_a_400_with_its_name(client: Client, query: str, wrong: str) -> None:
    response = client.call("GET", f"/v2/catalog?{query}")
    assert response.status == 400
    assert set(response.json) == {"message", "errors"}
    assert list(response.json["errors"]) == [wrong]


def test_a_401_has_both_shapes(client: Client) -> None:
    response = client.call("GET", "/v2/catalog", key="nobody")
    assert response.status == 401
    assert response.json["error"] == "invalid_api_key"
    assert response.json["message"]
    assert response.json["metadata"] == {"status_code": "401"}


def test_cached_catalogs_are_bounded_in_bytes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: dict[Any, Any] = {}
    monkeypatch.setattr(catalog_endpoints, "_catalog_bodies", bodies)
    queries = ("", "is_active=false", "include_inactive=true", "product_code=DATA")
    found = [catalog(client, query) for query in queries]
    assert [catalog(client, query) for query in queries] == found
    assert len(bodies) == 3, "a catalog of a single product is not cached"
    monkeypatch.setattr(catalog_endpoints, "CATALOG_BYTES_MAX", sum(len(body) for _, body in bodies.values()))
    assert set(catalog(client, headers=NEW)["products"]) == CODES
    assert len(bodies) == 1, "the fourth replaces all others"
