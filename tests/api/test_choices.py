"""Choices of the register that change single answers: each value of a knob, and what is the default."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cases import pay_bill, void
from tests.support.client import Client, running
from tests.support.webhooks import answering, deposit, put

PAID = {"payments": [{"then": [{"status": "Succesful"}]}]}
SLOW = {"payments": [{"then": [{"status": "Accepted"}, {"after": "2s", "status": "Processing"},
                               {"after": "5s", "status": "Succesful"}]}]}  # fmt: skip
DAYS = "date=2026-11-01%20-%202026-11-30"
STAGING = {"3.1.120.89", "18.140.170.98", "13.215.6.214"}


def assuming(**knobs: str) -> dict[str, Any]:
    return {"assume": {name.replace("_", "-"): value for name, value in knobs.items()}}


def balance(client: Client) -> Any:
    return client.call("GET", "/v2/balance").data["balance"]


@pytest.mark.parametrize(
    ("environment", "choice", "refunded"),
    [
        ("staging", "run", True),
        ("staging", "responses_only", False),
        ("production", "run", True),
        ("production", "responses_only", True),
    ],
)
def test_a_void_runs_to_its_end_but_where_staging_only_responds(environment: str, choice: str, refunded: bool) -> None:
    world = PAID | {"environment": environment} | assuming(staging_cases=choice)
    with running(world) as client:
        pay_bill(client)
        paid = balance(client)
        assert void(client).data["status"] == "Success"
        client.advance()
        assert (balance(client) > paid) is refunded
        mails = client.sim("GET", "/sandboxes/default/notifications").json["notifications"]
        assert bool(mails) is refunded
        status = client.pay("ref-1", "100", "ELECTRIC", account="210012345678").data["status"]
        assert status == ("Refund" if refunded else "Succesful")
        assert void(client).data["status"] == "Failed", "it was requested already"


@pytest.mark.parametrize(
    ("choice", "told"),
    [("retry_stale", ["Processing", "Succesful", "Processing"]), ("skip_stale", ["Processing", "Succesful"])],
)
def test_a_retry_of_an_earlier_status_is_sent_or_skipped(choice: str, told: list[str]) -> None:
    with running(SLOW | assuming(callback_order=choice)) as client:
        client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
        answering(client, 500, 200, inbox="callbacks")
        client.pay()
        client.advance()
        assert [item["json"]["data"]["status"] for item in client.inbox()] == told
        states = [one["state"] for one in client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]]
        assert "pending" not in states[-1:]
        assert client.sim("GET", "/sandboxes/default/clock").json["pending"] == 0
        assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]


def test_a_retry_of_the_present_status_is_never_skipped() -> None:
    with running(SLOW | assuming(callback_order="skip_stale")) as client:
        client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
        answering(client, 200, 500, 200, inbox="callbacks")
        client.pay()
        client.advance()
        assert [item["json"]["data"]["status"] for item in client.inbox()] == ["Processing", "Succesful", "Succesful"]


@pytest.mark.parametrize(
    ("choice", "same"),
    [("exact", set()), ("case_insensitive", {"REF-1"}), ("trimmed", {" ref-1", "ref-1 "})],
)
def test_refids_are_compared_as_the_scenario_says(choice: str, same: set[str]) -> None:
    with running(PAID | assuming(refid_comparison=choice)) as client:
        client.pay("ref-1", "10")
        for refid in ("REF-1", " ref-1", "ref-1 ", "ref-2"):
            refunded = void(client, refid).status == 200
            answer = client.pay(refid, "10")
            assert (answer.data["refid"] == "ref-1") is (refid in same), refid
            assert refunded is (refid in same), refid
        made = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
        assert len(made) == 5 - len(same)


def test_a_refid_that_counts_as_the_same_is_found_where_the_simulator_shows_it() -> None:
    with running(SLOW | assuming(refid_comparison="case_insensitive")) as client:
        client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
        pay_bill(client, "ref-1")
        client.advance()
        for rows in ("transactions", "callbacks", "ledger"):
            wanted = client.sim("GET", f"/sandboxes/default/{rows}?refid=ref-1").json
            assert wanted == client.sim("GET", f"/sandboxes/default/{rows}?refid=REF-1").json
            assert wanted[rows if rows != "ledger" else "entries"]
        waited = client.sim("GET", "/sandboxes/default/callbacks?refid=REF-1&wait_for=2&timeout=0").json
        assert waited["complete"]
        trxid = client.sim("GET", "/sandboxes/default/transactions").json["transactions"][0]["trxid"]
        answer = client.call("POST", "/v2/transactions/void", {"refid": "REF-1", "trxid": trxid, "refund_type": 1})
        assert "ignored" not in answer.headers.get("x-sim-diagnosis", "")


def test_a_refid_that_counts_as_the_same_is_found_after_others_were_added() -> None:
    with running(PAID | assuming(refid_comparison="case_insensitive")) as client:
        client.pay("first")
        client.pay("FIRST")
        client.pay("Second")
        assert client.pay("SECOND").data["refid"] == "Second"


@pytest.mark.parametrize(("choice", "total", "count"), [("left_out", 10, 1), ("in_deposits", 15, 2)])
def test_commissions_count_in_no_total_or_as_deposits(choice: str, total: int, count: int) -> None:
    opening = {"resellers": [{"code": "RS001", "balance": "0.00"}]}
    with running(opening | assuming(statement_commission=choice)) as client:
        before = client.call("GET", f"/v2/balance-statement?{DAYS}").json["summary"]["total_deposit"]
        deposit(client, "10.00")
        deposit(client, "5.00", type="COMMISSION")
        after = client.call("GET", f"/v2/balance-statement?{DAYS}").json["summary"]["total_deposit"]
        assert (after["amount"] - before["amount"], after["count"] - before["count"]) == (total, count)


@pytest.mark.parametrize(("choice", "refids"), [("transactions", ["c", "b"]), ("pages", ["b", "a"])])
def test_an_offset_counts_transactions_or_pages(choice: str, refids: list[str]) -> None:
    with running(PAID | assuming(history_offset=choice)) as client:
        for refid in "abcd":
            client.pay(refid)
        found = client.call("GET", f"/v2/transactions?{DAYS}&limit=2&offset=1").json["data"]
        assert [one["refid"] for one in found] == refids


@pytest.mark.parametrize("path", ["/v2/transactions?limit=5", "/v2/balance-statement?limit=5"])
def test_a_reversed_range_is_rejected_or_empty(path: str) -> None:
    reversed_ = f"{path}&date=2026-11-30%20-%202026-11-01"
    with running(PAID) as client:
        client.pay()
        refused = client.call("GET", reversed_)
        assert (refused.status, refused.json["errors"]) == (400, {"date": ["must not end before it begins"]})
    with running(PAID | assuming(reversed_ranges="empty")) as client:
        client.pay()
        empty = client.call("GET", reversed_)
        assert (empty.status, empty.json["data"]) == (200, [])
        assert "date ends before it begins" in empty.headers["x-sim-diagnosis"]
        assert client.call("GET", f"{path}&{DAYS}").json["data"]


def test_a_reversed_range_of_deliveries_is_empty() -> None:
    with running() as client:
        put(client)
        deposit(client)
        client.advance()
        path = "/v2/balance-webhook/deliveries?from=2026-11-30&to=2026-11-01"
        assert client.call("GET", path).json["deliveries"] == []


@pytest.mark.parametrize(("choice", "status"), [("cost", 200), ("face_value", 400)])
def test_the_balance_has_to_cover_the_cost_or_the_face_value(choice: str, status: int) -> None:
    poor = {"resellers": [{"code": "RS001", "balance": "9.80"}]}  # RELOAD-10 costs 9.75
    with running(poor | assuming(insufficient_balance=choice)) as client:
        answer = client.pay("a", "10")
        assert answer.status == status
        if status == 400:
            assert answer.data["remarks"] == "Insufficient_Balance"
            said = "the wallet has 9.80, this payment needs its face value of 10.00"
            assert answer.headers["x-sim-diagnosis"] == said


@pytest.mark.parametrize(("choice", "found"), [("exact", 0), ("any_case", 4)])
def test_a_category_is_compared_exactly_or_without_regard_to_case(choice: str, found: int) -> None:
    with running(assuming(suggested_category=choice)) as client:
        rows = client.call("GET", "/v1/interbank/billers?suggested_category=loans").json["data"]
        assert len(rows) == found
        assert len(client.call("GET", "/v1/interbank/billers?suggested_category=Loans").json["data"]) == 4


@pytest.mark.parametrize("spelling", ["1", "yes", "tRUE", "0", "on"])
def test_a_boolean_has_six_spellings_and_no_other(spelling: str) -> None:
    with running() as client:
        assert client.call("GET", f"/v2/catalog?is_active={spelling}").status == 400
        for known in ("true", "True", "TRUE", "false", "False", "FALSE"):
            assert client.call("GET", f"/v2/catalog?is_active={known}").status == 200


def addresses(client: Client, count: int) -> Iterator[str]:
    """Where the callbacks of so many payments say they come from."""
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    for number in range(count):
        client.pay(f"ref-{number}")
    client.advance()
    for item in client.inbox():
        yield dict(item["headers"])["x-forwarded-for"]


@pytest.mark.parametrize(("environment", "known"), [("staging", STAGING), ("production", STAGING - {"3.1.120.89"})])
def test_callbacks_come_from_every_address_of_the_environment(environment: str, known: set[str]) -> None:
    with running({"environment": environment}) as client:
        first = list(addresses(client, 20))
    with running({"environment": environment}) as client:
        again = list(addresses(client, 20))
    with running({"environment": environment, "seed": 2}) as client:
        other = list(addresses(client, 20))
    assert set(first) == set(other) == known
    assert first == again != other


@pytest.mark.parametrize(("choice", "prefix"), [("relative", "/s/default"), ("unprefixed", "")])
def test_links_of_the_billers_have_the_sandboxs_path_or_not(choice: str, prefix: str) -> None:
    with running(assuming(biller_links=choice)) as client:
        for sandbox, begins in (("default", prefix), (None, "")):
            answer = client.call("GET", "/v1/interbank/billers?limit=1", sandbox=sandbox).json
            assert answer["links"]["first"].startswith(f"{begins}/v1/interbank/billers?")
            assert answer["meta"]["path"] == f"{begins}/v1/interbank/billers"


@pytest.mark.parametrize(
    ("choice", "begins"),
    [
        ("relative", "/s/default/v2/"),
        ("absolute", "http://127.0.0.1:8080/s/default/v2/"),
        ("unprefixed", "/v2/"),
    ],
)
def test_links_of_the_statement_have_host_and_path_as_the_scenario_says(choice: str, begins: str) -> None:
    with running(assuming(statement_links=choice)) as client:
        answer = client.call("GET", f"/v2/balance-statement?{DAYS}", sandbox="default").json
        assert answer["links"]["first"].startswith(begins + "balance-statement?")
        assert answer["meta"]["path"] == begins + "balance-statement"


def test_a_link_that_was_appended_to_the_base_url_is_diagnosed() -> None:
    with running() as client:
        twice = client.send("GET", "/s/default/s/default/v1/interbank/billers", "limit=1", b"", {})
        assert twice.status == 404
        said = twice.headers["x-sim-diagnosis"]
        assert said.startswith("the path names two sandboxes, '/s/default' and '/s/default'; links of a list have")
        assert "resolve them against the host" in said
        shouted = client.send("GET", "/s/default/S/Default/v2/balance", "", b"", {}).headers["x-sim-diagnosis"]
        assert shouted.startswith("the path names two sandboxes, '/s/default' and '/S/Default'")
        other = client.send("GET", "/s/default/s/mine/v2/balance", "", b"", {})
        assert "the path names two sandboxes, '/s/default' and '/s/mine'" in other.headers["x-sim-diagnosis"]
        assert (
            "two sandboxes" not in client.send("GET", "/s/default/v2/nothing", "", b"", {}).headers["x-sim-diagnosis"]
        )


def status_after(client: Client, product: str, account: str, seconds: float) -> str:
    client.pay(product, "10", product, account=account)
    client.advance(seconds)
    return str(client.pay(product, "10", product, account=account).data["status"])


@pytest.mark.parametrize(
    ("product", "account", "takes_s"),
    [("RELOAD", "0123456789", 5), ("ELECTRIC", "210012345678", 86_400), ("WATER", "1234567890", 86_400)],
)
def test_with_realistic_times_a_payment_takes_as_long_as_its_product(product: str, account: str, takes_s: int) -> None:
    with running({"realistic_times": True}) as client:
        assert status_after(client, product, account, takes_s - 1) == "Processing"
        client.advance(1)
        assert client.pay(product, "10", product, account=account).data["status"] == "Succesful"
    with running() as client:
        assert status_after(client, product, account, 5) == "Succesful", "it is off by default"


def test_with_realistic_times_three_days_are_three_days_and_rules_have_their_own() -> None:
    biller = {"extras": {"biller_code": "1001", "ic_number": "900101145678"}}
    with running({"realistic_times": True}) as client:
        client.pay("a", "10", "INTERBANK", account="12345678", **biller)
        client.advance(3 * 86_400 - 1)
        assert client.pay("a", "10", "INTERBANK", account="12345678", **biller).data["status"] == "Processing"
        client.advance(1)
        assert client.pay("a", "10", "INTERBANK", account="12345678", **biller).data["status"] == "Succesful"
    rule = {"when": {"product": "WATER"}, "then": [{"status": "Accepted"}, {"after": "9s", "status": "Failed"}]}
    with running({"realistic_times": True, "payments": [rule]}) as client:
        assert status_after(client, "WATER", "1234567890", 9) == "Failed"


def test_no_refundable_product_is_instant_in_the_default_scenario() -> None:
    with running() as client:
        listed = client.call("GET", "/v2/product-list").json["data"]
        times = {
            code: product["processing_time"]
            for code, product in client.call("GET", "/v2/catalog").json["products"].items()
        }
        refundable = {one["product_code"] for one in listed if one["is_refundable"]}
        assert refundable == {"ELECTRIC", "WATER", "INTERBANK"}
        assert {times[code] for code in refundable} == {"24_hours", "3_days"}
