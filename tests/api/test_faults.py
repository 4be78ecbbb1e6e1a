"""Which fault a request meets, when it is decided, and what became of the request."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.client import Client, Response, running

FAST = {"clock": "x100000"}  # a wait of 29 s takes 0.3 ms


DENIALS = pytest.mark.parametrize(
    ("then", "status", "error"),
    [({"internal_error": True}, 401, "internal_error"), ({"nonce_service": "down"}, 503, "nonce_service_unavailable")],
)
FOUND_BEFORE_OR_BEHIND_THE_BODY = pytest.mark.parametrize("when", [{"path": "/v2/topup"}, {"account": "0123456789"}])


def faults(*rules: dict[str, Any], **scenario: Any) -> dict[str, Any]:
    return {"faults": list(rules)} | scenario


def counted(client: Client) -> dict[str, tuple[int, int]]:
    rules = client.sim("GET", "/sandboxes/default/rules").json["rules"]
    return {rule["name"]: (rule["matched"], rule["chosen"]) for rule in rules if rule["section"] == "faults"}


BY_ACCOUNT = {"name": "account", "when": {"path": "/v2/topup", "account": "0123456789"}, "then": {"status": 500}}
BY_PATH = {"name": "path", "when": {"path": "/v2/topup"}, "then": {"status": 502}}
EVERY = {"name": "every", "when": {}, "then": {"status": 418}}


@pytest.mark.parametrize(
    ("rules", "met", "counts"),
    [
        ([BY_ACCOUNT, BY_PATH], 500, {"account": (1, 1), "path": (0, 0)}),
        ([BY_PATH, BY_ACCOUNT], 502, {"path": (1, 1), "account": (0, 0)}),
        ([BY_PATH | {"times": 1}, EVERY], 502, {"path": (1, 1), "every": (0, 0)}),
        ([BY_PATH, EVERY | {"nth": 2}], 502, {"path": (1, 1), "every": (1, 0)}),
        ([BY_PATH | {"nth": 2}, EVERY], 418, {"path": (1, 0), "every": (1, 1)}),
        ([BY_ACCOUNT | {"nth": 2}, BY_PATH, EVERY], 502, {"account": (1, 0), "path": (1, 1), "every": (0, 0)}),
    ],
)
def test_the_first_fault_of_the_list_wins_and_alone_is_counted(
    rules: list[dict[str, Any]], met: int, counts: dict[str, tuple[int, int]]
) -> None:
    with running(faults(*rules)) as client:
        assert client.pay().status == met
        assert counted(client) == counts


def test_a_fault_draws_one_of_its_entries_for_each_request_and_the_same_in_every_run() -> None:
    early = {"name": "early", "when": {"path": "/v2/balance"}, "then": drawing({"status": 500}, {"status": 502})}

    def statuses() -> list[int]:
        with running(faults(early)) as client:
            found = [client.call("GET", "/v2/balance").status for _ in range(20)]
            assert counted(client) == {"early": (20, 20)}
            return found

    assert statuses() == statuses()
    assert set(statuses()) == {500, 502}


def drawing(*thens: dict[str, Any]) -> dict[str, Any]:
    return {"one_of": [{"then": then} for then in thens]}


def test_a_fault_with_an_entry_after_the_commit_is_evaluated_after_authentication() -> None:
    mixed = {"name": "mixed", "then": drawing({"status": 500}, {"after_commit": True, "status": 502})}
    with running(faults(mixed)) as client:
        assert client.call("GET", "/v2/balance", key="nobody").status == 401
        answers = {number: client.pay(f"r{number}").status for number in range(20)}
        assert set(answers.values()) == {500, 502}
        made = {row["refid"] for row in client.sim("GET", "/sandboxes/default/transactions").json["transactions"]}
        assert made == {f"r{number}" for number, status in answers.items() if status == 502}


def test_a_rule_that_looks_into_the_body_holds_up_only_requests_that_it_may_match() -> None:
    with running(faults(BY_ACCOUNT, EVERY)) as client:
        # The server neither authenticates nor reads a request that no body can lead to the first rule.
        assert client.call("GET", "/v2/balance", key="nobody").status == 418
        assert client.pay(key="nobody").status == 401
        assert client.pay().status == 500
        assert client.pay(account="0129999999").status == 418


def test_a_rule_after_a_waiting_rule_acts_when_the_waiting_rule_does_not_match() -> None:
    with running(faults(BY_ACCOUNT, BY_PATH)) as client:
        assert client.pay(account="0129999999").status == 502
        assert counted(client) == {"account": (0, 0), "path": (1, 1)}


def test_magic_accounts_come_after_the_rules_of_the_file() -> None:
    with running(faults(BY_PATH | {"times": 1})) as client:
        assert client.pay(account="0120000013").status == 502
        assert client.pay(account="0120000013").status == 504
        assert client.pay(account="0123456789").status == 200


def test_a_fault_after_the_commit_is_not_counted_for_a_refused_request() -> None:
    rule = {"name": "lost", "when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, "status": 500}}
    with running(faults(rule)) as client:
        refused = client.pay(amount="7")
        assert (refused.status, refused.data["remarks"]) == (400, "Invalid_Denomination")
        assert "x-sim-rule" not in refused.headers
        assert counted(client) == {"lost": (1, 0)}
        assert client.pay().status == 500
        assert counted(client) == {"lost": (2, 1)}
        assert client.pay().data["status"] == "Accepted"


@pytest.mark.parametrize("then", [{"delay": "20s"}, {"delay": "20s", "status": 504}])
def test_a_commit_before_the_delay_is_visible_while_the_client_waits(then: dict[str, Any]) -> None:
    rule = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True} | then}
    with running(faults(rule, clock="x1000")) as client:
        live = client.live

        async def made_before_the_answer() -> tuple[bool, Response]:
            waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", ORDER))
            for _ in range(5):
                await asyncio.sleep(0)
            return bool(live.core.state.transactions) and not waiting.done(), await waiting

        was_made, answer = client.run(made_before_the_answer())
        assert was_made
        assert answer.status == then.get("status", 200)


@pytest.mark.parametrize("then", [{"status": 204}, {"status": 304, "body": "text"}, {"status": 503, "body": ""}, {}])
def test_an_answer_without_a_body_is_not_cut_but_kept_back_and_so_journaled(
    then: dict[str, Any],
) -> None:
    fault = {"when": {"method": "DELETE"}, "then": {"disconnect": "body", **then}}
    with running(faults(fault)) as client:
        assert client.call("DELETE", "/v2/balance-webhook").status == 0
        (row,) = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert (row["status"], row["fault"]) == (0, "faults-1")


ORDER = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": "10"}


@pytest.mark.parametrize(
    ("then", "limits", "status", "is_made"),
    [
        ({"delay": "28s"}, {}, 200, True),
        ({"delay": "40s"}, {}, 504, False),
        ({"delay": "40s", "disconnect": True}, {}, 504, False),
        ({"delay": "40s", "after_commit": True}, {}, 504, True),
        ({"delay": "40s"}, {"integration_timeout": None}, 200, True),
        ({"delay": "40s"}, {"integration_timeout": "50s"}, 200, True),
        ({"delay": "4s"}, {"integration_timeout": "3s"}, 504, False),
    ],
)
def test_no_answer_takes_longer_than_the_integration_timeout(
    then: dict[str, Any], limits: dict[str, Any], status: int, is_made: bool
) -> None:
    for when in ({"path": "/v2/topup"}, {"account": "0123456789"}):
        with running(faults({"when": when, "then": then}, limits=limits, **FAST)) as client:
            answer = client.pay()
            assert answer.status == status
            assert bool(client.live.core.state.transactions) is is_made
            if status == 504:
                assert answer.json["error"] == "integration_timeout"
                assert "integration_timeout" in answer.headers["x-sim-diagnosis"]


@DENIALS
@FOUND_BEFORE_OR_BEHIND_THE_BODY
def test_the_diagnosis_of_a_denied_payment_names_what_was_ignored(
    then: dict[str, Any], status: int, error: str, when: dict[str, Any]
) -> None:
    with running(faults({"when": when, "then": then})) as client:
        body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10, "zz": 1}
        denied = client.call("POST", "/v2/topup", body)
        assert (denied.status, denied.json["error"]) == (status, error)
        assert ("zz is unknown" in denied.headers["x-sim-diagnosis"]) is ("account" in when)


@DENIALS
@FOUND_BEFORE_OR_BEHIND_THE_BODY
def test_a_denied_request_at_the_root_is_in_the_journal_of_its_own_sandbox(
    then: dict[str, Any], status: int, error: str, when: dict[str, Any]
) -> None:
    with running() as client:
        wanted = {"credentials": "unique", "scenario": faults({"when": when, "then": then}, extends="default")}
        made = client.sim("POST", "/sandboxes", wanted).json
        own = made["resellers"][0]
        denied = client.pay(key=own["api_key"], secret=own["api_secret"])
        assert (denied.status, denied.headers["x-sim-sandbox"]) == (status, made["id"])
        [row] = client.sim("GET", f"/sandboxes/{made['id']}/requests").json["requests"]
        assert (row["error"], row["reseller"]) == (error, "")
        assert client.sim("GET", "/sandboxes/default/requests").json["requests"] == []


@DENIALS
@FOUND_BEFORE_OR_BEHIND_THE_BODY
def test_a_denial_leaves_the_nonce(then: dict[str, Any], status: int, error: str, when: dict[str, Any]) -> None:
    with running(faults({"when": when, "times": 1, "then": then})) as client:
        nonce = "nonce-of-a-denied-request"
        denied = client.pay(nonce=nonce)
        assert (denied.status, denied.json["error"]) == (status, error)
        [row] = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert row["reseller"] == "", "a denied caller has no identity yet"
        assert client.pay(nonce=nonce).status == 200
        assert client.pay(nonce=nonce).json["error"] == "nonce_reused"


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        ("<html><body>502 Bad Gateway</body></html>", "text/html; charset=utf-8"),
        ("\n  <?xml version='1.0'?><e/>", "text/html; charset=utf-8"),
        ("upstream connect error", "text/plain; charset=utf-8"),
        ("", "text/plain; charset=utf-8"),
        ("{'no': 'json'}", "text/plain; charset=utf-8"),
        ('{"error": "teapot"}', "application/json"),
        ('"a text"', "application/json"),
        ({"error": "teapot"}, "application/json"),
        (["<html>"], "application/json"),
        (17, "application/json"),
    ],
)
def test_the_type_of_a_scripted_body_follows_its_content(body: Any, type_: str) -> None:
    with running(faults({"then": {"status": 502, "body": body}})) as client:
        answer = client.call("GET", "/v2/balance")
        assert answer.headers["content-type"] == type_
        assert answer.body.decode() == (body if isinstance(body, str) else json.dumps(body, separators=(",", ":")))


def test_a_scripted_answer_has_the_headers_that_it_is_given_and_the_journal_shows_them() -> None:
    then = {"status": 429, "headers": {"Retry-After": "5", "Content-Type": "application/problem+json"}}
    with running(faults({"then": then})) as client:
        answer = client.call("GET", "/v2/balance")
        assert (answer.status, answer.headers["retry-after"]) == (429, "5")
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json["error"] == "scripted_fault"
        shown = client.sim("GET", f"/sandboxes/default/requests/{answer.headers['x-sim-request-id']}").json
        names = [name.lower() for name, _ in shown["response"]["headers"]]
        assert ["Retry-After", "5"] in shown["response"]["headers"]
        assert names.count("content-type") == 1


def test_headers_are_added_to_the_services_own_answer_too() -> None:
    with running(faults({"then": {"headers": {"Via": "1.1 proxy"}}})) as client:
        answer = client.call("GET", "/v2/balance")
        assert (answer.status, answer.headers["via"], answer.data) == (
            200,
            "1.1 proxy",
            {"balance": 5000, "currency": "MYR"},
        )
    with running(faults({"then": {"headers": {"Content-TYPE": "text/html"}, "malformed": True}})) as client:
        refused = client.pay(amount="7")
        assert (refused.status, refused.headers["content-type"]) == (400, "text/html")


def test_an_answer_without_a_body_has_no_type_but_the_headers_that_it_is_given() -> None:
    with running(faults({"then": {"status": 204, "body": "text", "headers": {"Age": "1"}}})) as client:
        answer = client.call("DELETE", "/v2/balance-webhook")
        assert (answer.status, answer.body, answer.headers["age"]) == (204, b"", "1")
        assert "content-type" not in answer.headers


@pytest.mark.parametrize("query", ["x=%ff", "%ff=x", "x=%ff&x=1", "x=1&x=%ff"])
def test_a_query_that_is_not_encoded_well_meets_rules_and_is_refused(query: str) -> None:
    with running({"faults": [{"when": {"query": {"x": "1"}}, "then": {"status": 502}}]}) as client:
        status = client.call("GET", f"/v2/catalog?{query}").status
        assert status == (502 if "x=1" in query else 400)
