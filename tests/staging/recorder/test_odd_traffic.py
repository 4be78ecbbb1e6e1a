"""Whatever passes between client and service, the recorder takes it, and what it writes passes `check`."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.scenario.library import problems
from simulator.staging.recorder.recorder import TrafficRecorder
from simulator.staging.recorder.traffic_values import plain_line
from simulator.wire.traffic import Call, Notification
from tests.support.tiers import examples

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
ENDPOINTS = [
    ("GET", "/v2/catalog"), ("GET", "/v2/options"), ("GET", "/v1/interbank/billers"), ("GET", "/v2/subproducts"),
    ("GET", "/v2/product-list"), ("GET", "/v2/networkstatus"), ("GET", "/v2/balance"), ("GET", "/v2/balance-statement"),
    ("POST", "/v2/low-balance-threshold"), ("GET", "/v2/callback-url"), ("GET", "/v2/balance-webhook"),
    ("POST", "/v2/topup"), ("GET", "/v2/transactions"), ("GET", "/v2/bill-presentment"),
    ("POST", "/v2/transactions/void"), ("POST", "/v2/transactions/check"), ("GET", "/nowhere/*{}"), ("\u202e", ""),
]  # fmt: skip
WORDS = st.sampled_from(
    [
        "RELOAD", "FP", "r1", "r2", "Succesful", "Accepted", "Processing", "Failed", "Refund", "Success", "Successful",
        "2026-11-21 12:00:05", "2026-11-21 12:00:00", "9999-12-31 23:59:59", "10", "-1", "1e999999999", "01*", "}{",
        "{refid}", "*", "\u2028\x00\ud83d", "Invalid_Account", "select", "pricing", "account", "dynamic", "POST", "",
        "denomination", "price.amount", "a" * 400, "inbox:callbacks", "Interruption", "balance.added", "# x",
    ]
)  # fmt: skip
NAMES = [
    "data", "refid", "product", "account", "amount", "extras", "remarks", "status", "statusCode", "timestamp", "cost",
    "balance", "products", "tree", "groups", "code", "name", "fields", "id", "type", "role", "data_source", "pricing",
    "discount", "value", "unit_price", "fulfillment", "items", "meta", "total", "current_page", "per_page",
    "product_code", "field_id", "subproduct_code", "biller_code", "display_name", "face_value", "network_status",
    "BalanceThreshold", "CallbackUrl", "Method", "webhook_url", "enabled", "trxid", "status_name", "date",
    "response_date", "status_code", "message", "error_message", "BillerName", "Outstanding", "CustomField", "path",
    "denomination", "price", "sn", "pin", "productName", "is_active", "processing_time", "last_updated",
]  # fmt: skip
SCALARS = WORDS | st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=8),
    max_leaves=24,
)
RAW = [
    b"", b"{", b"[" * 5000, b'{"data":' * 600, b"\xff\xfe", b"null", b'{"refid":"r1"', b"<html>",
    b'{"data":{"balance":1e999999999,"cost":-1e-99999}}', b'{"data":' + b"9" * 5000 + b"}",
    b'{"products":{"P":{"code":"P","min_amount":{"amount":1e999999},"denomination_unit_price":1e308}}}',
]  # fmt: skip
BODIES = st.sampled_from(RAW) | VALUES.map(lambda value: json.dumps(value).encode())
QUERIES = st.sampled_from(
    [b"", b"product=RELOAD&account=1", b"product_code=RELOAD&field_id=f", b"%ff=%00&;", b"a=b&" * 2000, b"\xff\xfe",
     b"product=FP", b"is_active=false&page=x&account_number=0123456789"]
)  # fmt: skip
SECONDS = st.integers(-100, 10**6)


@st.composite
def calls(draw: st.DrawFn) -> Call:
    method, path = draw(st.sampled_from(ENDPOINTS))
    return Call(
        n=1,
        at=START + timedelta(seconds=draw(SECONDS)),
        method=method,
        path=path,
        query=draw(QUERIES),
        body=draw(BODIES),
        status=draw(st.sampled_from([0, 200, 200, 200, 200, 204, 302, 400, 401, 404, 429, 500, 503, 999])),
        answer=draw(BODIES),
        trxid=draw(st.sampled_from(["", "t1", "x" * 500])),
    )


@st.composite
def told(draw: st.DrawFn) -> Notification:
    return Notification(
        n=1,
        at=START + timedelta(seconds=draw(SECONDS)),
        kind=draw(st.sampled_from(["callback", "webhook"])),
        method=draw(st.sampled_from(["GET", "POST", ""])),
        url=draw(st.sampled_from(["", "http://[", "https://x/?message=%7B%22refid%22%3A%22r1%22%7D", "?message=%ff"])),
        body=draw(BODIES),
        status=draw(st.sampled_from([0, 200, 404, 503])),
        refid=draw(st.sampled_from(["", "r1"])),
    )


def accepted(recorder: TrafficRecorder) -> str:
    text = recorder.scenario_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.yaml"
        path.write_text(text)
        assert problems(path) == [], text
    return text


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(calls() | told(), max_size=14), st.booleans())
def test_anything_gives_a_scenario(seen: list[Call | Notification], names_accounts: bool) -> None:
    recorder = TrafficRecorder(names_accounts=names_accounts)
    for one in seen:
        if isinstance(one, Call):
            recorder.note_call(one)
        else:
            recorder.note_notification(one)
    assert accepted(recorder) == recorder.scenario_text()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3", "r4"]),
        st.sampled_from(["RELOAD", "FP", "no code", "1"]),
        st.sampled_from(["0123456789", "01*", "é", "", "0199"]),
        st.sampled_from([10, "10", 20, 5.5, "1e5", None, -1]),
        st.sampled_from([200, 200, 200, 400, 0]),
        st.sampled_from(["Accepted", "Processing", "Succesful", "Failed", "Refund"]),
        st.sampled_from([1, 2, 20, 48, 53, 42, 77, 99999]),
        st.sampled_from(["", "HC", "Invalid_Account", "{x}", "r1 0123456789", "n\nl"]),
        st.integers(0, 4000),
    ),
    max_size=30,
)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(STEPS)
def test_any_course_of_payments_gives_a_scenario(steps: list[tuple[Any, ...]]) -> None:
    recorder = TrafficRecorder()
    at = START
    for refid, product, account, amount, http, status, code, remarks, wait in steps:
        body = {"refid": refid, "product": product, "account": account, "amount": amount}
        data = {"status": status, "statusCode": code, "remarks": remarks, "cost": 9, "amount": 10, "balance": 90}
        data |= {"refid": refid, "timestamp": (at + timedelta(hours=8)).strftime("%Y-%m-%d %H:%M:%S")}
        answer = json.dumps({"data": data}).encode()
        recorder.note_call(
            Call(
                n=1, at=at, method="POST", path="/v2/topup", body=json.dumps(body).encode(), status=http, answer=answer
            )
        )
        recorder.note_notification(
            Notification(n=1, at=at + timedelta(seconds=wait % 7), kind="callback", method="POST", url="", body=answer)
        )
        at += timedelta(seconds=wait)
    accepted(recorder)


CODES = st.sampled_from(["RELOAD", "FP", "no code", "yes", "1.0", "\u202e", "a" * 70])
OPTIONS = st.lists(
    st.dictionaries(st.sampled_from(["code", "label", "denomination", "price"]), CODES | VALUES), max_size=5
)
FIELDS = st.fixed_dictionaries(
    {"id": CODES, "type": st.sampled_from(["select", "text", "money", "x"])},
    optional={"role": st.sampled_from(["pricing", "account", "none"]), "validation": VALUES, "data_source": VALUES},
)
PRODUCTS = st.fixed_dictionaries(
    {"code": CODES, "fields": st.lists(FIELDS, max_size=3) | VALUES},
    optional=dict.fromkeys(("name", "pricing", "fulfillment", "min_amount", "denomination", "is_active"), VALUES),
)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(PRODUCTS, max_size=4), st.lists(st.tuples(CODES, CODES, OPTIONS, VALUES), max_size=4), VALUES)
def test_any_catalog_gives_a_scenario(products: list[Any], pages: list[tuple[Any, ...]], groups: Any) -> None:
    recorder = TrafficRecorder()

    def note(method: str, path: str, answer: Any, body: Any = None) -> None:
        sent, said = json.dumps(body).encode(), json.dumps(answer).encode()
        recorder.note_call(Call(n=1, at=START, method=method, path=path, body=sent, status=200, answer=said))

    listed = {str(n): one for n, one in enumerate(products)}
    note("GET", "/v2/catalog", {"products": listed, "tree": {"groups": groups}})
    for product, field_id, items, meta in pages:
        note("GET", "/v2/options", {"product_code": product, "field_id": field_id, "items": items, "meta": meta})
        note("GET", "/v2/product-list", {"data": [{"product_code": product, "is_refundable": True}]})
        paid = {"refid": field_id, "product": product, "account": "1", "amount": 5, "extras": {"biller_code": "x"}}
        note("POST", "/v2/topup", {"data": {"status": "Succesful", "refid": field_id, "sn": "12"}}, paid)
        note("POST", "/v2/transactions/void", {"data": {"status": "Success"}}, {"refid": field_id})
    accepted(recorder)


def test_an_empty_recording_gives_a_scenario() -> None:
    assert "Recorded by reseller-sim" in accepted(TrafficRecorder())


@pytest.mark.parametrize("raw", RAW)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_garbage_at_each_endpoint_gives_a_scenario(endpoint: tuple[str, str], raw: bytes) -> None:
    recorder = TrafficRecorder()
    recorder.note_call(
        Call(n=1, at=START, method=endpoint[0], path=endpoint[1], query=b"\xff", body=raw, status=200, answer=raw)
    )
    accepted(recorder)


def test_a_line_keeps_joiners_and_no_break_spaces() -> None:
    kept = "\U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e RM\u00a05"
    assert plain_line(kept) == kept
    assert plain_line("a\nb\tc\x85d\u2028e\x00f\ud83d") == "a b c d e f "
