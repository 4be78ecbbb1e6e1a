"""Catalog change events reach the scenario's target when a product changes, now or on schedule (SPEC 6.4)."""

from typing import Any

from standardwebhooks import Webhook

from simulator.contract.validator import validator
from simulator.runtime.clock import wall_clock
from tests.support.client import Client, running
from tests.support.webhooks import (
    answering,
    deposit,
    listed,
    put,
)

SECRET = "5e" * 32
TARGET = {"webhooks": {"catalog": {"url": "inbox:catalog", "secret": SECRET}}}


def change(client: Client, code: str, query: str = "", **wanted: Any) -> Any:
    answer = client.sim("PATCH", f"/sandboxes/default/catalog/products/{code}{query}", wanted)
    assert answer.status == 200, answer.body
    return answer.json


def published(client: Client) -> list[str]:
    events = [item["json"] for item in client.inbox("catalog")]
    for event in events:
        assert validator("catalog-event").problems(event) == {}
    return [f"{event['type']} {event['data'].get('code') or event['data']['id']}" for event in events]


LEAVES = ["group.updated leisure", "category.updated games", "product.updated GAME"]


def test_a_product_that_changes_is_published_signed() -> None:
    with running(TARGET, wall=wall_clock) as client:
        change(client, "GAME", is_active=False)
        done = client.advance()
        *of_tree, item = client.inbox("catalog")
        assert [one["json"]["type"] for one in of_tree] == ["group.updated", "category.updated"]
        event = Webhook(bytes.fromhex(SECRET)).verify(item["body"], dict(item["headers"]))
        assert (event["type"], event["data"]["code"], event["data"]["is_active"]) == ("product.updated", "GAME", False)
        shown = client.call("GET", "/v2/catalog?include_inactive=true").json
        assert event["data"] == shown["products"]["GAME"]
        fired = done["fired"][-1]
        assert (fired["kind"], fired["type"], fired["reseller"]) == ("webhook", "product.updated", "")


def test_only_the_changed_options_are_published_singly() -> None:
    with running(TARGET) as client:
        product = client.live.core.state.catalog.products["RELOAD"]
        (options,) = product.options.values()
        first, second = options[0].code, options[1].code
        change(client, "RELOAD", options={first: {"is_active": False}, second: {"is_active": True}})
        change(client, "RELOAD", options={first: {"is_active": False}})
        change(client, "RELOAD", name=product.name)
        client.advance()
        assert published(client) == [f"option.deleted {first}"]
        change(client, "RELOAD", name="Other", options={first: {"is_active": True}})
        client.advance()
        assert published(client)[1:] == ["product.updated RELOAD", f"option.created {first}"]


def test_a_scheduled_change_is_published_when_it_happens() -> None:
    schedule = [{"at": "1h", "product": {"code": "GAME", "set": {"is_active": False}}}]
    with running(TARGET | {"schedule": schedule}) as client:
        client.advance(3599)
        assert published(client) == []
        done = client.advance(1)
        assert [fired["kind"] for fired in done["fired"]] == ["product", *["webhook"] * 3]
        assert published(client) == LEAVES


def test_a_change_for_a_single_reseller_is_published_as_that_reseller_sees_it() -> None:
    with running(TARGET) as client:
        change(client, "GAME", "?reseller=RS001", is_active=False)
        change(client, "GAME", "?reseller=RS001", is_active=False)
        change(client, "GAME", name="Other")
        client.advance()
        assert published(client) == [*LEAVES, "product.updated GAME"]
        *of_tree, mine, shared = (item["json"]["data"] for item in client.inbox("catalog"))
        assert [(one["id"], one["resellerCode"]) for one in of_tree] == [("leisure", "RS001"), ("games", "RS001")]
        assert of_tree[1]["product_codes"] == []
        assert (mine["resellerCode"], mine["is_active"]) == ("RS001", False)
        assert "resellerCode" not in shared
        assert shared["is_active"] is True


def test_overlays_are_not_published_when_the_scenario_says_so() -> None:
    with running(TARGET | {"assume": {"catalog-overlay-events": "not_published"}}) as client:
        change(client, "GAME", "?reseller=RS001", is_active=False)
        client.advance()
        assert published(client) == []


