"""`PATCH /_sim/sandboxes/{id}/catalog/products/{code}` and scheduled changes, seen through the reseller API."""

from typing import Any

import pytest

from tests.support.client import Client, Response, running

NEW = {"X-API-Version": "2026-09-16"}
TWO = {
    "resellers": [
        {
            "code": "RS002",
            "email": "other@example.com",
            "balance": "100.00",
            "api_keys": [{"key": "other", "secret": "bm90LWEtc2VjcmV0"}],
        }
    ]
}
OTHER = {"key": "other", "secret": "bm90LWEtc2VjcmV0"}


def patch(client: Client, code: str, body: Any, query: str = "") -> Response:
    return client.sim("PATCH", f"/sandboxes/default/catalog/products/{code}{query}", body)


def catalog(client: Client, **more: str) -> Any:
    return client.call("GET", "/v2/catalog", headers=NEW, **more).json


def prices(client: Client, product: str = "GIFTCARD", **more: str) -> list[str]:
    query = f"product_code={product}&field_id=amount"
    response = client.call("GET", f"/v2/options?{query}", **more)
    return [item["price"]["amount"] for item in response.json["items"]]


def categories(body: Any) -> list[Any]:
    return [category for group in body["tree"]["groups"] for category in group["categories"]]


def test_a_product_changes_for_everybody() -> None:
    with running(TWO) as client:
        before = catalog(client)
        client.advance(60)
        answer = patch(client, "GAME", {"is_active": False, "name": "Dragon Gems"})
        assert (answer.status, answer.json["changed"], answer.json["options"]) == (200, ["is_active"], [])
        assert answer.json["product"]["is_active"] is False
        for credentials in ({}, OTHER):
            after = catalog(client, **credentials)
            assert "GAME" not in after["products"]
            assert {"id": "games", "name": "Games", "product_codes": []} in categories(after)
            assert after["last_updated"] > before["last_updated"]
        assert client.pay("r", 100, "GAME", account="player1").data["remarks"] == "Invalid_Product"
        patch(client, "GAME", {"is_active": True})
        assert catalog(client)["products"]["GAME"]["is_active"] is True
        assert catalog(client)["tree"] == before["tree"]
        assert client.pay("r", 100, "GAME", account="player1").status == 200


def test_last_updated_moves_when_and_only_when_the_catalog_changes() -> None:
    with running() as client:
        first = catalog(client)["last_updated"]
        client.advance(60)
        client.pay()
        assert patch(client, "GAME", {"is_active": True, "note": None, "price_adjustment": None}).json["changed"] == []
        assert catalog(client)["last_updated"] == first
        patch(client, "GAME", {"note": "Half price today"})
        second = catalog(client)["last_updated"]
        assert second > first
        client.advance(60)
        assert catalog(client)["last_updated"] == second
        patch(client, "GAME", {"note": None})
        third = catalog(client)["last_updated"]
        patch(client, "GAME", {"note": "Half price today"})
        assert catalog(client)["last_updated"] > third > second, "it moves though the clock stands still"
        assert catalog(client)["products"]["GAME"]["note"] == "Half price today"


def test_an_overlay_changes_catalog_and_options_of_a_single_reseller() -> None:
    with running(TWO) as client:
        before, theirs = catalog(client), catalog(client, **OTHER)
        assert prices(client) == prices(client, **OTHER) == ["25.75", "51.50", "103.00"]
        client.advance(60)
        body = {"price_adjustment": {"type": "fixed", "value": 2}}
        answer = patch(client, "GIFTCARD", body, "?reseller=RS001")
        assert (answer.status, answer.json["changed"]) == (200, ["price_adjustment"])
        assert patch(client, "WATER", {"is_active": False}, "?reseller=RS001").status == 200
        after = catalog(client)
        assert prices(client) == ["27.00", "52.00", "102.00"]
        assert prices(client, **OTHER) == ["25.75", "51.50", "103.00"]
        assert after["products"]["GIFTCARD"]["pricing"]["price_adjustment"] == {
            "type": "fixed",
            "value": 2,
            "currency": "MYR",
        }
        assert "WATER" not in after["products"]
        assert after["last_updated"] > before["last_updated"]
        assert catalog(client, **OTHER) == theirs
        assert client.pay(product="WATER", account="1234567890").data["remarks"] == "Invalid_Product"
        assert client.pay(product="WATER", account="1234567890", **OTHER).status == 200
        patch(client, "WATER", {"is_active": None}, "?reseller=RS001")
        assert "WATER" in catalog(client)["products"]


