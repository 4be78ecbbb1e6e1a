"""`/_sim/sandboxes/{id}/expectations`: what the scenario expects, held against what happened."""

import asyncio
from typing import Any

import pytest

from simulator.runtime.scenario_watch import switch_scenario
from simulator.scenario.library import scenario_from_object
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


def test_a_scenario_without_expectations_is_met() -> None:
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
                "name": "paid", "kind": "payments", "place": None, "expected": {"min": 1, "max": 5}, "actual": 0,
                "ok": False, "message": "paid: expected 1 to 5, got 0", "nearest": [], "pending": [],
            },
            {
                "name": 'balance { reseller: RS001, amount: "5000.00" }', "kind": "balance", "place": None,
                "expected": 5000, "actual": 5000, "ok": True,
                "message": 'balance { reseller: RS001, amount: "5000.00" }: expected 5000.00, got 5000.00',
                "nearest": [], "pending": [],
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
        ({"refid": {"prefix": "ref"}}, 3),
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


def test_there_is_no_verdict_on_callbacks_when_evicted_ones_could_change_it() -> None:
    expect: list[Any] = [
        {"callbacks": {"status": "Processing"}, "count": 0},
        {"callbacks": {"state": "delivered"}},
        {"callbacks": {"state": "delivered"}, "count": 0},
        {"callbacks": {"refid": "r1"}},
    ]
    with running({"expect": expect, "limits": {"callbacks": 1}}) as client:
        client.pay("r1")
        client.advance(until="idle")
        client.pay("other")
        client.advance(until="idle")
        assert counts(client) == [0, 1, 1, 0]
        assert [one["ok"] for one in verdicts(client)] == [False, True, False, False]
        uncertain, _, exceeded, unknown = (one["message"] for one in verdicts(client))
    assert "expected 0, got no verdict: 0, and the log has evicted 3 older ones" in uncertain
    assert exceeded.endswith("expected 0, got 1")
    assert "expected at least 1, got no verdict: 0, and the log has evicted 3 older ones" in unknown


def test_there_is_no_verdict_on_webhooks_when_evicted_ones_could_change_it() -> None:
    with (
        refused_url() as refused,
        running({
            "expect": [{"webhooks": {"state": "success"}, "count": 0}], "limits": {"deliveries": 1},
            "resellers": [{"code": "RS001", "balance_webhook": {"url": refused}}],
        }) as client,
    ):  # fmt: skip
        for _ in range(3):
            client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 5})
        client.advance(until="idle")
        (only,) = verdicts(client)
        assert not only["ok"]
        assert "the log has evicted 2 older ones" in only["message"]


def reload(client: Client, expect: list[Any], **more: Any) -> None:
    client.run(switch_scenario(client.live, scenario_from_object({"extends": "default", "expect": expect, **more})))


def test_a_reload_counts_the_stored_records_and_says_where_it_begins() -> None:
    looked = {"name": "looked", "calls": {"path": "/v2/balance"}}
    sent = {"name": "sent", "callbacks": {}}
    kept: dict[str, Any] = {"limits": {"callbacks": 2, "journal": 2}, "clock": "manual"}
    with running({"expect": [looked], **kept}) as client:
        for _ in range(3):
            client.call("GET", "/v2/balance")
        client.pay()
        client.pay("ref-2")
        client.advance(until="idle")
        reload(client, [looked, {"name": "paid", "calls": {"path": "/v2/topup"}}, sent], **kept)
        assert counts(client) == [3, 2, 2]
        client.pay("ref-3")
        client.advance(until="idle")
        reload(client, [looked, {"name": "looked again", "calls": {"path": "/v2/balance"}}, sent], **kept)
        assert counts(client) == [3, 0, 2]
        _, again, callbacks = verdicts(client)
    assert "counted from request 5 on, since it was added while the sandbox ran" in again["message"]
    assert callbacks["ok"]


def test_a_statement_that_was_changed_under_its_name_is_counted_from_zero() -> None:
    with running({"expect": [{"name": "it", "calls": {"path": "/v2/balance"}}]}) as client:
        client.call("GET", "/v2/balance")
        reload(client, [{"name": "it", "calls": {"path": "/v2/catalog"}, "count": 0}])
        assert counts(client) == [0]
        reload(client, [{"name": "it", "calls": {"path": "/v2/balance"}, "count": 0}])
        assert counts(client) == [1]


