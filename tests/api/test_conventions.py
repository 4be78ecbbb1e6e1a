"""Timestamps, metadata wrappers and spelling, endpoint by endpoint, as the tables of SPEC 1 and 2.3 have them.

An endpoint is one row of each table that it belongs to.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Client, running

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
SCENARIO = {"clock": {"mode": "manual", "start": START}, "payments": PAYMENTS}
CALLBACK_URL = "/v2/callback-url?url=inbox:here&method="

# method, target, body, where the timestamp stands, its format
TIMESTAMPS: list[tuple[str, str, Any, str, tuple[str, str]]] = [
    ("GET", "/v2/callback-url", None, "@metadata.last_updated", DAY_FIRST),
    ("POST", CALLBACK_URL + "POST", None, "@metadata.last_updated", DAY_FIRST),
    ("POST", "/v2/topup", TOPUP, "data.timestamp", YEAR_FIRST),
    ("POST", "/v2/topup", TOPUP | {"amount": "7"}, "data.timestamp", YEAR_FIRST),
    ("POST", "/v2/low-balance-threshold?amount=5", None, "@metadata.last_updated", YEAR_FIRST),
    ("GET", f"/v2/transactions?limit=1&{TODAY}", None, "data.0.date", YEAR_FIRST_MS),
    ("GET", f"/v2/transactions?limit=1&{TODAY}", None, "data.0.response_date", YEAR_FIRST_MS),
    ("GET", f"/v2/balance-statement?{TODAY}", None, "data.0.date", YEAR_FIRST_MS),
    ("GET", "/v2/catalog", None, "last_updated", ISO_UTC),
]

# method, target, body, the members of the answer beside `data`
WRAPPERS: list[tuple[str, str, Any, set[str]]] = [
    ("GET", "/v2/callback-url", None, {"@metadata"}),
    ("POST", CALLBACK_URL + "GET", None, {"@metadata"}),
    ("POST", "/v2/low-balance-threshold?amount=5", None, {"@metadata"}),
    ("GET", "/v2/balance", None, set()),
    ("GET", f"/v2/transactions?limit=1&{TODAY}", None, {"meta"}),
    ("GET", f"/v2/balance-statement?{TODAY}", None, {"links", "meta", "summary"}),
    ("POST", "/v2/topup", TOPUP, set()),
]

# method, target, body, where the word stands, how success is spelled there
SPELLINGS: list[tuple[str, str, Any, str, str]] = [
    ("POST", "/v2/topup", TOPUP, "data.status", "Succesful"),
    ("GET", f"/v2/transactions?limit=1&status=SUCCESSFUL&{TODAY}", None, "data.0.status_name", "Successful"),
    ("GET", "/v2/callback-url", None, "data.Status", "Success"),
    ("POST", "/v2/low-balance-threshold?amount=5", None, "data.Status", "Success"),
]


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        client.call("POST", "/v2/topup", TOPUP | {"refid": "ref-0"})
        yield client


def member(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = body[int(part) if part.isdigit() else part]
    return body


def row_id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else ""


@pytest.mark.parametrize(("method", "target", "body", "path", "form"), TIMESTAMPS, ids=row_id)
def test_timestamps(client: Client, method: str, target: str, body: Any, path: str, form: tuple[str, str]) -> None:
    text, pattern = form
    told = member(client.call(method, target, body).json, path)
    assert re.fullmatch(pattern, told, re.ASCII)
    assert told == text


@pytest.mark.parametrize(("method", "target", "body", "beside"), WRAPPERS, ids=row_id)
def test_wrappers(client: Client, method: str, target: str, body: Any, beside: set[str]) -> None:
    told = client.call(method, target, body).json
    assert set(told) == {"data"} | beside
    for key in beside & {"metadata", "@metadata"}:
        assert told[key]["status_code"] == 200


@pytest.mark.parametrize(("method", "target", "body", "path", "word"), SPELLINGS, ids=row_id)
def test_spelling(client: Client, method: str, target: str, body: Any, path: str, word: str) -> None:
    assert member(client.call(method, target, body).json, path) == word


@pytest.mark.parametrize(
    ("method", "form"),
    [("POST", ("2026-11-21 00:30:06", YEAR_FIRST[1])), ("GET", ("2026-11-21 00:30:06.250", YEAR_FIRST_MS[1]))],
)
def test_callbacks(client: Client, method: str, form: tuple[str, str]) -> None:
    client.call("POST", CALLBACK_URL + method)
    client.call("POST", "/v2/topup", LATER)
    client.advance(1)
    (item,) = client.inbox("here")
    told = item["json"]["data"] if method == "POST" else json.loads(item["query"]["message"])
    assert (told["timestamp"], told["status"]) == (form[0], "Succesful")