def test_overlays_of_the_scenario_show_in_catalog_and_options() -> None:
    overlay = {"GIFTCARD": {"price_adjustment": {"type": "percentage", "value": 0.9}}, "GAME": {"is_active": False}}
    with running({"resellers": [*TWO["resellers"], {"code": "RS001", "catalog": overlay}]}) as client:
        mine = {"key": "test_key_RS001", "secret": "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="}
        body = client.call("GET", "/v2/options?product_code=GIFTCARD&field_id=amount", **mine).json
        assert {item["has_loss_risk"] for item in body["items"]} == {True}
        assert client.call("GET", "/v2/options?product_code=GAME&field_id=pack", **mine).status == 404
        assert client.call("GET", "/v2/options?product_code=GAME&field_id=pack", **OTHER).status == 200
        assert client.call("GET", "/v2/options?product_code=GAME&field_id=pack&include_inactive=true", **mine).json[
            "items"
        ]
        assert "GAME" not in catalog(client, **mine)["products"]
        assert catalog(client, **mine)["products"]["GIFTCARD"]["pricing"]["has_loss_risk"] is True


def test_options_go_off_sale() -> None:
    with running() as client:
        first = catalog(client)["last_updated"]
        answer = patch(client, "DATA", {"options": {"D30": {"is_active": False}, "D15": {"is_active": True}}})
        assert (answer.json["changed"], answer.json["options"]) == ([], ["D30", "D15"])
        query = "product_code=DATA&field_id=plan&account_number=0123456789"
        items = client.call("GET", f"/v2/options?{query}").json["items"]
        assert [item["code"] for item in items] == ["D5", "D10W", "D10M", "D10N", "D50", "D15"]
        assert catalog(client)["last_updated"] >= first
        answer = patch(client, "INTERBANK", {"options": {"1002": {"is_active": False}}})
        assert answer.json["options"] == ["1002"]
        billers = client.call("GET", "/v1/interbank/billers").json["data"]
        assert "1002" not in [biller["biller_code"] for biller in billers]


def test_a_change_stays_in_its_sandbox_and_ends_with_a_reset() -> None:
    with running() as client:
        client.sandbox({"extends": "default"}, "other")
        patch(client, "GAME", {"is_active": False})
        assert "GAME" in client.call("GET", "/v2/catalog", sandbox="other").json["products"]
        client.sim("POST", "/sandboxes/default/reset")
        assert "GAME" in catalog(client)["products"]


def test_a_scenario_schedules_changes() -> None:
    schedule = [
        {"at": "10s", "product": {"code": "GAME", "set": {"is_active": False}}},
        {"at": "20s", "product": {"code": "WATER", "reseller": "RS002", "set": {"is_active": False}}},
        {"at": "30s", "product": {"code": "GAME", "set": {"is_active": False}}},
    ]
    with running(TWO | {"schedule": schedule}) as client:
        first = catalog(client)["last_updated"]
        mine = client.advance(10)["fired"]
        assert [(one["kind"], one["product"], one.get("reseller")) for one in mine] == [("product", "GAME", None)]
        second = catalog(client)
        assert "GAME" not in second["products"]
        assert second["last_updated"] > first
        fired = client.advance(20)["fired"]
        assert [(one["product"], one.get("reseller")) for one in fired] == [("WATER", "RS002"), ("GAME", None)]
        seen = {code: catalog(client, **credentials) for code, credentials in (("RS001", MINE), ("RS002", OTHER))}
        assert "WATER" in seen["RS001"]["products"]
        assert "WATER" not in seen["RS002"]["products"]
        assert seen["RS001"]["last_updated"] == second["last_updated"], "what was so already is no change"
        assert seen["RS002"]["last_updated"] > second["last_updated"]


