"""The journal's filters."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httptools
import pytest

from simulator.control.filters import ERRORS, METHODS
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
def test_requests_are_found_by_what_they_have_and_by_what_they_have_not(
    client: Client, query: str, found: list[int]
) -> None:
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


IMPOSSIBLE = {
    "status=2xx": "status must be one status .*; instead of 2xx write status_min=200&status_max=299",
    "status_not=5XX": "status_not must be .*; instead of 5XX write status_min=500&status_max=599",
    "status=!200": "status must be .*; instead of !200 write status_not=200",
    "status=>=400": "status must be .*; instead of >=400 write status_min=400",
    "status=<500": "status must be .*; instead of <500 write status_max=499",
    "status=200-299": "status must be .*; instead of 200-299 write status_min=200&status_max=299",
    "status=200,404": "status must be .*; for several write status_min and status_max, for all others status_not",
    "status=": "status must be one status from 100 to 599, .*",
    "status=ok": "status must be one status from 100 to 599, .*",
    "status=99": "status must be one status from 100 to 599, or 0 for requests without a response",
    "status=600": "status must be .*",
    "status_min=600": "status_min must be .*",
    "status=200&status=201": "status was sent twice, and only one value can be compared; for several .*",
    "method_not=GET&method_not=PUT": "method_not was sent twice, and only one value can be compared",
    "method=get": "method must be a method of HTTP in capitals such as GET; did you mean GET[?]",
    "method_not=pots": "method_not must be a method of HTTP in capitals such as GET; did you mean POST[?]",
    "method=!GET": "method is not negated by '!'; write method_not=GET",
    "path=v2/topup": "path must be a path that begins with /, such as /v2/topup",
    "path=https://api.example/v2/topup": "path must be a path that begins with /, such as /v2/topup",
    "path=/v2/options?page=2": "path is compared without the query; write /v2/options",
    "path=/_sim/health": "path must be a path of the reseller API: the journal has no requests of the control API",
    "path_not=!/v2": "path_not must be a path that begins with /, such as /v2/topup",
    "trxid=my-refid": "trxid must be a trxid, which has 22 digits; refid= finds by refid",
    "reseller=RS002": "reseller must be a reseller of this sandbox; did you mean RS001[?]",
    "reseller=zzzzzzz": "reseller must be a reseller of this sandbox; it has RS001",
    "rule=slow-relaod": "rule must be a rule that this sandbox has, or had; did you mean slow-reload[?]",
    "fault=maintenence": "fault must be a rule that this sandbox has, or had; did you mean maintenance[?]",
    "error=invalid_sig": "error must be the code of a refusal; did you mean invalid_signature[?]",
    "error=our_own_cod": "error must be the code of a refusal; did you mean our_own_code[?]",
    "error=invalid-product": "error must be the code of a refusal; did you mean Invalid_Product[?]",
    "status=200&status_not=200": "status and status_not have the same value, so no request can match",
    "refid=x&refid_not=x": "refid and refid_not have the same value, so no request can match",
    "status_min=500&status_max=400": "status_min is above status_max: no status is from 500 to 400",
    "status=200&status_min=400": "status is not from 400 to 599, so no request can match",
    "status_min=404&status_max=404&status_not=404": "status_not is the only status from 404 to 404",
}  # fmt: skip


@pytest.mark.parametrize(("query", "said"), IMPOSSIBLE.items(), ids=IMPOSSIBLE)
def test_a_filter_that_cannot_match_is_refused_with_what_to_write_instead(
    client: Client, query: str, said: str
) -> None:
    sent = "&".join(f"{name}={quote(value)}" for name, _, value in (one.partition("=") for one in query.split("&")))
    refused = client.sim("GET", f"{REQUESTS}?{sent}")
    assert (refused.status, refused.json["error"]) == (400, "bad_request")
    assert re.fullmatch(said, refused.json["message"])
    assert refused.json["path"] in query


@pytest.mark.parametrize("query", ["rule=slow-reload", "rule=magic-01", "fault=maintenance", "error=our_own_code"])
def test_a_name_that_the_sandbox_has_is_no_mistake_before_anything_matched_it(query: str, client: Client) -> None:
    found = client.sim("GET", f"{REQUESTS}?{query}&path=/v2/tops")
    assert (found.status, found.json["requests"]) == (200, [])


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


def test_the_methods_match_the_http_parser() -> None:
    class Ignored:
        pass

    for method in METHODS - {"CONNECT", "SOURCE"}:
        parser = httptools.HttpRequestParser(Ignored())
        parser.feed_data(f"{method} / HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert parser.get_method() == method.encode()


def test_every_code_that_a_request_is_refused_with_is_a_known_one() -> None:
    sources = [*Path("simulator/api").glob("*.py"), *Path("simulator/auth").glob("*.py")]
    text = "\n".join(one.read_text() for one in sources)
    written = re.findall(r'(?:exchange\.error = |Denied\(\s*)"([a-z_]+)"', text)
    assert len(written) > 20
    assert set(written) <= ERRORS


def test_a_misspelt_filter_is_refused_with_the_names_of_all_in_the_order_of_the_documentation() -> None:
    with running() as client:
        refused = client.sim("GET", f"{REQUESTS}?metod=GET")
    compared = "method, path, status, reseller, trxid, refid, rule, fault, error"
    negated = compared.replace(",", "_not,") + "_not"
    known = f"{compared}, trace_id, status_min, status_max, {negated}, limit, cursor, wait_for, timeout"
    assert refused.status == 400
    assert refused.json["message"] == f"there is no parameter 'metod'; use {known}"
