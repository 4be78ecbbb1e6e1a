"""`/_sim/sandboxes/{id}/figures`: the numbers of a sandbox agree with its records, in total and per reseller."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import CreatePayment, Credit
from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.domain.model.wallet import EntryType
from simulator.runtime.attempt_log import SentAttempt, by_receiver
from tests.support.client import Client, running

PATH = "/sandboxes/default/figures"
CALLED = {"callback": {"url": "inbox:callbacks"}, "balance_webhook": {"url": "inbox:events"}}
SCENARIO: dict[str, Any] = {
    "payments": [
        {"when": {"account": "0120000001"}, "then": [{"status": "Failed"}]},
        {"when": {"account": "0120000002"}, "then": [{"status": "Processing"}]},
        {"when": {"account": "0120000003"}, "then": [{"status": "Accepted"}]},
        {"when": {"account": "0120000004"}, "then": [{"status": "Accepted"}, {"after": "2s", "status": "Processing"}]},
    ],
    "resellers": [{"code": f"RS00{n}", "balance": "1000.00"} | CALLED for n in (1, 2)],
}


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        yield client


def figures(client: Client, query: str = "") -> Any:
    answer = client.sim("GET", PATH + query)
    assert answer.status == 200, answer.body
    return answer.json


def pay_all(client: Client) -> None:
    for number, last in enumerate("00112344"):
        command = CreatePayment(f"RS00{1 + number % 2}", f"r{number}", "RELOAD", f"012000000{last}", "10")
        client.live.apply_and_record(command)
    client.pay("bill-1", product="ELECTRIC", account="210012345678", amount="100")


@pytest.mark.parametrize("seconds", [0, 2, 5, 100])
@pytest.mark.parametrize("code", [None, "RS001", "RS002"])
def test_payments_are_counted_by_status_and_product(client: Client, code: str | None, seconds: int) -> None:
    pay_all(client)
    client.advance(seconds)
    found = figures(client, f"?reseller={code}" if code else "")
    listed = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
    own = [one for one in listed if code in (None, one["reseller"])]
    statuses = Counter(one["status"] for one in own)
    assert found["transactions"] == len(own)
    assert {name: count for name, count in found["by_status"].items() if count} == statuses
    for one in found["by_product"]:
        of_it = [each for each in own if each["product"] == one["product"]]
        done = [each for each in of_it if each["status"] == "Succesful"]
        assert one["count"] == len(of_it)
        assert (one["succeeded"], one["amount_myr"]) == (len(done), sum(each["amount"] for each in done))
        assert one["failed"] == sum(each["status"] == "Failed" for each in of_it)
    assert {one["product"] for one in found["by_product"]} == {one["product"] for one in own}


def test_a_refund_moves_a_payment_to_its_status(client: Client) -> None:
    client.pay("bill-1", product="ELECTRIC", account="210012345678", amount="100")
    client.advance(until="idle")
    void = {"refid": "bill-1", "refund_type": 1, "user_email": ["a@example.com"]}
    client.call("POST", "/v2/transactions/void", void)
    client.advance(until="idle")
    found = figures(client)
    assert found["by_status"] == {"Accepted": 0, "Processing": 0, "Succesful": 0, "Failed": 0, "Refund": 1}
    [wallet] = [one for one in found["wallets"] if one["reseller"] == "RS001"]
    assert (wallet["balance"], wallet["credited"]) == (1000, wallet["debited"])


def test_callbacks_and_webhooks_are_counted_until_they_end(client: Client) -> None:
    replies = [{"status": 500}, {"status": 400}, {"status": 200}]
    client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": replies})
    client.pay("r1")
    client.live.apply_and_record(Credit("RS002", Decimal(5), "cash", EntryType.DEPOSIT))
    assert figures(client)["webhooks"] == {"delivered": 0, "failed": 0, "pending": 1, "attempts": 0}
    client.advance(2)
    assert figures(client)["callbacks"] == {"delivered": 0, "failed": 0, "pending": 1, "attempts": 1}
    client.advance(until="idle")
    found = figures(client)
    assert found["callbacks"] == {"delivered": 1, "failed": 1, "pending": 0, "attempts": 3}
    assert found["webhooks"] == {"delivered": 1, "failed": 0, "pending": 0, "attempts": 1}
    assert figures(client, "?reseller=RS002")["callbacks"]["attempts"] == 0
    assert figures(client, "?reseller=RS002")["webhooks"]["attempts"] == 1
    receivers = {one["url"]: (one["attempts"], one["answered"]) for one in found["receivers"]}
    assert receivers == {"inbox:callbacks": (3, 3), "inbox:events": (1, 1)}


def test_a_dropped_callback_is_not_counted_and_a_callback_without_a_webhook_fails(client: Client) -> None:
    rule = {
        "when": {"refid": "quiet"},
        "callbacks": {"drop": True},
        "then": [{"status": "Accepted"}, {"after": "2s", "status": "Succesful"}],
    }
    assert client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule}).status == 201
    client.pay("quiet")
    client.live.apply_and_record(Credit("RS001", Decimal(5), "cash", EntryType.DEPOSIT))
    client.call("DELETE", "/v2/balance-webhook")
    client.advance(until="idle")
    found = figures(client)
    assert found["callbacks"] == {"delivered": 0, "failed": 0, "pending": 0, "attempts": 0}
    assert found["webhooks"] == {"delivered": 0, "failed": 1, "pending": 0, "attempts": 0}


def test_requests_are_counted_by_status_and_per_reseller_from_the_journal(client: Client) -> None:
    client.pay("r1")
    client.pay("r2", account="1")
    client.call("GET", "/v2/balance", key="unknown_key")
    wanted = {"total": 3, "refused": 2, "by_status": {"200": 1, "400": 1, "401": 1}, "left_out": 0}
    assert figures(client)["requests"] == wanted
    own = {"total": 2, "refused": 1, "by_status": {"200": 1, "400": 1}, "left_out": 0}
    assert figures(client, "?reseller=RS001")["requests"] == own


def test_a_wallet_is_drawn_from_its_entries(client: Client) -> None:
    pay_all(client)
    client.advance(until="idle")
    for wallet in figures(client)["wallets"]:
        entries = client.sim("GET", f"/sandboxes/default/ledger?reseller={wallet['reseller']}").json["entries"][::-1]
        assert wallet["points"] == [[one["at"], one["balance"]] for one in entries]
        assert wallet["balance"] == entries[-1]["balance"]
        assert 1000 + wallet["credited"] - wallet["debited"] == pytest.approx(wallet["balance"])


def test_only_the_first_wallets_are_drawn(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr("simulator.control.result_endpoints.WALLETS_MAX", 1)
    found = figures(client)
    assert ([one["reseller"] for one in found["wallets"]], found["wallets_left_out"]) == (["RS001"], 1)
    assert [one["reseller"] for one in figures(client, "?reseller=RS002")["wallets"]] == ["RS002"]


def test_times_of_receivers_are_percentiles() -> None:
    request = OutgoingRequest("POST", "a")
    times = [SentAttempt("cb-1", ms, request, "RS001", "a", ms * 1000, is_answered=True) for ms in range(1, 101)]
    slow, fast = by_receiver([*times, SentAttempt("cb-2", 1, request, "RS001", "b", 5_000)])
    assert slow == ("a", 100, 100, 50.0, 95.0, 100.0)
    assert fast == ("b", 1, 0, 5.0, 5.0, 5.0)


@pytest.mark.parametrize("query", ["reseller=RS009", "limit=3"])
def test_an_unknown_query_is_refused(client: Client, query: str) -> None:
    refused = client.sim("GET", f"{PATH}?{query}")
    assert (refused.status, refused.json["path"]) == (400, query.partition("=")[0])


def test_a_wallet_says_when_it_was_created(client: Client) -> None:
    client.advance(3600)
    assert client.sim("POST", "/sandboxes/default/resellers", {"code": "RS009", "balance": "7.00"}).status == 201
    found = figures(client)
    later = client.sim("GET", "/sandboxes/default").json["clock"]["now"]
    created = {one["reseller"]: one["created"] for one in found["wallets"]}
    assert created == {"RS001": found["started"], "RS002": found["started"], "RS009": later}
