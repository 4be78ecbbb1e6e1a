"""The validation of responses against the contract: which are accepted, and how violations are reported."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.responses import departures
from tests.support.contract_check import assert_in_contract
from tests.support.contract_responses import response_problems
from tests.support.played import METHODS
from tests.support.shapes import PAYMENT, catalog, product

JSON = "application/json"
NOW = "2026-11-21T04:00:00.123456Z"
EXCHANGE = {
    "n": 1,
    "at": NOW,
    "method": "GET",
    "path": "/v2/balance",
    "query": "",
    "status": 200,
    "reseller": "RS001",
    "rule": "",
    "error": "",
    "diagnosis": "",
    "duration_us": 120,
}


def problems(document: str, method: str, path: str, status: int, body: Any = None, **more: Any) -> list[str]:
    content = b"" if body is None else json.dumps(body).encode()
    return response_problems(document, method, path, status, JSON if content else "", content, **more)


@pytest.mark.parametrize(
    ("document", "method", "path", "status", "body"),
    [
        (OPENAPI, "POST", "/v2/topup", 200, {"data": PAYMENT}),
        (OPENAPI, "DELETE", "/v2/topup", 404, {"error": "unknown_sandbox", "message": "It was deleted."}),
        (OPENAPI, "DELETE", "/v2/topup", 409, {"error": "sandbox_reset", "message": "It was reset."}),
        (OPENAPI, "GET", "/v2/nothing", 409, {"error": "sandbox_reset", "message": "It was reset."}),
        (OPENAPI, "POST", "/v2/topup", 400, {"data": PAYMENT | {"status": "Failed", "cost": 0}}),
        (OPENAPI, "POST", "/v2/topup", 400, {"error": "unknown_rule", "message": "x"}),
        (OPENAPI, "POST", "/v2/topup", 401, {"error": "nonce_reused", "message": "x"}),
        (OPENAPI, "GET", "/v2/catalog", 200, catalog(P=product())),
        (OPENAPI, "GET", "/v2/catalog", 400, {"message": "x", "errors": {"a/b~c": ["is unknown"]}}),
        (OPENAPI, "GET", "/v2/balance", 504, {"error": "integration_timeout", "message": "x"}),
        (OPENAPI, "GET", "/v2/balance", 404, {"error": "unknown_sandbox", "message": "x"}),
        (OPENAPI, "GET", "/v2/nothing", 404, {"message": "x", "errors": {}}),
        (OPENAPI, "GET", "/", 404, {"message": "x", "errors": {}}),
        (OPENAPI, "BREW", "/v2/balance", 405, {"message": "x", "errors": {}}),
        (CONTROL, "GET", "/_sim/health", 200, {"status": "ok", "version": "0.1.0"}),
        (CONTROL, "DELETE", "/_sim/sandboxes/a/resellers/b/api-keys/c", 204, None),
        (CONTROL, "GET", "/_sim/sandboxes/a/requests/1", 404, {"error": "unknown_request", "message": "x", "path": ""}),
        (CONTROL, "GET", "/_sim/nothing", 404, {"error": "unknown_path", "message": "x", "path": ""}),
        (
            CONTROL,
            "POST",
            "/_sim/sandboxes/a/clock/advance",
            200,
            {"now": NOW, "left_out": 0, "fired": [{"at": NOW, "kind": "status", "trxid": "1"}]},
        ),
        (
            CONTROL,
            "GET",
            "/_sim/sandboxes/a/requests/1",
            200,
            EXCHANGE | {"request": {"headers": [["host", "x"]], "body": ""}, "response": {"headers": [], "body": "{}"}},
        ),
        (
            CONTROL,
            "PUT",
            "/_sim/sandboxes/a/inbox/b",
            200,
            {"replies": [{"status": 500}, {"delay": 1.5}], "warnings": []},
        ),
    ],
)
def test_a_response_within_the_contract(document: str, method: str, path: str, status: int, body: Any) -> None:
    assert problems(document, method, path, status, body) == []


@pytest.mark.parametrize(
    ("document", "method", "path", "status", "body", "said"),
    [
        (OPENAPI, "POST", "/v2/topup", 502, {}, "the contract has no 502"),
        (OPENAPI, "POST", "/v2/topup", 500, {}, '"error" is a required property'),
        (CONTROL, "GET", "/_sim/health", 500, {"error": "a", "message": "x"}, '"path" is a required property'),
        (OPENAPI, "POST", "/v2/topup", 201, {"data": PAYMENT}, "the contract has no 201"),
        (OPENAPI, "GET", "/v2/nothing", 200, {}, "the contract has no 200"),
        (OPENAPI, "GET", "/v2/nothing", 405, {"message": "x", "errors": {}}, "the contract has no 405"),
        (OPENAPI, "BREW", "/v2/balance", 404, {"message": "x", "errors": {}}, "is a required property"),
        (OPENAPI, "GET", "/v2/balance/", 200, {"data": {"balance": 1, "currency": "MYR"}}, "has no 200"),
        (OPENAPI, "POST", "/v2/topup", 200, {"data": PAYMENT | {"status": "Successful"}}, "data/status"),
        (OPENAPI, "POST", "/v2/topup", 200, {"data": PAYMENT | {"trxid": "1"}}, "/data: 'trxid' is not in"),
        (OPENAPI, "POST", "/v2/topup", 200, {"data": PAYMENT, "meta": {}}, "the body: 'meta' is not in"),
        (OPENAPI, "GET", "/v2/catalog", 200, catalog(P=product(stock=3)), "/products/P: 'stock' is not in"),
        (OPENAPI, "GET", "/v2/catalog", 401, {"error": "nonce_reused", "message": "x"}, "metadata"),
        (OPENAPI, "GET", "/v2/balance", 200, None, "content type"),
        (CONTROL, "DELETE", "/_sim/sandboxes/a", 204, {}, "the body should be empty"),
        (CONTROL, "GET", "/_sim/sandboxes/a/b/clock", 200, {}, "the contract has no 200"),
        (CONTROL, "GET", "/_sim/health", 200, {"status": "ok", "version": "1", "up": 1}, "the body: 'up' is not in"),
        (
            CONTROL,
            "POST",
            "/_sim/sandboxes/a/clock/advance",
            200,
            {"now": NOW, "left_out": 0, "fired": [{"at": NOW, "kind": "status", "anything": 1}]},
            "/fired/0: 'anything' is not in",
        ),
    ],
)
def test_a_response_outside_the_contract(
    document: str, method: str, path: str, status: int, body: Any, said: str
) -> None:
    (problem, *_) = problems(document, method, path, status, body)
    assert said in problem


@pytest.mark.parametrize(
    ("content_type", "body", "said"),
    [
        ("text/html", b"{}", "the content type should be application/json"),
        ("", b"{}", "the content type should be application/json"),
        ("application/json", b"<html>", "not valid JSON"),
        ("application/json; charset=utf-8", b"", "the body is empty"),
    ],
)
def test_a_body_that_is_not_json_is_a_problem(content_type: str, body: bytes, said: str) -> None:
    (problem,) = response_problems(OPENAPI, "GET", "/v2/balance", 200, content_type, body)
    assert said in problem


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (405, {"allow": "POST"}, None),
        (405, {}, "the header Allow is missing"),
        (503, {"retry-after": "5"}, None),
        (503, {}, "the header Retry-After is missing"),
        (503, {"retry-after": "soon"}, "the header Retry-After should not be 'soon'"),
        (503, {"retry-after": "5", "x-sim-request-id": "one"}, "the header X-Sim-Request-Id should not be 'one'"),
    ],
)
def test_headers_are_checked_when_they_are_given(status: int, headers: dict[str, str], said: str | None) -> None:
    body = {"error": "a", "message": "x"} if status == 503 else {"message": "x", "errors": {}}
    method = "POST" if status == 503 else "DELETE"
    assert problems(OPENAPI, method, "/v2/topup", status, body, headers=headers) == ([said] if said else [])
    assert problems(OPENAPI, method, "/v2/topup", status, body) == []


BALANCE = b'{"data": {"balance": 1, "currency": "MYR"}}'
FAULT = b'{"error": "scripted_fault", "message": "x"}'


@pytest.mark.parametrize(
    ("method", "path", "status", "headers", "body"),
    [
        ("GET", "/v2/balance", 200, {"Content-Type": JSON}, BALANCE),
        ("GET", "/v2/balance?x=1", 200, {"content-type": JSON}, BALANCE),
        ("GET", "/s/mine/v2/balance", 200, {"content-type": JSON}, BALANCE),
        ("GET", "/s/mine", 404, {"content-type": JSON}, b'{"error": "unknown_sandbox", "message": "x"}'),
        ("GET", "/_sim/health", 200, {"content-type": JSON}, b'{"status": "ok", "version": "1"}'),
        ("GET", "/_simulator", 404, {"content-type": JSON}, b'{"message": "x", "errors": {}}'),
        ("POST", "/_sim/inbox/default/callbacks", 500, {}, b"as programmed"),
        ("GET", "/v2/balance", 418, {"X-Sim-Rule": "teapot"}, FAULT),
        ("GET", "/v2/balance", 0, {}, b""),
    ],
)
def test_the_check_of_the_suite_finds_the_document(
    method: str, path: str, status: int, headers: dict[str, str], body: bytes
) -> None:
    assert_in_contract(method, path, status, headers, body)


@pytest.mark.parametrize(
    ("path", "status", "headers", "body"),
    [
        ("/v2/balance", 500, {}, b"Internal Server Error"),
        ("/v2/balance", 500, {"content-type": JSON}, b'{"error": "unexpected", "message": "x"}'),
        ("/_sim/health", 500, {"content-type": JSON}, b'{"error": "unexpected", "message": "x", "path": ""}'),
        ("/s/mine/v2/balance", 200, {"content-type": JSON}, b"{}"),
        ("/_sim/sandboxes", 200, {"content-type": JSON}, b"{}"),
        ("/_sim/inbox", 200, {"content-type": JSON}, b"{}"),
        ("/v2/balance", 418, {}, FAULT),
        ("/v2/balance", 401, {"x-sim-rule": "broken", "content-type": JSON}, FAULT),
    ],
)
def test_the_check_of_the_suite_fails(path: str, status: int, headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(AssertionError, match="outside the contract"):
        assert_in_contract("GET", path, status, headers, body)


@pytest.mark.parametrize(("status", "code"), [(409, "sandbox_reset"), (500, "unexpected")])
def test_answers_that_only_the_simulator_gives_depart_at_a_deployment(status: int, code: str) -> None:
    body = f'{{"error":"{code}","message":"text"}}'.encode()
    assert response_problems(OPENAPI, "GET", "/v2/balance", status, "application/json", body) == []
    [found] = departures(OPENAPI, "GET", "/v2/balance", status, "application/json", body)
    assert found == ("the status", "one that the contract has", str(status), False)


def answers(document: str) -> Iterator[tuple[str, str, int, Any]]:
    """Yield method, path and status of every described body in JSON, and its example or None."""
    whole = bundled(document)
    for path, item in whole["paths"].items():
        for method in (each for each in METHODS if each in item):
            for status, response in item[method]["responses"].items():
                name = response.get("$ref", "").rpartition("/")[2]
                described = whole["components"]["responses"][name] if name else response
                if JSON in described.get("content", {}) and "x-simulator-only" not in described:
                    yield method.upper(), path, int(status), described["content"][JSON].get("example")


DOCUMENTS = (OPENAPI, CONTROL, PROXY)
ANSWERS = [(document, *answer) for document in DOCUMENTS for answer in answers(document)]


def departing(document: str, method: str, path: str, status: int, body: Any) -> dict[str, str]:
    """The expected departures by the change."""
    found = departures(document, method, path, status, JSON, json.dumps(body).encode())
    return {one.field: one.expected for one in found if not one.is_unknown}


def test_there_are_answers_of_every_document() -> None:
    assert {document: sum(answer[0] == document for answer in ANSWERS) > 50 for document in DOCUMENTS} == dict.fromkeys(
        DOCUMENTS, True
    )


@pytest.mark.parametrize(("document", "method", "path", "status", "example"), ANSWERS)
def test_any_answer_that_departs_is_explained_by_the_members_that_do(
    document: str, method: str, path: str, status: int, example: Any
) -> None:
    """Whether its schema stands in a file or in the document itself, alone or as one of several."""
    where = (document, method, path, status)
    departing(*where, {"x": 1})  # raises nothing
    named = 0
    for member in example if isinstance(example, dict) else ():
        for other in ([["x"]], 7, None):
            found = departing(*where, {**example, member: other})
            assert all(f"{field}.".startswith(f"{member}.") for field in found), (member, found)
            named += len(found)
        less = {key: value for key, value in example.items() if key != member}
        found = departing(*where, less)
        assert not less or found in ({}, {member: "is required"}) or member in found["the body"].split(), (
            member,
            found,
        )
        named += len(found)
    assert named or not isinstance(example, dict), "nothing that is wrong in it is found"
