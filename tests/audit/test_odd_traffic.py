"""Whatever the traffic is, the audit answers, and says nothing of what it cannot read."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.audit.clauses import EVIDENCE_MAX, FINDINGS_MAX, as_json
from simulator.audit.client_traffic import Rate, Traffic
from simulator.audit.obligations import audited
from simulator.contract.endpoints import endpoints
from simulator.contract.validator import validator
from simulator.wire.traffic import Call, Notification

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
NAMES = [
    "data", "status", "statusCode", "refid", "product", "account", "amount", "extras", "subproduct_code", "ic_number",
    "biller_code", "items", "code", "denomination", "price", "meta", "current_page", "last_page", "products", "fields",
    "role", "validation", "min", "max", "min_amount", "last_updated", "message", "error", "AccessToken", "username",
    "password", "status_name", "remarks", "currency", "product_code",
]  # fmt: skip
TEXTS = st.sampled_from(
    ["", "Processing", "Succesful", "Failed", "Invalid account no", "pricing", "1", "1e9", "-", "\ud800", "é" * 99]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)
)
BODIES = st.binary(max_size=40) | VALUES.map(lambda value: msgspec.json.encode(_writable(value)))
PATHS = st.sampled_from([(one.method, one.path) for one in endpoints()] + [("GET", "/"), ("", "")])
QUERIES = st.binary(max_size=30) | st.sampled_from([b"page=1", b"page=x&limit=", b"token=%ff", b"&&=&"])
HEADERS = st.lists(
    st.tuples(
        st.sampled_from([b"x-api-key", b"x-nonce", b"x-timestamp", b"x-signature", b"authorization", b"X-API-Version"]),
        st.sampled_from([b"", b"k", b"1795233600", b"9" * 10, b"v1=", b"Bearer a.b.c", b"Bearer a.e30.c", b"\xff"]),
    ),
    max_size=6,
).map(tuple)
STATUSES = st.sampled_from([0, 200, 204, 302, 400, 401, 403, 408, 500, 503, 504, 999])
TIMES = st.integers(0, 4000).map(lambda seconds: START + timedelta(seconds=seconds))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(one) for one in value]
    return {name: _writable(one) for name, one in value.items()} if isinstance(value, dict) else value


@st.composite
def calls(draw: st.DrawFn) -> Call:
    method, path = draw(PATHS)
    return Call(
        n=draw(st.integers(1, 50)),
        at=draw(TIMES),
        method=method,
        path=path,
        query=draw(QUERIES),
        headers=draw(HEADERS),
        body=draw(BODIES),
        status=draw(STATUSES),
        answer=draw(BODIES),
        duration_us=draw(st.integers(0, 10**9)),
    )


@st.composite
def notifications(draw: st.DrawFn) -> Notification:
    return Notification(
        n=draw(st.integers(1, 50)),
        at=draw(TIMES),
        kind=draw(st.sampled_from(["callback", "webhook"])),
        method=draw(st.sampled_from(["GET", "POST"])),
        url=draw(
            st.sampled_from(["inbox:a", "http://[", "http://a/?message={}", "", "http://a/?message=%7b%22status"])
        ),
        body=draw(BODIES),
        status=draw(STATUSES),
        error=draw(TEXTS),
        refid=draw(TEXTS),
        probe=draw(st.sampled_from(["", "", "callback-duplicate"])),
        is_forged=draw(st.booleans()),
    )


@given(st.lists(calls(), max_size=12), st.lists(notifications(), max_size=6))
def test_no_traffic_is_too_odd(sent: list[Call], notified: list[Notification]) -> None:
    answer = as_json(audited(Traffic(sent, notified)))
    assert validator("audit-answer").problems(answer) == {}


@pytest.mark.parametrize("body", [b"", b"[]", b'"text"', b"{", b"[" * 100_000, b"{}" * 3, b'{"data":{"status":[]}}'])
def test_answers_that_cannot_be_read_are_unknown_outcomes(body: bytes) -> None:
    order = b'{"refid":"%d","product":"P","account":"A","amount":1}'
    sent = [_payment(1, 0, order % 1, body), _payment(2, 10, order % 2, body)]
    assert [one.id for one in audited(Traffic(sent, [])) if one.is_violated] == ["no-double-payment"]


def test_an_empty_journal_is_not_judged() -> None:
    assert {one.state for one in audited(Traffic([], []))} == {"not_exercised"}


def test_reports_of_any_traffic_are_bounded() -> None:
    sent = [_nonce(n) for n in range(1, 1001)]
    found = next(one for one in audited(Traffic(sent, [])) if one.id == "unique-nonces")
    assert (len(found.findings), len(found.evidence), found.violations) == (FINDINGS_MAX, EVIDENCE_MAX, 999)


def test_a_log_that_has_lost_its_beginning_is_judged_by_its_pace() -> None:
    def states(sent: Sequence[Call]) -> str:
        return next(one.state for one in audited(Traffic(sent, [])) if one.id == "below-rate-limit")

    assert states([_nonce(n, seconds=n / 81) for n in range(26_001, 30_001)]) == "violated"
    assert states([_nonce(n, seconds=n / 79) for n in range(26_001, 30_001)]) == "met"
    assert states([_nonce(n, seconds=n / 81) for n in range(1, 4_001)]) == "met"


def test_an_interval_without_length_has_no_two_requests() -> None:
    rate = Rate(20, timedelta(0))
    found = audited(Traffic([_nonce(n, seconds=0) for n in range(1, 31)], [], rate=rate))
    assert next(one.state for one in found if one.id == "below-rate-limit") == "met"


def _nonce(n: int, seconds: float = 0) -> Call:
    headers = ((b"x-nonce", b"nonce"),)
    return Call(
        n=n, at=START + timedelta(seconds=seconds), method="GET", path="/v2/balance", headers=headers, status=200
    )


def _payment(n: int, seconds: int, body: bytes, answer: bytes) -> Call:
    at = START + timedelta(seconds=seconds)
    return Call(n=n, at=at, method="POST", path="/v2/topup", body=body, status=200, answer=answer)


def test_a_payment_whose_answer_was_late_was_asked_about_at_its_own_pace() -> None:
    order, processing = b'{"refid": "r"}', b'{"data": {"refid": "r", "status": "Processing"}}'
    numbered_when_answered = [_payment(1, 15, order, processing), _payment(2, 0, order, processing)]
    [pace] = [one for one in audited(Traffic(numbered_when_answered, [])) if one.id == "polling-pace"]
    assert pace.state == "not_exercised"
