"""Conditions of rules: counts per value, parameters of the query, alternatives, outstanding amounts."""

from typing import Any

import pytest

from tests.support.client import Client, compiled, running

FAILED = [{"status": "Failed"}]
SECRET = "bm90LWEtc2VjcmV0LWF0LWFsbA=="
REQUERY = {"method": "POST", "path": "/v2/topup", "new": False}
BILL = {"when": {"product": "ELECTRIC", "account": "210012345678"}, "then": {"bill": {"Outstanding": 120.50}}}
LOOK_UP = "/v2/bill-presentment?product=ELECTRIC&account=210012345678"
ABOVE = {"amount": {"more_than": "outstanding"}}


def status(client: Client, refid: str, **more: Any) -> str:
    return str(client.pay(refid, **more).data["status"])


def test_the_third_payment_to_the_same_account_is_the_third_of_each() -> None:
    rule = {"nth": 3, "per": "account", "then": FAILED}
    with running({"payments": [rule]}) as client:
        accounts = ["0123456781", "0123456782", "0123456781", "0123456781", "0123456782", "0123456782", "0123456781"]
        found = [status(client, str(place), account=account) for place, account in enumerate(accounts)]
        assert [place for place, one in enumerate(found) if one == "Failed"] == [3, 5]


@pytest.mark.parametrize("within", [True, False])
def test_the_second_requery_of_each_payment_is_counted_by_its_reseller_and_refid(within: bool) -> None:
    counts: dict[str, Any] = {"nth": 2, "per": "refid"}
    fault = {"when": REQUERY | counts} if within else {"when": REQUERY} | counts
    with running({"faults": [fault | {"then": {"status": 502}}]}) as client:
        answers = [client.pay(refid).status for _ in range(4) for refid in ("a", "b")]
        assert answers == [200] * 4 + [502] * 2 + [200] * 2


@pytest.mark.parametrize(
    ("choice", "refids", "answers"),
    [
        (None, ("a", "A", " a", "A"), [502, 502, 502, 200]),
        ("case_insensitive", ("a", "A", " a", "A"), [502, 200, 502, 200]),
        ("trimmed", ("a", " a", "A", "a "), [502, 200, 502, 200]),
    ],
)
def test_refids_that_count_as_the_same_are_counted_together(
    choice: str | None, refids: tuple[str, ...], answers: list[int]
) -> None:
    fault = {"when": {"path": "/v2/topup"}, "times": 1, "per": "refid", "then": {"status": 502}}
    assume = {"refid-comparison": choice} if choice else {}
    with running({"faults": [fault], "assume": assume}) as client:
        assert [client.pay(refid).status for refid in refids] == answers


def test_a_fault_after_the_commit_counts_the_payment_that_it_damaged() -> None:
    fault = {"when": {"path": "/v2/topup"}, "times": 1, "per": "account", "then": {"after_commit": True, "status": 502}}
    with running({"faults": [fault]}) as client:
        accounts = ("0123456781", "0123456782", "0123456781", "0123456782")
        assert [client.pay(str(at), account=one).status for at, one in enumerate(accounts)] == [502, 502, 200, 200]


@pytest.mark.parametrize("per", ["key", "address", "reseller"])
def test_a_fault_counts_each_key_address_and_reseller(per: str) -> None:
    fault = {"when": {"path": "/v2/balance"}, "times": 1, "per": per, "then": {"status": 502}}
    keys = [{"key": "k2", "secret": SECRET}]
    scenario = {"faults": [fault], "resellers": [{"code": "RS002", "api_keys": keys}]}
    with running(scenario, trust_forwarded=True) as client:
        near, far = {"x-forwarded-for": "203.0.113.1"}, {"x-forwarded-for": "203.0.113.2"}
        answers = [
            client.call("GET", "/v2/balance", headers=near),
            client.call("GET", "/v2/balance", headers=near),
            client.call("GET", "/v2/balance", headers=far, key="k2", secret=SECRET),
            client.call("GET", "/v2/balance", headers=far, key="k2", secret=SECRET),
        ]
        assert [answer.status for answer in answers] == [502, 200, 502, 200]


def test_a_request_without_the_value_does_not_match() -> None:
    fault = {"name": "each", "times": 1, "per": "refid", "then": {"status": 502}}
    with running({"faults": [fault]}) as client:
        assert client.call("GET", "/v2/balance").status == 200
        assert [client.pay("a").status for _ in range(2)] == [502, 200]
        [row] = [one for one in client.sim("GET", "/sandboxes/default/rules").json["rules"] if one["name"] == "each"]
        assert (row["matched"], row["chosen"]) == (2, 1)


