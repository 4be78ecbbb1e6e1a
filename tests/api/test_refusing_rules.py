"""Rules that let no payment be created, and faults that look for new ones."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


REASONS = [
    ("Invalid_Request", 45),
    ("Invalid_Product", 41),
    ("Invalid_Account", 42),
    ("Invalid_Extras", 43),
    ("Invalid_Denomination", 58),
    ("Insufficient_Balance", 40),
    ("Refid_Conflict", 46),
]


@pytest.mark.parametrize(("reason", "code"), REASONS)
def test_a_rule_refuses_for_any_reason(reason: str, code: int) -> None:
    rule = {"name": "no", "when": {"amount": 10}, "times": 1, "then": {"refuse": reason}}
    with running({"payments": [rule]}) as client:
        refused = client.pay()
        assert (refused.status, refused.data["remarks"], refused.data["statusCode"]) == (400, reason, code)
        assert (refused.data["status"], refused.data["productName"]) == ("Failed", "Mobile Reload")
        assert refused.headers["x-sim-rule"] == "no"
        journal = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
        assert (journal[0]["rule"], journal[0]["error"]) == ("no", reason)
        assert not client.live.core.state.resellers["RS001"].refids
        assert client.pay().status == 200, "it acted once"


def test_a_refusal_may_have_words_and_a_code_of_its_own() -> None:
    then = {"refuse": "Invalid_Account", "statusCode": 99, "remarks": "closed since {yesterday}"}
    with running({"payments": [{"then": then}]}) as client:
        refused = client.pay().data
        assert (refused["statusCode"], refused["remarks"]) == (99, "closed since {yesterday}")


def test_a_refusal_does_not_touch_an_existing_payment(client: Client) -> None:
    client.pay("r")
    added = {"section": "payments", "rule": {"when": {}, "then": {"refuse": "Invalid_Account"}}}
    assert client.sim("POST", "/sandboxes/default/rules", added).status == 201
    assert client.pay("r").status == 200
    assert client.pay("new").status == 400


@pytest.mark.parametrize(
    ("when", "creating", "again", "elsewhere"),
    [({"new": True}, 502, 502, 200), ({"new": False}, 200, 502, 200), ({}, 502, 502, 502)],
)
def test_a_fault_distinguishes_new_payments_from_requeries(
    when: dict[str, Any], creating: int, again: int, elsewhere: int
) -> None:
    with running({"faults": [{"when": when, "then": {"status": 502}}]}) as client:
        assert client.pay().status == creating
        assert client.pay().status == again
        assert client.call("GET", "/v2/balance").status == elsewhere


LOST: list[dict[str, Any]] = [{"status": 504}, {"disconnect": True}, {"disconnect": "body"}]


@pytest.mark.parametrize("when", [{"path": "/v2/topup"}, {"product": "RELOAD"}], ids=["early", "by the body"])
@pytest.mark.parametrize("then", LOST, ids=str)
def test_a_fault_after_the_commit_needs_a_commit(when: dict[str, Any], then: dict[str, Any]) -> None:
    with running({"faults": [{"when": when, "then": {**then, "after_commit": True}}]}) as client:
        refused = client.pay(amount="7")
        assert (refused.status, refused.data["statusCode"]) == (400, 58)
        assert refused.data["refid"] == "ref-1", "whole"
        assert client.pay(secret="AAAA").status == 401
        assert not client.live.core.state.transactions
        lost = client.pay()
        assert lost.status == then.get("status", 0)
        assert len(client.live.core.state.transactions) == 1