@pytest.mark.parametrize("by", ["reload", "removal"])
def test_a_rule_that_left_keeps_the_count_of_its_choices(by: str) -> None:
    rules = [{"name": "mine", "id": "mine-id", "then": [{"status": "Failed"}]}]
    expect: list[Any] = [{"rule": {"name": label}, "count": 0} for label in ("mine", "mine-id")]
    with running({"expect": expect, "payments": rules}) as client:
        client.pay()
        if by == "reload":
            reload(client, expect, payments=rules)
            client.pay("ref-2")
        else:
            client.sim("DELETE", "/sandboxes/default/rules/mine-id")
        assert counts(client) == ([2, 2] if by == "reload" else [1, 1])


def test_the_nearest_calls_and_pending_items_explain_an_unmet_expectation() -> None:
    expect: list[Any] = [
        {"payments": {"refid": "ref-1", "status": "Succesful"}},
        {"calls": {"path": "/v2/topup", "status": 400}},
        {"calls": {"path": "/v2/topup", "status": 200}, "count": 1},
        {"callbacks": {"refid": "ref-1", "state": "delivered"}},
        {"payments": {"refid": "nobody", "status": "Failed"}},
        {"rule": {"name": "never"}},
    ]
    rules = [{"name": "never", "nth": 9, "when": {"account": "0123456789"}, "then": [{"status": "Failed"}]}]
    with running({"expect": expect, "payments": rules}) as client:
        client.pay()
        client.pay("ref-2")
        client.advance(3)
        rows = verdicts(client)
    assert [one["ok"] for one in rows] == [False] * 6 or rows[3]["ok"]
    assert rows[0]["nearest"] == ["1 payment with status Processing"]
    assert rows[0]["pending"] == ["payment ref-1 is Processing, next step in 3 s"]
    assert rows[1]["nearest"] == ["2 calls with status 200"]
    assert [line.partition(", method")[0] for line in rows[2]["nearest"]] == [
        "call with request 1",
        "call with request 2",
    ]
    assert rows[4]["nearest"] == rows[4]["pending"] == []
    assert rows[5]["nearest"] == ["its conditions matched 2 times, and it was chosen 0 times"]


POLLING = {"name": "polite", "calls": {"path": "/v2/topup"}, "per": "refid", "apart": "5s"}


def test_polling_is_at_most_every_five_seconds() -> None:
    with running({"expect": [POLLING]}) as client:
        assert counts(client) == [0]
        for refid, after in (("a", 0), ("b", 1), ("a", 4), ("b", 2), ("a", 3)):
            client.advance(after)
            client.pay(refid, account="0120000004")
        [one] = verdicts(client)
    assert (one["actual"], one["ok"]) == (0, True)
    assert one["expected"] == {"min": 0, "max": None, "per": "refid", "apart": 5}
    assert one["message"].endswith("got 5 s for a between requests 1 and 3")


def test_a_poll_that_comes_too_early_is_named_with_both_requests_and_their_distance() -> None:
    fault = {"when": {"path": "/v2/topup"}, "nth": 2, "then": {"status": 500}}
    with running({"expect": [POLLING], "faults": [fault]}) as client:
        client.pay("a")
        client.advance(1)
        client.pay("a")  # refused by the fault before anybody knows its refid
        client.advance(1.5)
        client.pay("a")
        client.advance(9)
        client.pay("a")
        [one] = verdicts(client)
    assert (one["actual"], one["ok"]) == (2, False)
    assert one["message"] == (
        "polite: expected at least 5 s between two for each refid, got 1 s for a between requests 1 and 2;"
        " too early: 2 calls"
    )


def test_each_refid_is_sent_once() -> None:
    sent = {"calls": {"method": "POST", "path": "/v2/topup"}, "per": "refid", "count": 1, "name": "once"}
    with running({"expect": [sent]}) as client:
        client.pay("a")
        client.pay("b")
        assert [one["ok"] for one in verdicts(client)] == [True]
        client.pay("b")
        client.call("POST", "/v2/topup", {"product": "RELOAD"})
        [one] = verdicts(client)
    assert (one["actual"], one["ok"]) == (2, False)
    assert one["message"] == (
        "once: expected 1 for each refid, got 2 for b in requests 2, 3 (without refid, and not counted: 1 call)"
    )


