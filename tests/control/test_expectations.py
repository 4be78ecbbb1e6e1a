"""`/_sim/sandboxes/{id}/expectations`: what the scenario expects, held against what happened."""

import asyncio
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.receivers import refused_url


def verdicts(client: Client, sandbox: str = "default") -> list[Any]:
    answer = client.sim("GET", f"/sandboxes/{sandbox}/expectations")
    assert answer.status == 200, answer.body
    results: list[Any] = answer.json["expectations"]
    assert answer.json["ok"] is all(one["ok"] for one in results)
    return results


def counts(client: Client) -> list[Any]:
    return [one["actual"] for one in verdicts(client)]


def test_a_scenario_that_expects_nothing_is_met() -> None:
    with running() as client:
        assert client.sim("GET", "/sandboxes/default/expectations").json == {"ok": True, "expectations": []}


def test_an_expectation_shows_the_expected_and_the_actual_value() -> None:
    expect = [
        {"name": "paid", "payments": {"product": "RELOAD", "status": "Succesful"}, "count": {"min": 1, "max": 5}},
        {"balance": {"reseller": "RS001", "amount": "5000.00"}},
    ]
    with running({"expect": expect}) as client:
        assert verdicts(client) == [
            {
                "name": "paid", "kind": "payments", "expected": {"min": 1, "max": 5}, "actual": 0, "ok": False,
                "message": "paid: expected 1 to 5, got 0",
            },
            {
                "name": "balance {reseller: RS001, amount: 5000.00}", "kind": "balance", "expected": 5000,
                "actual": 5000, "ok": True,
                "message": "balance {reseller: RS001, amount: 5000.00}: expected 5000.00, got 5000.00",
            },
        ]  # fmt: skip
        client.pay()
        client.advance(until="idle")
        assert [one["ok"] for one in verdicts(client)] == [True, False]


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({}, 5),
        ({"method": "POST", "path": "/v2/topup"}, 3),
        ({"method": "post"}, 3),
        ({"path": "/v2/*", "status": 200}, 3),
        ({"status": [400, 401]}, 2),
        ({"status": {"min": 400}}, 2),
        ({"error": "Invalid_Product"}, 1),
        ({"error": ""}, 3),
        ({"reseller": "RS001"}, 4),
        ({"reseller": ""}, 1),
        ({"refid": {"prefix": "ref"}}, 2),
        ({"refid": "ref-2"}, 1),
        ({"path": "/v2/catalog"}, 0),
    ],
)
def test_calls_are_counted_when_they_are_answered(matcher: dict[str, Any], expected: int) -> None:
    with running({"expect": [{"calls": matcher}], "limits": {"journal": 1}}) as client:
        client.pay()
        client.pay("ref-2")
        client.pay("ref-3", product="NONE")
        client.call("GET", "/v2/balance")
        client.call("GET", "/v2/balance", key="nobody")
        assert counts(client) == [expected]


def test_a_call_that_got_no_answer_has_the_status_0() -> None:
    fault = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "disconnect": True}}
    expect = [{"calls": {"status": 0}}, {"calls": {"status": 200}, "count": 0}, {"payments": {}}]
    with running({"faults": [fault], "expect": expect}) as client:
        client.pay()
        assert counts(client) == [1, 0, 1]


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({}, 3),
        ({"reseller": "RS001"}, 3),
        ({"product": "RELOAD"}, 2),
        ({"account": {"suffix": "0001"}}, 1),
        ({"status": "Failed"}, 1),
        ({"status": "Failed", "statusCode": 48}, 1),
        ({"status": "Refund"}, 1),
        ({"status": {"not": "Failed"}}, 2),
        ({"amount": {"min": 50}}, 1),
        ({"amount": "10.00"}, 2),
        ({"refid": ["ref-1", "ref-9"]}, 1),
    ],
)
def test_payments_are_looked_at_as_they_stand(matcher: dict[str, Any], expected: int) -> None:
    with running({"expect": [{"payments": matcher}]}) as client:
        client.pay()
        client.pay("ref-2", account="0120000001")
        client.pay("ref-3", product="ELECTRIC", account="210012345678", amount="50.00")
        client.advance(until="idle")
        client.call("POST", "/v2/transactions/void", {"refid": "ref-3", "refund_type": 1})
        client.advance(until="idle")
        assert counts(client) == [expected]


