"""`GET /_sim/sandboxes/{id}/audit`: what it is about, what it costs others, and what it does not show."""

import asyncio
from typing import Any

import pytest

from simulator.runtime import traffic_log
from simulator.runtime.attempt_log import SENT_MAX
from tests.support.audited import audit, judged, receiving, violated
from tests.support.client import Client, running


def test_it_is_about_one_sandbox_and_one_life_of_it() -> None:
    with running() as client:
        client.sandbox({"scenario": "other", "extends": "default"}, "other")
        for amount in ("10", "20"):
            client.pay(amount=amount, sandbox="other")
        assert not audit(client, "other")["ok"]
        assert audit(client)["ok"]
        client.sim("POST", "/sandboxes/other/reset")
        states = {one["state"] for one in audit(client, "other")["obligations"]}
    assert states == {"not_exercised"}


def test_records_that_the_logs_evicted_are_not_judged_and_the_report_says_so() -> None:
    with running({"limits": {"journal": 5}}) as client:
        client.pay()
        client.pay(amount="20")
        assert list(violated(client)) == ["refid-keeps-its-order"]
        for _ in range(5):
            client.call("GET", "/v2/balance")
        answer = audit(client)
    assert (answer["ok"], answer["left_out"]) == (True, 2)


def test_evidence_has_the_numbers_of_the_journal() -> None:
    with running() as client:
        client.call("GET", "/v2/balance")
        client.pay()
        client.pay(amount="20")
        numbers = judged(client, "refid-keeps-its-order")["evidence"]
        paths = [client.sim("GET", f"/sandboxes/default/requests/{n}").json["path"] for n in numbers]
    assert (numbers, paths) == ([2, 3], ["/v2/topup"] * 2)


def test_a_request_with_the_credentials_of_another_sandbox_shows_none_of_its_secrets() -> None:
    with running() as client:
        made = client.sandbox({"scenario": "own", "extends": "default"}, "own", unique_credentials=True)
        reseller = made.core.state.resellers["RS001"]
        secret = reseller.keys[0].secret
        body = {"refid": secret, "product": "RELOAD", "account": "0123456789", "amount": "10"}
        for amount in ("10", "20"):
            client.call("POST", "/v2/topup", body | {"amount": amount}, key=reseller.keys[0].key, secret="bm8=")
        answer = client.sim("GET", "/sandboxes/own/audit")
    assert secret.encode() not in answer.body
    assert answer.json["obligations"][0]["state"] == "met"


def test_payments_continue_while_a_sandbox_is_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic_log, "SLICE", 1)
    with running() as client:
        for number in range(10):
            client.pay(f"ref-{number}")
        client.advance(until="idle")
        answer, made = client.run(_while_paying(client))
        assert answer.json["ok"], [one for one in answer.json["obligations"] if one["findings"]]
    assert made == 5


async def _while_paying(client: Client) -> tuple[Any, int]:
    report = asyncio.create_task(client.asim("GET", "/sandboxes/default/audit"))
    await asyncio.sleep(0)
    made = 0
    body = {"product": "RELOAD", "account": "0123456789", "amount": "10"}
    while not report.done() and made < 5:
        assert (await client.acall("POST", "/v2/topup", body | {"refid": f"new-{made}"})).status == 200
        made += 1
        await asyncio.sleep(0)
    return await report, made


def test_probes_are_noted_up_to_a_bound_and_forgotten_by_a_reset() -> None:
    with running({"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]}]}) as client:
        with receiving(client, 200):
            client.pay()
            client.advance(until="idle")
            client.sim("POST", "/sandboxes/default/probes", {"probes": ["callback-wrong-amount", "callback-duplicate"]})
        found = judged(client, "forgeries-refused")
        assert found["findings"] == ["the forgery callback-wrong-amount was answered 200"]
        assert found["log"] == "notifications"
        assert client.live.probes.maxlen == SENT_MAX
        client.sim("POST", "/sandboxes/default/reset")
        assert judged(client, "forgeries-refused")["state"] == "not_exercised"


def test_there_are_no_parameters_and_unknown_sandboxes_are_404() -> None:
    with running() as client:
        assert client.sim("GET", "/sandboxes/default/audit?limit=1").status == 400
        assert client.sim("GET", "/sandboxes/none/audit").status == 404
