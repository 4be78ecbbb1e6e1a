"""Timestamps, metadata wrappers and spelling, endpoint by endpoint, as the tables of SPEC 1 and 2.3 have them.

An endpoint is one row of each table that it belongs to. `WRAPPERS` has a row for each, and wherever one of those
answers has a time, `TIMESTAMPS` has to state its format.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Response, running
from tests.support.endpoints import ENDPOINTS

# 16:30:05.250 UTC: the date differs between UTC and the service's own zone.
START = "2026-11-20T16:30:05.250000+00:00"
DAY_FIRST = ("21-11-2026 00:30:05", r"\d{2}-\d{2}-\d{4} \d{2}:\d{2}:\d{2}")
YEAR_FIRST = ("2026-11-21 00:30:05", r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")
YEAR_FIRST_MS = ("2026-11-21 00:30:05.250", r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}")
ISO_UTC = ("2026-11-20T16:30:05.250Z", r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")

TODAY = "date=2026-11-21"
TOPUP = {"refid": "ref-1", "product": "RELOAD", "account": "0123450011", "amount": "10"}  # succeeds at once
LATER = {"refid": "ref-2", "product": "RELOAD", "account": "0123456789", "amount": "10"}  # succeeds after a second
PAYMENTS = [
    {"when": {"account": "0123450011"}, "then": [{"status": "Succesful"}]},
    {"when": {"account": "0123456789"}, "then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]},
]
SCENARIO = {"clock": {"mode": "manual", "start": START}, "payments": PAYMENTS, "webhooks": {"retry_limit": 0}}
CALLBACK_URL = "/v2/callback-url?url=inbox:here&method="
BILL = "/v2/bill-presentment?product=ELECTRIC&account=123456789012"
NETWORK = "/v2/networkstatus?product=FP"
THRESHOLD = "/v2/low-balance-threshold?amount=5"
HISTORY = f"/v2/transactions?limit=1&{TODAY}"
STATEMENT = f"/v2/balance-statement?{TODAY}"
WEBHOOK = "/v2/balance-webhook"
DELIVERIES = WEBHOOK + "/deliveries"
CREDENTIALS = {"username": "test_user_RS001", "password": "test_password_RS001"}
# Values of a running sandbox; the fixture has a job that failed, and a refresh token.
JOB, TOKEN = "{jobId}", "{token}"

# method, target, body, where the timestamp stands, its format
TIMESTAMPS: list[tuple[str, str, Any, str, tuple[str, str]]] = [
    ("GET", NETWORK, None, "metadata.last_updated", DAY_FIRST),
    ("GET", BILL, None, "metadata.last_updated", DAY_FIRST),
    ("GET", "/v2/callback-url", None, "@metadata.last_updated", DAY_FIRST),
    ("POST", CALLBACK_URL + "POST", None, "@metadata.last_updated", DAY_FIRST),
    ("POST", "/v2/topup", TOPUP, "data.timestamp", YEAR_FIRST),
    ("POST", "/v2/topup", TOPUP | {"amount": "7"}, "data.timestamp", YEAR_FIRST),
    ("POST", THRESHOLD, None, "@metadata.last_updated", YEAR_FIRST),
    ("GET", HISTORY, None, "data.0.date", YEAR_FIRST_MS),
    ("GET", HISTORY, None, "data.0.response_date", YEAR_FIRST_MS),
    ("GET", STATEMENT, None, "data.0.date", YEAR_FIRST_MS),
    ("GET", "/v2/catalog", None, "last_updated", ISO_UTC),
    ("GET", WEBHOOK, None, "created_at", ISO_UTC),
    ("GET", WEBHOOK, None, "updated_at", ISO_UTC),
    *(
        ("GET", target, None, place + name, ISO_UTC)
        for target, place in ((DELIVERIES, "deliveries.0."), (f"{DELIVERIES}/{JOB}", ""))
        for name in ("createdAt", "completedAt", "payload.created_at", "webhookPayload.created_at")
    ),
]

TOKENS = {"AuthenticationResult", "AccessToken", "ExpiresIn", "TokenType", "RefreshToken", "IdToken"}
DELIVERY = {
    *("id", "eventId", "status", "error", "retryCount", "retryLimit", "createdAt", "completedAt", "webhookUrl"),
    *("webhookMethod", "replayCount", "originalJobId", "payload", "webhookPayload", "responseCode"),
    *("responseStatusCode", "responseBody"),
}

# method, target, body, the members of the answer
WRAPPERS: list[tuple[str, str, Any, set[str]]] = [
    ("POST", "/v2/token", CREDENTIALS, TOKENS),
    ("POST", "/v2/token/refresh", {"refresh_token": TOKEN}, TOKENS),
    ("GET", "/v2/catalog", None, {"last_updated", "tree", "products"}),
    ("GET", "/v2/options?product_code=RELOAD&field_id=amount", None, {"product_code", "field_id", "items", "meta"}),
    ("GET", "/v1/interbank/billers", None, {"message", "data", "links", "meta"}),
    ("GET", "/v2/product-list", None, {"data"}),
    ("GET", "/v2/subproducts?product_code=INTERBANK", None, {"message", "data"}),
    ("GET", NETWORK, None, {"data", "metadata"}),
    ("GET", BILL, None, {"data", "metadata", "transaction_validity", "transaction_message", "error_message"}),
    ("POST", "/v2/topup", TOPUP, {"data"}),
    ("POST", "/v2/transactions/check", {"refid": "ref-0"}, {"data"}),
    ("POST", "/v2/transactions/void", {"refid": "ref-0", "refund_type": 1}, {"data"}),
    ("GET", HISTORY, None, {"data", "meta"}),
    ("GET", "/v2/balance", None, {"data"}),
    ("POST", THRESHOLD, None, {"data", "@metadata"}),
    ("GET", STATEMENT, None, {"data", "links", "meta", "summary"}),
    ("GET", "/v2/callback-url", None, {"data", "@metadata"}),
    ("POST", CALLBACK_URL + "GET", None, {"data", "@metadata"}),
    ("GET", WEBHOOK, None, {"webhook_url", "enabled", "secret_last_four", "created_at", "updated_at"}),
    ("PUT", WEBHOOK, {"url": "inbox:others"}, {"webhook_url"}),
    ("DELETE", WEBHOOK, None, set()),
    ("PATCH", WEBHOOK + "/enabled", {"enabled": False}, {"enabled"}),
    ("POST", WEBHOOK + "/rotate-secret", None, {"webhook_url", "webhook_secret"}),
    ("GET", DELIVERIES, None, {"deliveries", "cursor", "hasMore"}),
    ("GET", f"{DELIVERIES}/{JOB}", None, DELIVERY),
    ("POST", f"{DELIVERIES}/{JOB}/replay", None, {"jobId", "originalJobId", "eventId"}),
    ("POST", DELIVERIES + "/replay-bulk", {"job_ids": [JOB]}, {"results"}),
]

# method, target, body, where the word stands, how success is spelled there
SPELLINGS: list[tuple[str, str, Any, str, str]] = [
    ("POST", "/v2/topup", TOPUP, "data.status", "Succesful"),
    ("GET", f"/v2/transactions?limit=1&status=SUCCESSFUL&{TODAY}", None, "data.0.status_name", "Successful"),
    ("GET", "/v2/callback-url", None, "data.Status", "Success"),
    ("POST", THRESHOLD, None, "data.Status", "Success"),
    ("POST", "/v2/transactions/check", {"refid": "ref-0"}, "data.status", "Success"),
    ("POST", "/v2/transactions/void", {"refid": "ref-0", "refund_type": 1}, "data.status", "Failed"),
    ("GET", NETWORK, None, "data.network_status", "Interruption"),
    ("GET", BILL, None, "data.message", "Account no is valid"),
    ("GET", BILL, None, "data.BillerName", "National Electricity"),
    ("GET", f"{DELIVERIES}/{JOB}", None, "status", "failed"),
]


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        client.call("POST", "/v2/topup", TOPUP | {"refid": "ref-0"})
        client.call("PUT", WEBHOOK, {"url": "inbox:hooks"})
        client.sim("PUT", "/sandboxes/default/inbox/hooks", {"replies": [{"status": 500}]})
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 10})
        client.advance(0)
        yield client


def ask(client: Client, method: str, target: str, body: Any) -> Response:
    """Send a row of a table, with what this sandbox has in the places for it."""
    if JOB in f"{target} {body}":
        job = client.call("GET", DELIVERIES).json["deliveries"][0]["id"]
        target = target.replace(JOB, job)
        body = body and {"job_ids": [job]}
    if TOKEN in f"{body}":
        body = {"refresh_token": client.call("POST", "/v2/token", CREDENTIALS).json["RefreshToken"]}
    return client.call(method, target, body)


def member(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = body[int(part) if part.isdigit() else part]
    return body


def places_of_times(body: Any, path: str = "") -> set[str]:
    """Yield the places of times in an answer; the first item of a list stands for all."""
    if isinstance(body, dict):
        return {place for name, each in body.items() for place in places_of_times(each, f"{path}.{name}")}
    if isinstance(body, list):
        return {place for each in body for place in places_of_times(each, f"{path}.0")}
    return {path[1:]} if re.search(r"\d{2}-\d{2}.\d{2}:\d{2}|\d{4}.\d{2}:\d{2}:\d{2}", str(body)) else set()


def endpoint(method: str, target: str) -> tuple[str, str]:
    return method, target.partition("?")[0]


def row_id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else ""


def test_each_endpoint_has_its_row() -> None:
    assert sorted({endpoint(*row[:2]) for row in WRAPPERS}) == sorted(ENDPOINTS)


@pytest.mark.parametrize(("method", "target", "body", "path", "form"), TIMESTAMPS, ids=row_id)
def test_each_endpoint_has_its_timestamp_format(
    client: Client, method: str, target: str, body: Any, path: str, form: tuple[str, str]
) -> None:
    text, pattern = form
    value = member(ask(client, method, target, body).json, path)
    assert re.fullmatch(pattern, value, re.ASCII)
    assert value == text


@pytest.mark.parametrize(("method", "target", "body", "members"), WRAPPERS, ids=row_id)
def test_each_endpoint_has_its_wrapper(client: Client, method: str, target: str, body: Any, members: set[str]) -> None:
    answer = ask(client, method, target, body)
    content = answer.json if answer.body else {}
    assert (answer.status, set(content)) == (204 if method == "DELETE" else 200, members)
    for key in members & {"metadata", "@metadata"}:
        assert content[key]["status_code"] == 200
    formatted = {row[3] for row in TIMESTAMPS if endpoint(*row[:2]) == endpoint(method, target)}
    assert places_of_times(content) == formatted


@pytest.mark.parametrize(("method", "target", "body", "path", "word"), SPELLINGS, ids=row_id)
def test_each_endpoint_has_its_spelling_of_the_status(
    client: Client, method: str, target: str, body: Any, path: str, word: str
) -> None:
    assert member(ask(client, method, target, body).json, path) == word


@pytest.mark.parametrize(
    ("method", "form"),
    [("POST", ("2026-11-21 00:30:06", YEAR_FIRST[1])), ("GET", ("2026-11-21 00:30:06.250", YEAR_FIRST_MS[1]))],
)
def test_each_callback_method_has_its_timestamp_format(client: Client, method: str, form: tuple[str, str]) -> None:
    client.call("POST", CALLBACK_URL + method)
    client.call("POST", "/v2/topup", LATER)
    client.advance(1)
    (item,) = client.inbox("here")
    data = item["json"]["data"] if method == "POST" else json.loads(item["query"]["message"])
    assert (data["timestamp"], data["status"]) == (form[0], "Succesful")
