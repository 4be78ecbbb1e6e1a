"""The journal's filters."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.client import Client, running

REQUESTS = "/sandboxes/default/requests"
SCENARIO = {
    "payments": [{"name": "slow-reload", "when": {"amount": 20}, "then": [{"status": "Succesful"}]}],
    "faults": [{"name": "maintenance", "when": {"path": "/v2/transactions"}, "then": {"disconnect": True}}],
    "bills": [{"name": "our-own", "when": {"account": "1111111111"}, "then": {"error": "our_own_code"}}],
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A journal of seven requests: three payments, a refused one, a fault, a wrong signature and an unknown path."""
    with running(SCENARIO) as started:
        started.pay("a")
        started.pay("b", amount="20")
        started.pay("b", amount="20")
        started.pay("c", product="NOWHERE")
        started.call("GET", "/v2/transactions")
        started.call("GET", "/v2/balance", secret="AAAA")
        started.call("GET", "/favicon.ico")
        yield started


def numbers(client: Client, query: str) -> list[int]:
    return [one["n"] for one in client.sim("GET", f"{REQUESTS}?{query}").json["requests"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status_not=200", [7, 6, 5, 4]),
        ("status_min=400", [7, 6, 4]),
        ("status_min=400&status_max=499", [7, 6, 4]),
        ("status_min=200&status_max=200", [3, 2, 1]),
        ("status_min=400&status_not=404", [6, 4]),
        ("method_not=POST", [7, 6, 5]),
        ("method_not=POST&path_not=/v2/balance", [7, 5]),
        ("path=/v2/topup&refid_not=a", [4, 3, 2]),
        ("reseller_not=", [4, 3, 2, 1]),
        ("reseller_not=RS001", [7, 6, 5]),
        ("rule=slow-reload", [3, 2]),
        ("rule_not=slow-reload&status=200", [1]),
        ("fault=maintenance", [5]),
        ("fault_not=", [5]),
        ("fault_not=maintenance&status_not=200", [7, 6, 4]),
        ("error_not=", [6, 4]),
        ("error_not=invalid_signature&status=401", []),
        ("error=Invalid_Product", [4]),
        ("trxid_not=&refid=b", [3, 2]),
        ("trxid=", [7, 6, 5, 4]),
        ("status=0", [5]),
        ("path=/favicon.ico", [7]),
        ("path=/v2/tops", []),
    ],
)
def test_requests_are_found_by_values_that_they_have_or_lack(client: Client, query: str, found: list[int]) -> None:
    assert numbers(client, query) == found


def test_pages_and_waiting_count_only_what_a_negated_filter_matches(client: Client) -> None:
    first = client.sim("GET", f"{REQUESTS}?status_not=200&limit=3").json
    assert [one["n"] for one in first["requests"]] == [7, 6, 5]
    assert numbers(client, f"status_not=200&cursor={first['cursor']}") == [4]
    assert client.sim("GET", f"{REQUESTS}?status_not=200&wait_for=4").json["complete"]
    assert not client.sim("GET", f"{REQUESTS}?status_not=200&wait_for=5&timeout=0").json["complete"]


def test_a_client_that_waits_for_a_future_name_gets_it() -> None:
    with running() as client:

        async def both() -> Any:
            waiting = asyncio.ensure_future(client.asim("GET", f"{REQUESTS}?rule=new-one&status_not=400&wait_for=1"))
            await asyncio.sleep(0)
            rule = {"name": "new-one", "when": {"product": "RELOAD"}, "then": [{"status": "Failed"}]}
            await client.asim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule})
            await client.acall(
                "POST", "/v2/topup", {"refid": "x", "product": "RELOAD", "account": "0123456789", "amount": "10"}
            )
            return await waiting

        answer = client.run(both()).json
    assert answer["complete"]
    assert [one["rule"] for one in answer["requests"]] == ["new-one"]


INVALID = {
    "status=2xx": "status must be one status from 0 to 599; for several use status_min and status_max",
    "status=": "status must be one status from 0 to 599; .*",
    "status=600": "status must be one status from 0 to 599; .*",
    "status_min=600": "status_min must be .*",
    "status=200&status=201": "status was sent twice with different values; send it once",
    "method=get": "method must be a method of HTTP in capitals such as GET",
    "method=!GET": "method must be a method of HTTP in capitals such as GET",
    "path=v2/topup": "path must be a path that begins with /, without a query",
    "path=/v2/options?page=2": "path must be a path that begins with /, without a query",
    "trxid=my-refid": "trxid must be a trxid, which has 22 digits",
    "reseller=RS002": "reseller must be a reseller of this sandbox; did you mean RS001[?]",
    "rule=nope": "rule must be a rule that this sandbox has, or had",
    "fault=nope": "fault must be a rule that this sandbox has, or had",
    "reseller=zzzzzzz": "reseller must be a reseller of this sandbox; it has RS001",
}  # fmt: skip


@pytest.mark.parametrize(("query", "said"), INVALID.items(), ids=INVALID)
def test_a_filter_with_an_invalid_value_is_refused_with_what_it_must_be(client: Client, query: str, said: str) -> None:
    sent = "&".join(f"{name}={quote(value)}" for name, _, value in (one.partition("=") for one in query.split("&")))
    refused = client.sim("GET", f"{REQUESTS}?{sent}")
    assert (refused.status, refused.json["error"]) == (400, "bad_request")
    assert re.fullmatch(said, refused.json["message"])
    assert refused.json["path"] in query


def test_a_rule_that_was_removed_is_still_a_filter_for_what_it_decided() -> None:
    with running() as client:
        rule = {"name": "gone", "when": {"product": "RELOAD"}, "then": [{"status": "Succesful"}]}
        made = client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule}).json["id"]
        client.pay("a")
        client.sim("DELETE", f"/sandboxes/default/rules/{made}")
        assert numbers(client, "rule=gone") == [1]


@pytest.mark.parametrize("path", ["transactions", "deliveries", "notifications"])
def test_other_lists_refuse_a_reseller_that_the_sandbox_does_not_have(client: Client, path: str) -> None:
    refused = client.sim("GET", f"/sandboxes/default/{path}?reseller=RS01")
    assert refused.status == 400
    assert refused.json["message"] == "reseller must be a reseller of this sandbox; did you mean RS001?"


def test_callbacks_refuse_an_invalid_trxid(client: Client) -> None:
    refused = client.sim("GET", "/sandboxes/default/callbacks?trxid=b")
    assert (refused.status, refused.json["message"]) == (400, "trxid must be a trxid, which has 22 digits")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("metod", "method"), ("Status", "status"), ("refId", "refid"), ("ref_id", "refid")]
)
def test_a_misspelt_filter_is_refused_with_the_nearest(client: Client, wrong: str, meant: str) -> None:
    refused = client.sim("GET", f"{REQUESTS}?{wrong}=GET")
    assert (refused.status, refused.json["path"]) == (400, wrong)
    assert refused.json["message"] == f"there is no parameter '{wrong}'; did you mean {meant}?"


def test_an_unknown_filter_is_refused_with_the_names_of_all_in_the_order_of_the_documentation() -> None:
    with running() as client:
        refused = client.sim("GET", f"{REQUESTS}?zzz=GET")
    compared = "method, path, status, reseller, trxid, refid, rule, fault, error"
    negated = compared.replace(",", "_not,") + "_not"
    known = f"{compared}, trace_id, status_min, status_max, {negated}, limit, cursor, wait_for, timeout"
    assert refused.status == 400
    assert refused.json["message"] == f"there is no parameter 'zzz'; use {known}"