MINE = {"key": "test_key_RS001", "secret": "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="}
REFUSALS = [
    ("NOTHING", "", {"name": "x"}, 404, "unknown_product"),
    ("GAME", "?reseller=NOBODY", {"is_active": True}, 404, "unknown_reseller"),
    ("GAME", "?reseler=RS001", {"is_active": True}, 400, "bad_request"),
    ("GAME", "", {}, 400, "bad_request"),
    ("GAME", "", [], 400, "bad_request"),
    ("GAME", "", None, 400, "bad_request"),
    ("GAME", "", {"names": "x"}, 400, "bad_scenario"),
    ("GAME", "", {"is_active": "yes"}, 400, "bad_request"),
    ("GAME", "", {"is_active": None}, 400, "bad_scenario"),
    ("GAME", "", {"name": "a\nb"}, 400, "bad_scenario"),
    ("GAME", "", {"price_adjustment": {"type": "percentage", "value": 0}}, 400, "bad_scenario"),
    ("GAME", "", {"price_adjustment": {"type": "fixed"}}, 400, "bad_scenario"),
    ("GAME", "", {"discount": {"type": "percentage", "value": 101}}, 400, "bad_scenario"),
    ("GAME", "", {"options": {"GAME-7": {"is_active": True}}}, 400, "bad_scenario"),
    ("GAME", "", {"name": "x", "options": {"GAME-100": {"label": "x"}}}, 400, "bad_scenario"),
    ("GAME", "?reseller=RS001", {"name": "x"}, 400, "bad_scenario"),
    ("GAME", "?reseller=RS001", {"options": {"GAME-100": {"is_active": False}}}, 400, "bad_scenario"),
]


@pytest.fixture(scope="module")
def untouched() -> Any:
    with running() as client:
        yield client


@pytest.mark.parametrize(("code", "query", "body", "status", "error"), REFUSALS)
def test_a_bad_change_is_refused_whole(
    untouched: Client, code: str, query: str, body: Any, status: int, error: str
) -> None:
    before = untouched.call("GET", "/v2/catalog").json
    answer = patch(untouched, code, body, query)
    assert (answer.status, answer.json["error"]) == (status, error)
    assert untouched.call("GET", "/v2/catalog").json == before


TREE_REFUSALS = [
    ("categories/nothing", {"name": "x"}, 404, "unknown_category"),
    ("groups/games", {"name": "x"}, 404, "unknown_group"),
    ("categories/leisure", {"name": "x"}, 404, "unknown_category"),
    ("categories/games?reseller=RS001", {"name": "x"}, 400, "bad_request"),
    ("categories/games", {}, 400, "bad_request"),
    ("categories/games", [], 400, "bad_request"),
    ("categories/games", None, 400, "bad_request"),
    ("categories/games", {"name": 5}, 400, "bad_request"),
    ("categories/games", {"name": "a\nb"}, 400, "bad_scenario"),
    ("categories/games", {"icon_url": "https://images.example.com/x.png"}, 400, "bad_scenario"),
    ("categories/games", {"product_codes": "GAME"}, 400, "bad_request"),
    ("categories/games", {"product_codes": None}, 400, "bad_request"),
    ("categories/games", {"name": "x", "product_codes": ["GAME", "NOTHING"]}, 400, "bad_scenario"),
    ("categories/games", {"product_codes": ["GAME", "GAME"]}, 400, "bad_scenario"),
    ("categories/games", {"id": "x"}, 400, "bad_scenario"),
    ("groups/leisure", {"icon_url": "images/x.png"}, 400, "bad_scenario"),
    ("groups/leisure", {"categories": []}, 400, "bad_scenario"),
    ("groups/leisure", {"name": None}, 400, "bad_request"),
]


@pytest.mark.parametrize(("path", "body", "status", "error"), TREE_REFUSALS)
def test_a_bad_change_of_the_tree_is_refused_whole(
    untouched: Client, path: str, body: Any, status: int, error: str
) -> None:
    before = untouched.call("GET", "/v2/catalog").json
    answer = untouched.sim("PATCH", f"/sandboxes/default/catalog/{path}", body)
    assert (answer.status, answer.json["error"]) == (status, error)
    assert untouched.call("GET", "/v2/catalog").json == before


def test_a_product_may_leave_every_category_and_stays_on_sale() -> None:
    with running() as client:
        answer = client.sim("PATCH", "/sandboxes/default/catalog/categories/games", {"product_codes": []})
        assert answer.json["changed"] == ["product_codes"]
        assert "GAME" in catalog(client)["products"]
        assert client.pay("r", 100, "GAME", account="player1").status == 200
        client.advance()
        (row,) = client.call("GET", "/v2/transactions?limit=5&date=2026-11-21").json["data"]
        assert row["product_code"] == "GAME"
