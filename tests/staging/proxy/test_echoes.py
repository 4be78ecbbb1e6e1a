"""An answer that is about something else than its request departs."""

import json
from typing import Any

import pytest

from simulator.staging.proxy.departures import of_echoes

OPTIONS, NETWORK = b"product_code=DATA&field_id=plan", b"product=RELOAD"


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "answer", "field"),
    [
        ("POST", "/v2/topup", b"", {"refid": "a1"}, {"data": {"refid": "a2"}}, "data.refid"),
        ("POST", "/v2/topup", b"", {"refid": "a1"}, {"data": {"refid": "a1"}}, None),
        ("POST", "/v2/topup", b"", {"refid": 5}, {"data": {"refid": "a2"}}, None),
        ("POST", "/v2/topup", b"", {"refid": "a1"}, {"data": None}, None),
        ("POST", "/v2/topup", b"", {"refid": "a1"}, [], None),
        ("GET", "/v2/options", OPTIONS, {}, {"product_code": "DATA", "field_id": "plan"}, None),
        ("GET", "/v2/options", OPTIONS, {}, {"product_code": "GAME", "field_id": "plan"}, "product_code"),
        ("GET", "/v2/options", OPTIONS, {}, {"product_code": "DATA", "field_id": "size"}, "field_id"),
        ("GET", "/v2/networkstatus", NETWORK, {}, {"data": {"product_code": "WATER"}}, "data.product_code"),
        ("GET", "/v2/catalog", b"", {}, {"products": {"A": {"code": "A"}, "B": {"code": "C"}}}, "products.B.code"),
        ("GET", "/v2/catalog", b"", {}, {"products": [{"code": "C"}]}, None),
        ("GET", "/v2/balance", b"refid=a1", {}, {"data": {"refid": "a2"}}, None),
    ],
)
def test_echoed_values_match_their_request(
    method: str, path: str, query: bytes, body: Any, answer: Any, field: str | None
) -> None:
    found = of_echoes(method, path, query, json.dumps(body).encode() if body else b"", json.dumps(answer).encode())
    assert [one.field for one in found] == ([field] if field else [])
