"""The rules of payments, voids, disputes and bills count per account, reseller, API key and client address."""

from typing import Any

import pytest

from tests.support.cases import CHECK, VOID
from tests.support.client import Client, running
from tests.support.replaying import assert_replays
from tests.support.tokens import login, pay_by_token

SECRET = "bm90LWEtc2VjcmV0LWF0LWFsbA=="
RESELLERS = [
    {"code": "RS001", "api_keys": [{"key": "second", "secret": SECRET}]},
    {"code": "RS002", "balance": "5000.00", "api_keys": [{"key": "other", "secret": SECRET}]},
]
NEAR: dict[str, Any] = {"headers": {"x-forwarded-for": "203.0.113.1"}}
FAR: dict[str, Any] = {"headers": {"x-forwarded-for": "203.0.113.2"}}
REFUSED: dict[str, Any] = {
    "payments": {"refuse": "Invalid_Account"},
    "voids": {"status": "Failed"},
    "disputes": {"status": "Failed"},
    "bills": {"error": "invalid_account"},
}
# Two clients that differ in the value.
CLIENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "account": ({"account": "210012345671"}, {"account": "210012345672"}),
    "reseller": ({}, {"key": "other", "secret": SECRET}),
    "key": ({}, {"key": "second", "secret": SECRET}),
    "address": (NEAR, FAR),
}
ORDER = (0, 0, 1, 0, 1, 1)  # which of the two sends each request
COUNTS = [("times", [0, 2]), ("nth", [1, 4]), ("every", [1, 4])]  # and which of these the rule of N = 1 or 2 refuses


def is_refused(client: Client, section: str, number: int, account: str = "210012345671", **sent: Any) -> bool:
    """Return whether the rule of a section refuses a request; a case is about a payment of the same client."""
    if section == "bills":
        return client.call("GET", f"/v2/bill-presentment?product=ELECTRIC&account={account}", **sent).status == 400
    paid = client.pay(f"r-{number}", product="ELECTRIC", account=account, **sent)
    if section == "payments":
        return paid.status == 400
    assert paid.status == 200, paid.body
    path, more = (VOID, {"refund_type": 1}) if section == "voids" else (CHECK, {})
    status: str = client.call("POST", path, {"refid": f"r-{number}", **more}, **sent).data["status"]
    return status == "Failed"


def scenario(**sections: Any) -> dict[str, Any]:
    paid = [{"fallback": True, "then": [{"status": "Succesful"}]}]
    return {"resellers": RESELLERS, **sections, "payments": [*sections.get("payments", []), *paid]}


@pytest.mark.parametrize("per", CLIENTS)
@pytest.mark.parametrize("section", REFUSED)
def test_a_rule_counts_the_requests_of_each_value(section: str, per: str) -> None:
    rule = {"every": 2, "per": per, "then": REFUSED[section]}
    with running(scenario(**{section: [rule]}), trust_forwarded=True) as client:
        answers = [is_refused(client, section, place, **CLIENTS[per][whose]) for place, whose in enumerate(ORDER)]
        assert [place for place, refused in enumerate(answers) if refused] == [1, 4]


@pytest.mark.parametrize("per", ["key", "address"])
@pytest.mark.parametrize(("count", "expected"), COUNTS)
def test_each_kind_of_count_is_one_of_each_value(count: str, expected: list[int], per: str) -> None:
    rule = {"when": {count: 1 if count == "times" else 2, "per": per}, "then": REFUSED["payments"]}
    with running(scenario(payments=[rule]), trust_forwarded=True) as client:
        answers = [is_refused(client, "payments", place, **CLIENTS[per][whose]) for place, whose in enumerate(ORDER)]
        assert [place for place, refused in enumerate(answers) if refused] == expected


@pytest.mark.parametrize(("per", "expected"), [("key", [200, 200, 400]), ("address", [400, 200, 200])])
def test_a_bearer_token_has_an_address_and_no_key(per: str, expected: list[int]) -> None:
    rule = {"times": 1, "per": per, "then": REFUSED["payments"]}
    with running(scenario(payments=[rule])) as client:
        token = login(client)["IdToken"]
        answers = [pay_by_token(client, token, "a"), pay_by_token(client, token, "b"), client.pay("c")]
        assert [answer.status for answer in answers] == expected


def test_forwarded_addresses_count_only_where_they_are_trusted() -> None:
    rule = {"times": 1, "per": "address", "then": REFUSED["payments"]}
    with running(scenario(payments=[rule])) as client:
        assert [client.pay("a", **NEAR).status, client.pay("b", **FAR).status] == [400, 200]


@pytest.mark.parametrize("per", ["key", "address"])
def test_the_next_look_up_of_the_client_shows_the_outstanding_amount(per: str) -> None:
    small = {"nth": 1, "per": per, "then": {"bill": {"Outstanding": 5}}}
    above = {"when": {"amount": {"more_than": "outstanding"}}, "then": {"refuse": "Invalid_Denomination"}}
    with running(scenario(bills=[small], payments=[above]), trust_forwarded=True) as client:
        first, second = CLIENTS[per]
        assert is_refused(client, "payments", 1, **first)
        assert not is_refused(client, "bills", 2, **first), "its look-up is answered, and counted"
        assert not is_refused(client, "payments", 3, **first)
        assert is_refused(client, "payments", 4, **second)


@pytest.mark.parametrize("per", ["key", "address"])
def test_counts_per_client_replay_with_and_without_secrets(per: str) -> None:
    sections = {section: [{"every": 2, "per": per, "then": then}] for section, then in REFUSED.items()}
    with running(scenario(**sections), trust_forwarded=True) as client:
        for place, whose in enumerate(ORDER):
            is_refused(client, "payments", place, **CLIENTS[per][whose])
            is_refused(client, "bills", place, **CLIENTS[per][whose])
            client.call("POST", CHECK, {"refid": f"r-{place}"}, **CLIENTS[per][whose])
            client.call("POST", VOID, {"refid": f"r-{place}", "refund_type": 1}, **CLIENTS[per][whose])
        rules = client.sim("GET", "/sandboxes/default/rules").json["rules"]
        chosen = {row["id"]: row["chosen"] for row in rules if row["id"].endswith("s-1")}
        assert [chosen[f"{section}-1"] > 0 for section in REFUSED] == [True] * 4
        assert_replays(client.app)
