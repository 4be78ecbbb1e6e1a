"""bad-day: a client that keeps its refids comes out of it with books that agree to the sen."""

from decimal import Decimal

import pytest

from tests.support.client import Client, running
from tests.support.play import buy


def asked(client: Client, target: str) -> object:
    """The answer to a GET, asked again while the nonce service is down."""
    for _ in range(3):
        answer = client.call("GET", target)
        if answer.status == 200:
            return answer.json
        assert answer.status == 503
    raise AssertionError(target)


@pytest.mark.slow
def test_a_whole_bad_day() -> None:
    with running("bad-day") as client:
        refids = [f"day-{n}" for n in range(60)]
        unheard = 0
        for refid in refids:
            for _ in range(5):
                answer = buy(client, amount="30", refid=refid)[1]
                if answer.status == 200:
                    break
                unheard += 1
                assert answer.status in (0, 504)
            client.advance(60)
        client.advance(6 * 3600)
        assert unheard >= 8
        assert client.live.core.violations() == []
        statuses = [buy(client, amount="30", refid=refid)[1].data["status"] for refid in refids]
        assert set(statuses) == {"Succesful", "Failed"}
        assert statuses.count("Failed") == 12
        heard: dict[str, list[str]] = {refid: [] for refid in refids}
        for item in client.inbox():
            heard[item["json"]["data"]["refid"]].append(item["json"]["data"]["status"])
        assert list(heard.values()).count([]) >= 5
        assert ["Succesful", "Succesful", "Processing", "Processing"] in heard.values()
        paid = statuses.count("Succesful")
        balance = asked(client, "/v2/balance")
        assert isinstance(balance, dict)
        assert Decimal(str(balance["data"]["balance"])) == Decimal(3000) - paid * Decimal("29.25")
        notifications = client.sim("GET", "/sandboxes/default/notifications").json["notifications"]
        assert [one["kind"] for one in notifications][:1] == ["low_balance"]
        assert len(client.inbox("webhooks")) == 1


def test_the_catalog_network_and_voids_have_their_bad_hours_too() -> None:
    with running("bad-day") as client:
        client.advance(3 * 3600)
        catalog = asked(client, "/v2/catalog")
        network = asked(client, "/v2/networkstatus?product=WATER")
        assert isinstance(catalog, dict)
        assert isinstance(network, dict)
        assert "GAME" not in catalog["products"]
        assert network["data"]["network_status"] == "Interruption"
        taken = []
        for refid in ("v-1", "v-2"):
            buy(client, "ELECTRIC", refid=refid)
            client.advance(60)
            body = {"refid": refid, "refund_type": 1}
            taken.append(client.call("POST", "/v2/transactions/void", body).data["status"])
        assert taken == ["Success", "Failed"]
