"""`/_sim/sandboxes/{id}/catalog`: the products on sale now, for everybody and per reseller."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running

PATH = "/sandboxes/default/catalog"


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def products(client: Client, query: str = "") -> dict[str, Any]:
    answer = client.sim("GET", PATH + query)
    assert answer.status == 200, answer.body
    return {one["code"]: one for one in answer.json["products"]}


def test_every_product_is_listed_as_the_reseller_api_shows_it(client: Client) -> None:
    found = products(client)
    catalog = client.call("GET", "/v2/catalog?include_inactive=true", headers={"X-API-Version": "2026-09-16"}).json
    listed = {code: one["product"] for code, one in found.items() if not one["is_hidden"]}
    assert listed == catalog["products"]
    places = {
        code: (group["name"], category["name"])
        for group in catalog["tree"]["groups"]
        for category in group["categories"]
        for code in category["product_codes"]
    }
    assert {code: (one["group"], one["category"]) for code, one in found.items() if code in places} == places
    assert list(found) == list(client.live.core.state.catalog.products)


def test_a_row_has_what_a_table_shows(client: Client) -> None:
    row = products(client)["RELOAD"]
    assert {name: value for name, value in row.items() if name not in ("product", "category", "group")} == {
        "code": "RELOAD",
        "name": "Mobile Reload",
        "is_active": True,
        "is_hidden": False,
        "price": 0.975,
        "min": row["min"],
        "max": row["max"],
        "network": "Healthy",
        "overlay": None,
    }
    shared = client.live.core.state.catalog.products["RELOAD"]
    assert (shared.min_amount and float(shared.min_amount.amount)) == row["min"]


def test_changes_are_shown_at_once(client: Client) -> None:
    client.sim("PUT", "/sandboxes/default/network/RELOAD", {"status": "Interruption"})
    client.sim("PATCH", "/sandboxes/default/catalog/products/RELOAD", {"is_active": False, "name": "Gone"})
    row = products(client)["RELOAD"]
    assert (row["network"], row["is_active"], row["name"]) == ("Interruption", False, "Gone")


def test_a_reseller_sees_the_overlay(client: Client) -> None:
    change = {"is_active": False, "price_adjustment": {"type": "fixed", "value": 1.5}}
    patched = client.sim("PATCH", "/sandboxes/default/catalog/products/DATA?reseller=RS001", change)
    assert patched.status == 200, patched.body
    shared, own = products(client)["DATA"], products(client, "?reseller=RS001")["DATA"]
    assert (shared["is_active"], shared["overlay"]) == (True, None)
    assert own["is_active"] is False
    assert own["overlay"] == {
        "is_active": False,
        "price_adjustment": {"type": "fixed", "value": 1.5, "currency": "MYR"},
    }
    assert own["product"] == patched.json["product"]
    assert products(client, "?reseller=RS001")["RELOAD"]["overlay"] is None


def test_a_change_for_all_names_resellers_with_their_own_value_and_null_removes_it(client: Client) -> None:
    path, of_one = "/sandboxes/default/catalog/products/DATA", "?reseller=RS001"
    own = client.sim("PATCH", f"{path}{of_one}", {"is_active": True}).json
    assert (own["changed"], own["kept"]) == ([], [])
    assert own["overlay"] == {"is_active": True, "price_adjustment": None}
    for_all = client.sim("PATCH", path, {"is_active": False}).json
    assert for_all["values"] == {"is_active": {"before": True, "after": False}}
    assert (for_all["kept"], for_all["overlay"]) == (["RS001"], None)
    assert client.sim("PATCH", path, {"note": "new"}).json["kept"] == []
    assert client.sim("PATCH", f"{path}{of_one}", {"is_active": None}).json["overlay"] is None
    assert products(client, of_one)["DATA"]["overlay"] is None
    assert client.sim("PATCH", path, {"is_active": False}).json["kept"] == []


def test_pages_follow_each_other(client: Client) -> None:
    found: list[str] = []
    cursor = "0"
    while cursor is not None:
        page = client.sim("GET", f"{PATH}?limit=3&cursor={cursor}").json
        assert len(page["products"]) <= 3
        found += [one["code"] for one in page["products"]]
        cursor = page["cursor"]
    assert found == list(products(client))


@pytest.mark.parametrize(
    ("query", "path"), [("reseller=RS009", "reseller"), ("active=true", "active"), ("limit=0", "limit")]
)
def test_an_unknown_query_is_refused(client: Client, query: str, path: str) -> None:
    refused = client.sim("GET", f"{PATH}?{query}")
    assert (refused.status, refused.json["path"]) == (400, path)
