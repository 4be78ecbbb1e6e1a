"""Many deliveries at once: none is lost, and a dead receiver delays no other."""

from pathlib import Path
from typing import Any

import pytest

from simulator.runtime.clock import wall_clock
from tests.support.broken_receivers import OK, proof, says
from tests.support.broken_receivers import Receiver as TlsReceiver
from tests.support.client import Client, running
from tests.support.receivers import Receiver, refused_url
from tests.support.webhook_campaign import campaign
from tests.support.webhooks import WEBHOOK, deposit, put

ORDER = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}


def test_a_receiver_that_fails_often_gets_every_event_or_all_its_attempts() -> None:
    ended = campaign(400)
    assert ended["pending"] == 0
    assert ended["failed"] >= 1
    assert ended["success"] > 300


@pytest.mark.parametrize(
    ("accepts", "state", "ending"), [(True, "delivered", "answered"), (False, "pending", "connection")]
)
def test_a_scenario_may_accept_any_certificate_of_a_receiver(
    accepts: bool, state: str, ending: str, tmp_path: Path
) -> None:
    quick = [{"status": "Processing"}, {"after": "1s", "status": "Succesful"}]
    payments = [{"when": {}, "then": quick}]
    scenario = {"clock": "manual", "accept_any_certificate": accepts, "payments": payments}
    probed = []

    async def receive(client: Client) -> None:
        async with TlsReceiver(says(OK), tls=proof(tmp_path)) as receiver:
            url = f"https://127.0.0.1:{receiver.port}/"
            await client.acall("POST", f"/v2/callback-url?url={url}&method=POST")
            await client.acall("POST", "/v2/topup", ORDER)
            await client.asim("POST", "/sandboxes/default/clock/advance", {"seconds": 2})
            wanted = {"probes": ["callback-unknown-refid"]}
            probed.extend((await client.asim("POST", "/sandboxes/default/probes", wanted)).json["probes"])

    with running(scenario, wall=wall_clock) as client:
        client.run(receive(client))
        rows = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
        assert {row["state"] for row in rows} == {state}, rows
        assert [sent["ending"] for probe in probed for sent in probe["requests"]] == [ending], probed


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