@pytest.mark.parametrize(
    ("per", "expected"), [("account", 2), ("reseller", 3), ("key", 3), ("address", 3), ("method", 3), ("path", 3)]
)
def test_calls_are_distinguished_by_their_values(per: str, expected: int) -> None:
    with running({"expect": [{"calls": {"path": "/v2/topup"}, "per": per, "count": {"max": 1}}]}) as client:
        for refid, account in (("a", "0123456789"), ("b", "0123456788"), ("c", "0123456789")):
            client.pay(refid, account=account)
        assert counts(client) == [expected]


def test_with_too_many_values_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runtime.value_counts.VALUES_MAX", 2)
    with running({"expect": [POLLING]}) as client:
        for refid in ("a", "b", "c"):
            client.pay(refid)
        [one] = verdicts(client)
    assert not one["ok"]
    assert "got no verdict: there are more than 2 values of refid" in one["message"]


def test_a_fault_with_an_error_of_its_own_can_be_expected() -> None:
    fault = {"when": {"path": "/v2/topup"}, "then": {"status": 418, "body": {"error": "teapot"}}}
    with running({"faults": [fault], "expect": [{"calls": {"status": 418, "error": "teapot"}}]}) as client:
        client.pay()
        assert counts(client) == [1]


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
    monkeypatch.setattr("simulator.runtime.expectation_verdicts.SLICE", 2)
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
        monkeypatch.setattr("simulator.runtime.expectation_verdicts.SLICE", 100)
        assert scanning == client.run(turns_of_another()) + 7 // 2


def test_the_latest_that_match_are_shown_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runtime.expectation_verdicts.SLICE", 2)
    expect: list[Any] = [{"payments": {}, "count": 0}, {"calls": {}, "count": {"max": 2}}]
    with running({"expect": expect}) as client:
        for number in range(7):
            client.pay(f"ref-{number}")
        payments, calls = (one["nearest"] for one in verdicts(client))
    assert [line.partition("refid ")[2].partition(",")[0] for line in payments] == ["ref-4", "ref-5", "ref-6"]
    assert [line.partition(",")[0] for line in calls] == [f"call with request {n}" for n in (5, 6, 7)]


def test_a_key_that_may_be_a_secret_is_shown_by_its_beginning() -> None:
    with running({"expect": [{"calls": {}, "per": "key", "count": 0}]}) as client:
        client.call("GET", "/v2/balance", key="c2VjcmV0LWluLXRoZS13cm9uZy1wbGFjZQ==")
        [one] = verdicts(client)
    assert "for c2VjcmV0…" in one["message"]
    assert "c2VjcmV0L" not in one["message"]


def test_deliveries_and_deposits_that_are_due_are_pending() -> None:
    more: dict[str, Any] = {
        "resellers": [{"code": "RS001", "balance_webhook": {"url": "http://127.0.0.1:9/"}}],
        "schedule": [{"at": "10m", "deposit": {"reseller": "RS001", "amount": 5}}],
    }
    with running({"expect": [{"webhooks": {"reseller": "RS001"}}, {"outcome": "callback-failed"}], **more}) as client:
        client.pay()
        webhooks, outcome = (one["pending"] for one in verdicts(client))
    assert webhooks == ["a deposit for RS001 comes in 600 s"]
    assert outcome[0].startswith("payment ref-1 is Accepted, next step in ")
    assert outcome[-1] == "a deposit for RS001 comes in 600 s"


def test_payments_and_deposits_of_others_are_not_pending_for_a_balance_or_webhook() -> None:
    more: dict[str, Any] = {
        "resellers": [OTHER],
        "schedule": [{"at": "10m", "deposit": {"reseller": "RS777", "amount": 5}}],
    }
    expect = [
        {"balance": {"reseller": "RS001", "amount": 1}},
        {"balance": {"reseller": "RS777", "amount": 1}},
        {"webhooks": {"reseller": "RS001"}},
        {"webhooks": {"type": {"prefix": "product."}}},
    ]
    with running({"expect": expect, **more}) as client:
        client.pay(key="other_key", secret="b3RoZXItc2VjcmV0LW9mLVJTNzc3")
        pending = [one["pending"] for one in verdicts(client)]
    assert [len(lines) for lines in pending] == [0, 2, 0, 0]