def test_the_counts_of_the_values_of_an_added_rule_outlive_a_reload() -> None:
    with running() as client:
        rule = {"nth": 2, "per": "account", "then": FAILED}
        client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule})
        assert status(client, "a") == "Accepted"
        client.run(client.app.load(compiled({"scenario": "other", "extends": "default"})))
        assert status(client, "b", account="0123456999") == "Accepted"
        assert status(client, "c") == "Failed"


QUERIES = [
    ("page=2", 502),
    ("page=%32", 502),
    ("x=1&page=2", 502),
    ("page=2&page=1", 502),
    ("page=1&page=2", 200),
    ("page=1", 200),
    ("Page=2", 200),
    ("", 200),
]


@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_a_fault_sees_the_decoded_parameters_before_anything_is_checked(query: str, expected: int) -> None:
    fault = {"when": {"query": {"page": "2"}}, "then": {"status": 502}}
    with running({"faults": [fault]}) as client:
        answer = client.send("GET", "/v2/balance-statement", query)
        assert (answer.status == 502) is (expected == 502)


def test_a_fault_with_alternatives_waits_for_the_body_only_when_one_of_them_needs_it() -> None:
    early = {"when": {"any": [{"path": "/v2/balance"}, {"query": {"a": "1"}}]}, "then": {"status": 502}}
    late = {
        "when": {"path": "/v2/topup", "any": [{"product": "GAME"}, {"account": "0123456789"}]},
        "then": {"status": 504},
    }
    with running({"faults": [late, early]}) as client:
        assert client.send("GET", "/v2/balance").status == 502
        assert client.send("POST", "/v2/topup", "a=1", b"{}").status == 401, "the first rule has to wait"
        assert [client.pay("a").status, client.pay("b", account="0123456781").status] == [504, 200]


def test_this_or_that_beside_another_condition() -> None:
    when = {"amount": 10, "any": [{"product": "DATA"}, {"account": {"suffix": "1"}}, {"account": {"suffix": "2"}}]}
    with running({"payments": [{"when": when, "then": FAILED}]}) as client:
        rows = [("0123456781", "10"), ("0123456782", "10"), ("0123456783", "10"), ("0123456781", "20")]
        found = [status(client, str(at), account=account, amount=amount) for at, (account, amount) in enumerate(rows)]
        assert found == ["Failed", "Failed", "Accepted", "Accepted"]


def test_a_payment_of_more_than_is_outstanding_matches_and_the_bill_is_reduced_by_what_was_paid() -> None:
    rule = {"when": ABOVE, "then": {"refuse": "Invalid_Denomination"}}
    with running({"payments": [rule], "bills": [BILL]}) as client:

        def pay(refid: str, amount: str) -> int:
            answer = client.pay(refid, amount=amount, product="ELECTRIC", account="210012345678").status
            client.advance(10)
            return answer

        assert [pay("a", "120.51"), pay("b", "100"), pay("c", "20.51"), pay("d", "20.50"), pay("e", "1")] == [
            400, 200, 400, 200, 400,
        ]  # fmt: skip
        assert client.pay("f").status == 200, "what has no bill is not more than one"
        rules = {one["id"]: one for one in client.sim("GET", "/sandboxes/default/rules").json["rules"]}
        assert rules["bills-1"]["matched"] == 0, "asking for the bill is no look-up"


def test_a_bill_that_is_generated_and_one_that_is_refused_are_compared_as_they_are_shown() -> None:
    rule = {"when": ABOVE, "then": {"refuse": "Invalid_Denomination"}}
    with running({"payments": [rule]}) as client:
        due = client.call("GET", LOOK_UP).data["Outstanding"]
        paid = {"product": "ELECTRIC", "account": "210012345678"}
        assert client.pay("a", amount=f"{float(due) + 0.01:.2f}", **paid).status == 400
        assert client.pay("b", amount=f"{float(due):.2f}", **paid).status == 200
    closed = {"when": {"product": "ELECTRIC"}, "then": {"error": "invalid_account"}}
    with running({"payments": [rule], "bills": [closed]}) as client:
        assert client.pay("a", amount=f"{float(due) + 0.01:.2f}", **paid).status == 200, "there is no bill"


def test_a_look_up_with_more_than_is_outstanding_matches_a_bill_rule() -> None:
    rule = {"name": "too much", "when": ABOVE, "then": {"error": "invalid_amount"}}
    with running({"bills": [rule]}) as client:
        due = float(client.call("GET", LOOK_UP).data["Outstanding"])
        assert client.call("GET", f"{LOOK_UP}&amount={due:.2f}").status == 200
        assert client.call("GET", f"{LOOK_UP}&amount={due + 0.01:.2f}").headers["x-sim-rule"] == "too much"
