"""The stored size of a request is bounded: the largest valid request of each endpoint, sent many times."""

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

import pytest

from simulator.contract.openapi import OPENAPI, load
from tests.support import contract_responses
from tests.support.client import Client, running
from tests.support.webhooks import put

ROUND = 10  # requests; the first round is not counted
WIDE = "\U0001f600"  # four bytes in a string of Python's
EMAIL = WIDE * 64 + "@" + WIDE * 180 + ".example"
PADDING = {"padding": "x" * 50_000}  # a member that is not described
QUERY_TEXT = "9" * 100
LIMITS = {
    "journal": 1,
    "callbacks": 1,
    "deliveries": 1,
    "notifications": 1,
    "inbox": 1,
    "nonces": 1,
    "requests_per_interval": None,
}
SCENARIO = {
    "limits": LIMITS | {"tape": 0},  # whose bounds are its own: tests/persistence/tape/test_tape.py
    "payments": [{"then": [{"status": "Succesful"}]}],
    "resellers": [{"code": "RS001", "balance": "1000000.00"}],
}

BALANCE = "/v2/balance"
Request = tuple[str, str, Any]
NOTHING = 3_000  # counters, and caches that are bounded by themselves
URL = 10_000  # the standard library caches the parts of the latest 128 URLs
ENTRY = 6_000  # a ledger entry with its description
PAYMENT = 90_000
CASE = 60_000


@dataclass(frozen=True)
class Kept:
    """The `number`-th request to an endpoint; and how many bytes each may make the simulator store. `prepare` makes
    what a request needs, such as a payment, before anything is counted."""

    request: Callable[[int], Request]
    bytes_max: int = NOTHING
    prepare: Callable[[Client, int], Any] = lambda client, number: None
    status: int = 200


def refid(number: int) -> str:
    return f"{number:04}" + WIDE * 46


def topup(number: int) -> Request:
    extras = {f"x{at}": WIDE * 900 for at in range(50)}
    body = {"refid": refid(number), "product": "GIFTCARD", "account": WIDE * 100, "amount": "25" + "." + "0" * 97}
    whole = body | {"remarks": WIDE * 10_000, "extras": extras} | PADDING
    return "POST", "/v2/topup", json.dumps(whole, ensure_ascii=False).encode()  # escapes are bounded by their number


def buy(client: Client, number: int) -> None:
    body = {"refid": refid(number), "product": "ELECTRIC", "account": "210012345678", "amount": "10"}
    assert client.call("POST", "/v2/topup", body).status == 200


def case(kind: str, **more: Any) -> Callable[[int], Request]:
    body = {"trxid": "", "user_email": [EMAIL] * 19 + [EMAIL], **more, **PADDING}
    return lambda number: ("POST", f"/v2/transactions/{kind}", body | {"refid": refid(number)})


def get(path: str, **query: Any) -> Callable[[int], Request]:
    return lambda number: ("GET", f"{path}?{urlencode(query)}" if query else path, None)


def same(method: str, path: str, body: Any = None) -> Callable[[int], Request]:
    return lambda number: (method, path, body)


def callback_url(number: int) -> Request:
    url = f"http://receiver.example/{number:04}".ljust(2000, "x")
    return "POST", "/v2/callback-url?" + urlencode({"url": url, "method": "POST"}), None


def webhook_url(number: int) -> Request:
    url = f"http://receiver.example/{number:04}".ljust(500, "x")
    return "PUT", "/v2/balance-webhook", {"url": url} | PADDING


def webhook(client: Client, number: int) -> None:
    put(client, "inbox:webhooks")


DAYS = {"date": "2026-11-01 - 2026-11-30", "limit": "9" * 18}
OPTIONS = {"product_code": "DATA", "field_id": "plan", "account_number": "0123456789", "limit": "9" * 18}
REPLAYS = {"job_ids": ["x" * 100] * 50}
TOKENS = {"username": "u" * 4096, "password": "p" * 4096}