OTHER = {
    "code": "RS777",
    "balance": "100.00",
    "api_keys": [{"key": "other_key", "secret": "b3RoZXItc2VjcmV0LW9mLVJTNzc3"}],
}
ONCE = {"name": "once", "calls": {"path": "/v2/topup"}, "per": "refid", "count": 1}


def test_a_refid_is_one_of_a_reseller() -> None:
    with running({"expect": [ONCE], "resellers": [OTHER]}) as client:
        client.pay("a")
        client.pay("a", key="other_key", secret="b3RoZXItc2VjcmV0LW9mLVJTNzc3")
        assert [one["ok"] for one in verdicts(client)] == [True]
        client.pay("a", key="other_key", secret="bm90LXRoZS1zZWNyZXQ=")
        [one] = verdicts(client)
    assert one["message"] == "once: expected 1 for each refid, got 2 for a of RS777 in requests 2, 3"


def test_a_request_of_an_unknown_sender_counts_with_the_first_who_has_its_refid() -> None:
    with running({"expect": [ONCE]}) as client:
        client.pay("a", key="nobody")
        client.pay("a")
        client.pay("b")
        client.pay("b", key="nobody")
        [one] = verdicts(client)
    assert one["message"] == "once: expected 1 for each refid, got 2 for a in requests 1, 2; wrong for 2 of 2"


def test_too_many_calls_are_named_by_their_requests() -> None:
    balance = {"path": "/v2/balance"}
    expect = [
        {"name": "never", "calls": balance, "count": 0},
        {"name": "rare", "calls": balance, "apart": "1s", "count": {"max": 1}},
    ]
    with running({"expect": expect}) as client:
        client.pay()
        client.call("GET", "/v2/balance")
        assert verdicts(client)[0]["message"] == "never: expected 0, got 1 in request 2"
        client.advance(5)
        client.call("GET", "/v2/balance")
        assert [one["message"] for one in verdicts(client)] == [
            "never: expected 0, got 2 in requests 2, 3",
            "rare: expected 0 to 1 and at least 1 s between two, got 2 in requests 2, 3 and"
            " 5 s between requests 2 and 3",
        ]


def test_the_first_value_of_a_repeated_parameter_counts_as_in_a_condition() -> None:
    expect = {"calls": {}, "per": "product", "count": {"max": 1}}
    with running({"expect": [expect]}) as client:
        for query in ("product=A&product=B", "product=A", "product=&product=A"):
            client.call("GET", f"/v2/networkstatus?{query}")
        [one] = verdicts(client)
    assert "got 2 for A in requests 1, 2 (without product, and not counted: 1 call)" in one["message"]


@pytest.mark.parametrize(
    "refused",
    [
        {"limits": {"requests_per_interval": 1}},
        {"resellers": [{"code": "RS001", "settings": {"ip_allowlist": ["10.0.0.1"]}}]},
        {"faults": [{"when": {"path": "/v2/topup"}, "then": {"status": 500}}]},
        {"faults": [{"when": {"path": "/v2/topup"}, "then": {"nonce_service": "down"}}]},
    ],
)
@pytest.mark.parametrize("more", [{}, {"key": "nobody"}, {"headers": {"X-Sim-Rule": "none"}}, {"timestamp": 1}])
def test_a_refid_counts_however_early_its_request_is_refused(refused: dict[str, Any], more: dict[str, Any]) -> None:
    with running({"expect": [ONCE], **refused}) as client:
        statuses = [client.pay("a", **more).status for _ in range(2)]
        [one] = verdicts(client)
    assert statuses[1] >= 400
    assert one["message"] == "once: expected 1 for each refid, got 2 for a in requests 1, 2"


def test_a_refid_that_cannot_be_seen_leaves_no_verdict() -> None:
    with running({"expect": [ONCE]}) as client:
        client.pay("a")
        client.pay("a", key="nobody", extras={"much": "x" * 11_000_000})
        [one] = verdicts(client)
    assert not one["ok"]
    assert "got no verdict: 1 call had a body that was not seen: too large" in one["message"]


def test_bodies_that_were_not_kept_before_a_reload_leave_no_verdict() -> None:
    with running() as client:
        client.pay("a", key="nobody")
        client.run(client.app.load(scenario_from_object({"scenario": "new", "extends": "default", "expect": [ONCE]})))
        [one] = verdicts(client)
    assert not one["ok"]
    assert "got no verdict: 1 call had a body that was not seen" in one["message"]