def in_tree(client: Client, path: str, **wanted: Any) -> Any:
    answer = client.sim("PATCH", f"/sandboxes/default/catalog/{path}", wanted)
    assert answer.status == 200, answer.body
    return answer.json


def test_categories_and_groups_that_change_are_published() -> None:
    with running(TARGET) as client:
        first = client.call("GET", "/v2/catalog").json["last_updated"]
        answer = in_tree(client, "categories/games", name="Play", product_codes=["GAME", "VOUCHER"])
        category = {"id": "games", "name": "Play", "product_codes": ["GAME", "VOUCHER"]}
        assert (answer["changed"], answer["category"]) == (["name", "product_codes"], category)
        answer = in_tree(client, "groups/leisure", icon_url="https://images.example.com/fun.png")
        assert answer["changed"] == ["icon_url"]
        in_tree(client, "groups/leisure", name="Leisure")
        client.advance()
        events = [item["json"] for item in client.inbox("catalog")]
        types = [event["type"] for event in events]
        assert types == ["group.updated", "category.updated", "group.updated"], "a group changes with its categories"
        catalog = client.call("GET", "/v2/catalog").json
        assert catalog["last_updated"] > first
        (group,) = (one for one in catalog["tree"]["groups"] if one["id"] == "leisure")
        assert events[1]["data"] == category == group["categories"][0]
        assert events[2]["data"] == answer["group"] == group
        assert not [event for event in events if validator("catalog-event").problems(event)]


def test_a_scheduled_change_of_a_category_or_group_is_published_when_it_happens() -> None:
    schedule = [
        {"at": "10s", "category": {"id": "games", "set": {"name": "Play"}}},
        {"at": "20s", "group": {"id": "leisure", "set": {"name": "Fun"}}},
    ]
    with running(TARGET | {"schedule": schedule}) as client:
        done = client.advance(10)["fired"]
        assert [(one["kind"], one.get("category")) for one in done[:1]] == [("category", "games")]
        assert [one["type"] for one in done[1:]] == ["group.updated", "category.updated"]
        done = client.advance(10)["fired"]
        assert [(one["kind"], one.get("group"), one.get("type")) for one in done] == [
            ("group", "leisure", None),
            ("webhook", None, "group.updated"),
        ]
        assert client.inbox("catalog")[-1]["json"]["data"]["name"] == "Fun"


def test_catalog_events_are_retried_and_replayed_but_belong_to_no_reseller() -> None:
    with running(TARGET) as client:
        put(client)
        answering(client, 500, inbox="catalog")
        change(client, "GAME", note="New")
        deposit(client)
        client.advance()
        assert [row["payload"]["type"] for row in listed(client)] == ["balance.added"]
        path = "/sandboxes/default/deliveries"
        (job,) = client.sim("GET", f"{path}?state=failed").json["deliveries"]
        assert (job["type"], job["reseller"], len(job["attempts"])) == ("product.updated", "", 4)
        assert client.call("POST", f"/v2/balance-webhook/deliveries/{job['id']}/replay").status == 404
        answering(client, 200, inbox="catalog")
        assert client.sim("POST", f"{path}/{job['id']}/replay").status == 201
        client.advance()
        assert client.sim("GET", f"{path}?event={job['event_id']}&state=success").json["deliveries"]


def test_no_event_is_published_without_a_target() -> None:
    with running() as client:
        change(client, "GAME", is_active=False)
        client.advance()
        assert client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"] == []


LOSING = {"catalog": {"products": [{"code": "GAME", "price_adjustment": {"type": "fixed", "value": "-1.00"}}]}}


def test_a_change_of_prices_is_published_for_the_product_and_for_each_option() -> None:
    with running(TARGET) as client:
        change(client, "GIFTCARD", price_adjustment={"type": "fixed", "value": 1})
        client.advance()
        updated = [f"option.updated GIFTCARD-{n}" for n in (25, 50, 100)]
        assert published(client) == ["product.updated GIFTCARD", *updated]
        shown = client.call("GET", "/v2/options?product_code=GIFTCARD&field_id=amount").json["items"]
        sent = [item["json"]["data"] for item in client.inbox("catalog")][1:]
        about = {"product_code": "GIFTCARD", "field_id": "amount"}
        assert sent == [about | item for item in shown]


