"""Many deliveries at once: none is lost, and a dead receiver delays no other."""

from typing import Any

import pytest

from simulator.runtime.clock import wall_clock
from tests.support.client import running
from tests.support.receivers import Receiver, refused_url
from tests.support.webhook_campaign import campaign
from tests.support.webhooks import WEBHOOK, deposit, put


def test_a_receiver_that_fails_often_gets_every_event_or_all_its_attempts() -> None:
    ended = campaign(400)
    assert ended["pending"] == 0
    assert ended["failed"] >= 1
    assert ended["success"] > 300


@pytest.mark.parametrize("kind", ["silent", "refused"])
def test_a_dead_receiver_does_not_hold_up_the_others(kind: str) -> None:
    secret = "c2VjcmV0LW9mLXRoZS1vdGhlcg=="
    resellers: list[Any] = [{"code": "RS002", "api_keys": [{"key": "rk_other", "secret": secret}]}]
    with running({"clock": "real", "resellers": resellers}, wall=wall_clock) as client, refused_url() as refused:
        dead = client.run(Receiver([None]).start())
        good = client.run(Receiver().start())
        try:
            assert put(client, dead.url if kind == "silent" else refused).status == 200
            assert client.call("PUT", WEBHOOK, {"url": good.url}, key="rk_other", secret=secret).status == 200
            for _ in range(50):
                deposit(client)
            for _ in range(10):
                deposit(client, reseller="RS002")
            page = client.sim("GET", "/sandboxes/default/deliveries?reseller=RS002&wait_for=10&timeout=30").json
            assert page["complete"]
            assert len(good.got) == 10
            of_the_dead = client.sim("GET", "/sandboxes/default/deliveries?reseller=RS001&limit=100").json["deliveries"]
            assert [one["state"] for one in of_the_dead] == ["pending"] * 50, "they have not been given up yet"
        finally:
            client.run(dead.stop())
            client.run(good.stop())