def test_callbacks_and_webhooks_count_by_their_state() -> None:
    expect = [
        {"callbacks": {"status": "Succesful", "state": "delivered"}},
        {"callbacks": {"state": "failed"}},
        {"callbacks": {"product": "RELOAD", "status": "Processing"}},
        {"webhooks": {"type": "balance.added", "state": "failed"}},
        {"webhooks": {"state": "pending"}},
        {"outcome": "callback-retried"},
    ]
    with (
        refused_url() as refused,
        running({"expect": expect, "resellers": [{"code": "RS001", "balance_webhook": {"url": refused}}]}) as client,
    ):
        client.pay()
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 5})
        assert counts(client) == [0, 0, 0, 0, 1, 0]
        client.advance(until="idle")
        assert counts(client) == [1, 0, 1, 1, 0, 0]


def test_evicted_records_are_mentioned() -> None:
    with running({"expect": [{"callbacks": {}}], "limits": {"callbacks": 1}}) as client:
        client.pay()
        client.advance(until="idle")
        [one] = verdicts(client)
    assert one["actual"] == 1
    assert "has evicted 1 older" in one["message"]


def test_rules_and_outcomes_count_how_often_they_were_met() -> None:
    expect = [
        {"rule": {"name": "mine"}, "count": 1},
        {"rule": {"name": "payments-1"}, "count": 1},
        {"rule": {"name": "magic-04"}, "count": 1},
        {"outcome": "payment-failed-at-once"},
        {"outcome": "connection-closed"},
    ]
    rules = [{"name": "mine", "when": {"account": "0123456789"}, "then": [{"status": "Failed"}]}]
    with running({"expect": expect, "payments": rules}) as client:
        assert counts(client) == [0, 0, 0, 0, 0]
        client.pay()
        client.pay("ref-2", account="0120000004")
        assert counts(client) == [1, 1, 1, 1, 1]


def test_each_sandbox_counts_its_own_calls_and_a_reset_starts_from_zero() -> None:
    with running({"expect": [{"calls": {}, "count": 1}]}) as client:
        client.sandbox({"scenario": "other", "expect": [{"calls": {}, "count": 0}]}, "other")
        client.call("GET", "/v2/balance")
        assert [one["ok"] for name in ("default", "other") for one in verdicts(client, name)] == [True, True]
        client.sim("POST", "/sandboxes/default/reset")
        assert counts(client) == [0]


@pytest.mark.parametrize(("path", "status"), [("nobody/expectations", 404), ("default/expectations?x=0", 400)])
def test_unknown_parameters_are_refused(path: str, status: int) -> None:
    with running() as client:
        assert client.sim("GET", f"/sandboxes/{path}").status == status


def test_others_have_their_turn_while_many_records_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runtime.expectations.SLICE", 2)
    with running({"expect": [{"payments": {"status": "Accepted"}, "count": 7}]}) as client:
        for number in range(7):
            client.pay(f"r{number}")

        async def turns_of_another() -> int:
            judging, turns = asyncio.ensure_future(client.asim("GET", "/sandboxes/default/expectations")), 0
            while not judging.done():
                await asyncio.sleep(0)
                turns += 1
            assert judging.result().json["ok"]
            return turns

        scanning = client.run(turns_of_another())
        monkeypatch.setattr("simulator.runtime.expectations.SLICE", 100)
        assert scanning == client.run(turns_of_another()) + 7 // 2
