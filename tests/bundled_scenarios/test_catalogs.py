"""catalog-changes and version-switch: what clients that keep the catalog have to notice."""

from typing import Any

from tests.support.client import Client, running
from tests.support.play import buy


def products(client: Client) -> Any:
    return client.call("GET", "/v2/catalog").json["products"]


def test_the_catalog_changes_every_hour_and_publishes_it() -> None:
    with running("catalog-changes") as client:
        seen = [client.call("GET", "/v2/catalog").json["last_updated"]]
        whole = products(client)
        for hour in (1, 2, 3, 4):
            client.advance(3600)
            now = products(client)
            seen.append(client.call("GET", "/v2/catalog").json["last_updated"])
            assert ("GAME" in now) is (hour == 4)
            assert ("RELOAD" in now) is (hour != 3)
            if hour >= 2:
                assert now["WATER"]["pricing"]["price_adjustment"]["value"] == 1.5
            if hour == 3:
                assert buy(client)[1].data["remarks"] == "Invalid_Product"
                assert client.pay("d30", 30, "DATA").data["remarks"] == "Invalid_Denomination"
        assert client.pay("d30", 30, "DATA").status == 200
        assert seen == sorted(set(seen))
        assert now.keys() == whole.keys()
        events = [item["json"] for item in client.inbox("catalog")]
        published = [f"{event['type']} {event['data'].get('code') or event['data']['id']}" for event in events]
        games = ["group.updated leisure", "category.updated games", "product.updated GAME"]
        reloads = ["group.updated everyday", "category.updated mobile-reload", "product.updated RELOAD"]
        assert published == [
            *games,
            "product.updated WATER",
            "option.deleted D30",
            *reloads,
            *games,
            "option.created D30",
            *reloads,
        ]
        mine = [name for event, name in zip(events, published, strict=True) if "resellerCode" in event["data"]]
        assert mine == reloads * 2


def test_the_new_shapes_become_the_default_at_midnight() -> None:
    def option(**headers: str) -> Any:
        return client.call("GET", "/v2/options?product_code=RELOAD&field_id=amount", headers=headers).json["items"][0]

    with running("version-switch") as client:
        opted_in = option(**{"X-API-Version": "2026-09-16"})
        assert "denomination" in opted_in
        assert "denomination" not in option()
        assert "subproduct_code" not in products(client)["DATA"]["fulfillment"]["extras"]
        client.advance(59)
        assert "denomination" not in option()
        client.advance(1)
        assert option() == opted_in
        assert "subproduct_code" in products(client)["DATA"]["fulfillment"]["extras"]
