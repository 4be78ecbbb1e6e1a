"""`POST /v2/low-balance-threshold` and its alerts (SPEC 2.9, 4.16)."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running

SCENARIO: dict[str, Any] = {
    "clock": {"mode": "manual", "start": "2026-11-20T23:59:50+08:00"},
    "resellers": [{"code": "RS001", "balance": "100.00", "email": "owner@example.com"}],
    "payments": [
        {"when": {"account": {"suffix": "48"}}, "then": [{"status": "Accepted"}, {"after": "1s", "status": "Failed"}]}
    ],
}


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        yield client


def set_threshold(client: Client, amount: str) -> Any:
    return client.call("POST", f"/v2/low-balance-threshold?amount={amount}")


def alerts(client: Client) -> list[Any]:
    rows: list[Any] = client.sim("GET", "/sandboxes/default/notifications?kind=low_balance").json["notifications"]
    return rows


def deposit(client: Client, amount: str) -> None:
    assert client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": amount}).status == 201


def threshold_of(client: Client) -> Any:
    return client.sim("GET", "/sandboxes/default").json["resellers"][0]["low_balance_threshold"]


def test_the_answer_has_its_own_wrapper_and_timestamp(client: Client) -> None:
    assert threshold_of(client) is None
    answer = set_threshold(client, "95.50")
    assert answer.status == 200
    assert answer.json == {
        "data": {
            "Status": "Success",
            "Email": "owner@example.com",
            "BalanceThreshold": 95.5,
            "Note": answer.data["Note"],
        },
        "@metadata": {"status_code": 200, "last_updated": "2026-11-20 23:59:50"},
    }
    assert "95.50" in answer.data["Note"]
    assert threshold_of(client) == 95.5


def test_an_alert_says_who_what_and_when(client: Client) -> None:
    set_threshold(client, "95.50")
    client.advance(5)
    client.pay(amount="10")
    (alert,) = alerts(client)
    balance = client.call("GET", "/v2/balance").data["balance"]
    assert (alert["reseller"], alert["to"], alert["at"]) == (
        "RS001",
        ["owner@example.com"],
        "2026-11-20T15:59:55.000000Z",
    )
    assert f"{balance:.2f}" in alert["text"]
    assert "95.50" in alert["text"]


def test_there_is_one_alert_each_time_the_balance_falls_below(client: Client) -> None:
    set_threshold(client, "80")
    counts = []
    for act in (
        lambda: client.pay("one", "10"),  # about 90: not below
        lambda: client.pay("two", "20"),  # below
        lambda: client.pay("three", "10"),  # still below
        lambda: deposit(client, "1"),  # still below
        lambda: deposit(client, "100"),  # above: armed again
        lambda: client.pay("four", "50"),  # above
        lambda: client.pay("five", "50"),  # below again
    ):
        act()
        counts.append(len(alerts(client)))
    assert counts == [0, 1, 1, 1, 1, 1, 2]


def test_a_balance_at_the_threshold_is_not_below_it(client: Client) -> None:
    cost = client.pay("one", "10").data["cost"]
    set_threshold(client, f"{100 - 2 * cost:.2f}")
    client.pay("two", "10")
    assert alerts(client) == []
    client.pay("three", "10")
    assert len(alerts(client)) == 1


def test_a_refund_arms_the_alert_again(client: Client) -> None:
    set_threshold(client, "95")
    client.pay("one", "10", account="0123456748")
    client.advance(2)
    client.pay("two", "10", account="0123456748")
    assert len(alerts(client)) == 2


def test_a_threshold_above_the_balance_waits_until_it_falls_again(client: Client) -> None:
    set_threshold(client, "500")
    client.pay(amount="10")
    assert alerts(client) == []
    deposit(client, "1000")
    client.pay("two", "100")
    for number in range(6):
        client.pay(f"more-{number}", "100")
    assert len(alerts(client)) == 1


@pytest.mark.parametrize(("choice", "count"), [("silent", 0), ("alert", 1)])
def test_whether_setting_it_above_the_balance_alerts_is_assumed(choice: str, count: int) -> None:
    with running(SCENARIO | {"assume": {"low-balance-at-setting": choice}}) as client:
        set_threshold(client, "500")
        assert len(alerts(client)) == count


def test_a_scenario_may_bring_the_threshold() -> None:
    start = SCENARIO["resellers"][0] | {"low_balance_threshold": "95"}
    with running(SCENARIO | {"resellers": [start]}) as client:
        assert threshold_of(client) == 95
        client.pay(amount="10")
        assert len(alerts(client)) == 1
        client.sim("POST", "/sandboxes/default/reset")
        assert (alerts(client), threshold_of(client)) == ([], 95)


def test_a_reseller_may_be_added_with_its_threshold(client: Client) -> None:
    body = {"code": "R2", "balance": "20", "low_balance_threshold": "15.5", "email": "two@example.com"}
    made = client.sim("POST", "/sandboxes/default/resellers", body).json
    assert made["low_balance_threshold"] == 15.5
    client.pay(amount="10", key=made["api_key"], secret=made["api_secret"])
    (alert,) = alerts(client)
    assert (alert["reseller"], alert["to"]) == ("R2", ["two@example.com"])


def test_alerts_can_be_waited_for(client: Client) -> None:
    async def both() -> Any:
        target = "/sandboxes/default/notifications?wait_for=1&timeout=30"
        waiting = asyncio.create_task(client.asim("GET", target))
        await asyncio.sleep(0)
        await client.acall("POST", "/v2/low-balance-threshold?amount=95")
        body = {"refid": "ref-1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        await client.acall("POST", "/v2/topup", body)
        return await asyncio.wait_for(waiting, 60)

    answer = client.run(both())
    assert (len(answer.json["notifications"]), answer.json["complete"]) == (1, True)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?amount=",
        "?amount=0",
        "?amount=0.99",
        "?amount=-5",
        "?amount=5.001",
        "?amount=1,000",
        "?amount=NaN",
        "?amount=ten",
        "?amount=1%200",
        "?amount=" + "9" * 16,
        "?amount=1&amount=2",
        "?amount=%D9%A1",
        "?amount=5." + "0" * 99,
    ],
)
def test_an_amount_below_one_or_no_amount_is_refused(client: Client, query: str) -> None:
    answer = client.call("POST", f"/v2/low-balance-threshold{query}")
    assert answer.status == 400
    assert list(answer.json["errors"]) == ["amount"]
    if query.count("amount") == 1:
        wanted = "must be an amount in RM of at least 1, with at most 15 digits, two decimals and 100 characters in all"
        assert wanted in answer.headers["x-sim-diagnosis"] or query == ""
    assert threshold_of(client) is None


def test_the_amount_belongs_into_the_query(client: Client) -> None:
    answer = client.call("POST", "/v2/low-balance-threshold", {"amount": "10"})
    assert answer.status == 400
    assert "query" in answer.headers["x-sim-diagnosis"]


def test_the_smallest_threshold_is_1(client: Client) -> None:
    assert set_threshold(client, "1").data["BalanceThreshold"] == 1
    assert set_threshold(client, "0001.00").data["BalanceThreshold"] == 1


def test_there_is_no_get_form(client: Client) -> None:
    answer = client.call("GET", "/v2/low-balance-threshold")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("amount", ["0.5", 0, -1, "1.001", "much"])
def test_a_scenario_with_a_bad_threshold_is_refused(client: Client, amount: Any) -> None:
    body = {"scenario": {"scenario": "x", "resellers": [{"code": "A", "low_balance_threshold": amount}]}}
    answer = client.sim("POST", "/sandboxes", body)
    assert answer.status == 400
    assert answer.json["problems"][0]["path"] == "resellers[0].low_balance_threshold"