TABLE: dict[str, Kept] = {
    "POST /v2/token": Kept(same("POST", "/v2/token", TOKENS), status=401),
    "POST /v2/token/refresh": Kept(same("POST", "/v2/token/refresh", {"refresh_token": "r" * 4096}), status=401),
    "GET /v2/catalog": Kept(lambda number: ("GET", f"/v2/catalog?product_code={number:0100}", None)),
    "GET /v2/options": Kept(get("/v2/options", **OPTIONS)),
    "GET /v1/interbank/billers": Kept(get("/v1/interbank/billers", page=1, limit="9" * 18, biller_code=QUERY_TEXT)),
    "GET /v2/product-list": Kept(get("/v2/product-list")),
    "GET /v2/subproducts": Kept(get("/v2/subproducts", product_code="DATA", account_number="0123456789")),
    "GET /v2/networkstatus": Kept(get("/v2/networkstatus", product="RELOAD")),
    "GET /v2/bill-presentment": Kept(
        lambda number: (
            "GET",
            f"/v2/bill-presentment?product=ELECTRIC&account=21{number:04}123456",
            None,
        )
    ),
    "POST /v2/topup": Kept(topup, PAYMENT),
    "POST /v2/transactions/check": Kept(case("check"), CASE, buy),
    "POST /v2/transactions/void": Kept(case("void", refund_type=3, refund_reason=WIDE * 1000), CASE, buy),
    "GET /v2/transactions": Kept(get("/v2/transactions", **DAYS, account=QUERY_TEXT)),
    "GET /v2/balance": Kept(get("/v2/balance")),
    "POST /v2/low-balance-threshold": Kept(
        lambda number: ("POST", f"/v2/low-balance-threshold?amount={number + 1}", None)
    ),
    "GET /v2/balance-statement": Kept(get("/v2/balance-statement", **DAYS)),
    "GET /v2/callback-url": Kept(get("/v2/callback-url")),
    "POST /v2/callback-url": Kept(callback_url, URL),
    "GET /v2/balance-webhook": Kept(get("/v2/balance-webhook")),
    "PUT /v2/balance-webhook": Kept(webhook_url),
    "DELETE /v2/balance-webhook": Kept(same("DELETE", "/v2/balance-webhook"), status=204),
    "PATCH /v2/balance-webhook/enabled": Kept(
        same("PATCH", "/v2/balance-webhook/enabled", {"enabled": True} | PADDING), prepare=webhook
    ),
    "POST /v2/balance-webhook/rotate-secret": Kept(same("POST", "/v2/balance-webhook/rotate-secret"), prepare=webhook),
    "GET /v2/balance-webhook/deliveries": Kept(get("/v2/balance-webhook/deliveries", limit=100, search=QUERY_TEXT)),
    "GET /v2/balance-webhook/deliveries/{jobId}": Kept(get("/v2/balance-webhook/deliveries/" + "x" * 100), status=404),
    "POST /v2/balance-webhook/deliveries/{jobId}/replay": Kept(
        same("POST", f"/v2/balance-webhook/deliveries/{'x' * 100}/replay"), status=404
    ),
    "POST /v2/balance-webhook/deliveries/replay-bulk": Kept(
        same("POST", "/v2/balance-webhook/deliveries/replay-bulk", REPLAYS)
    ),
}

ONE, GROUP = "/sandboxes/default", "everyday"
CONTROL: dict[str, Kept] = {
    "deposits": Kept(
        same("POST", f"{ONE}/resellers/RS001/deposits", {"amount": 1, "description": WIDE * 200}), ENTRY, status=201
    ),
    "settings": Kept(
        lambda number: (
            "PATCH",
            f"{ONE}/resellers/RS001/settings",
            {"ip_allowlist": [f"127.{number}.{at // 256}.{at % 256}/32" for at in range(999)] + ["127.0.0.1"]},
        )
    ),
    "product": Kept(
        lambda number: (
            "PATCH",
            f"{ONE}/catalog/products/RELOAD",
            {"name": f"{number:04}" + WIDE * 296, "note": WIDE * 2000},
        )
    ),
    "group": Kept(lambda number: ("PATCH", f"{ONE}/catalog/groups/{GROUP}", {"name": f"{number:04}" + WIDE * 296})),
    "network": Kept(same("PUT", f"{ONE}/network/RELOAD", {"status": "Interruption"})),
}


class Forgetful(dict[Any, Any]):
    """The checks of responses remember each body, which is not the simulator's memory."""

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def _without_memory_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module("encodings.idna")  # which the simulator imports while it runs
    monkeypatch.setattr(contract_responses, "_judged", Forgetful())


def bytes_kept(client: Client, kept: Kept, send: Callable[..., Any]) -> float:
    """Return the bytes that the process stores per request, on average of the smaller round: what is imported
    late counts once."""
    for number in range(3 * ROUND):
        kept.prepare(client, number)
    requests = [kept.request(number) for number in range(3 * ROUND)]
    stored = []
    tracemalloc.start()
    try:
        for begin in (0, ROUND, 2 * ROUND):
            for method, target, body in requests[begin : begin + ROUND]:
                assert send(method, target, body).status == kept.status
            gc.collect()
            stored.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    _, middle, last = stored
    return min(middle - stored[0], last - middle) / ROUND


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", sorted(TABLE))
def test_the_largest_request_makes_us_store_no_more_than_this(endpoint: str) -> None:
    with running(SCENARIO) as client:
        assert bytes_kept(client, TABLE[endpoint], client.call) < TABLE[endpoint].bytes_max


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CONTROL))
def test_a_control_request_makes_us_store_no_more_than_this(name: str) -> None:
    with running(SCENARIO) as client:
        assert bytes_kept(client, CONTROL[name], client.sim) < CONTROL[name].bytes_max


def test_every_endpoint_is_in_the_table() -> None:
    paths = load(OPENAPI)["paths"]
    methods = ("get", "put", "post", "delete", "patch")
    assert set(TABLE) == {f"{one.upper()} {path}" for path, item in paths.items() for one in item if one in methods}


def test_records_share_the_paths_of_the_contract_and_no_other_path_is_interned() -> None:
    """Python 3.12 keeps interned strings forever, and clients choose the other paths."""
    other = "/v2/webhooks/deliveries/1234567"
    with running() as client:
        for path in (BALANCE, BALANCE, other):
            client.call("GET", path)
        first, second, third = client.live.journal
        assert first.path is second.path
        assert first.method is third.method
        assert third.path == other
        assert sys.intern(third.path[:-1] + "7") is not third.path