def test_prices_of_a_single_reseller_are_published_with_its_code() -> None:
    with running(TARGET) as client:
        change(client, "GIFTCARD", "?reseller=RS001", price_adjustment={"type": "fixed", "value": 1})
        client.advance()
        assert published(client)[1:] == [f"option.updated GIFTCARD-{n}" for n in (25, 50, 100)]
        assert {item["json"]["data"]["resellerCode"] for item in client.inbox("catalog")} == {"RS001"}


def test_a_loss_risk_that_ends_with_a_plan_is_published_for_the_product_to_those_affected() -> None:
    """At 1.00 less, 100 gems are sold for 3.50 and cost 4.23; 500 and 1000 are no loss."""
    overlay = {"catalog": {"GAME": {"price_adjustment": {"type": "fixed", "value": -1}}}}
    for world, whose in ((LOSING, None), ({"resellers": [{"code": "RS001", **overlay}]}, "RS001")):
        with running(TARGET | world) as client:
            for is_active, kind in ((False, "deleted"), (True, "created")):
                change(client, "GAME", options={"GAME-100": {"is_active": is_active}})
                client.advance()
                risk = client.call("GET", "/v2/catalog").json["products"]["GAME"]["pricing"]["has_loss_risk"]
                events = [item["json"] for item in client.inbox("catalog")][-2:]
                assert sorted(event["type"] for event in events) == [f"option.{kind}", "product.updated"]
                (product,) = (event["data"] for event in events if event["type"] == "product.updated")
                assert (product["pricing"]["has_loss_risk"], product.get("resellerCode")) == (risk, whose)
                assert risk is is_active


def test_a_mapping_of_the_amount_that_changes_with_the_options_is_published() -> None:
    plans = {"catalog": {"products": [{"code": "DATA", "price_adjustment": None}]}}
    with running(TARGET | plans) as client:
        change(client, "DATA", options={"D10M": {"is_active": False}})
        change(client, "DATA", options={"D10N": {"is_active": False}})
        client.advance()
        (product,) = (item["json"] for item in client.inbox("catalog") if item["json"]["type"] == "product.updated")
        assert product["data"]["fulfillment"]["amount"] == {"from_field": "plan", "path": "price.amount"}


def test_events_have_the_shape_that_is_the_default_then_and_keep_it() -> None:
    def path(event: Any) -> str | None:
        amount = event["data"]["fulfillment"]["amount"]
        return amount and str(amount["path"])

    clock = {"clock": {"mode": "manual", "start": "2027-01-10T23:00:00+08:00"}}
    with running(TARGET | clock) as client:
        change(client, "GAME", note="One")
        client.advance()
        client.advance(to="2027-01-11T00:00:00+08:00")
        change(client, "GAME", note="Two")
        client.advance()
        assert [path(item["json"]) for item in client.inbox("catalog")] == [None, "denomination"]
        assert published(client) == ["product.updated GAME"] * 2, "the switch itself is no event"
        first = client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"][-1]
        assert first["type"] == "product.updated"
    with running(TARGET | {"assume": {"catalog-event-version": "newest"}}) as client:
        change(client, "GAME", note="One")
        client.advance()
        assert path(client.inbox("catalog")[0]["json"]) == "denomination"


def test_a_tree_that_names_every_product_does_not_change_with_them() -> None:
    with running(TARGET | {"assume": {"tree-products": "whole"}}) as client:
        change(client, "GAME", is_active=False)
        client.advance()
        assert published(client) == ["product.updated GAME"]


def test_a_tree_that_changes_for_a_single_reseller_is_published_with_its_code() -> None:
    """RETIRED is on sale for this reseller alone, so that no other reseller sees it enter a category."""
    own = {"resellers": [{"code": "RS001", "catalog": {"RETIRED": {"is_active": True}}}]}
    with running(TARGET | own) as client:
        in_tree(client, "categories/games", product_codes=["GAME", "RETIRED"])
        client.advance()
        assert published(client) == ["group.updated leisure", "category.updated games"]
        assert [item["json"]["data"]["resellerCode"] for item in client.inbox("catalog")] == ["RS001"] * 2
        shown = client.call("GET", "/v2/catalog").json["tree"]["groups"]
        (games,) = (one for group in shown for one in group["categories"] if one["id"] == "games")
        assert client.inbox("catalog")[1]["json"]["data"] == games | {"resellerCode": "RS001"}
