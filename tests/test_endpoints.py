"""The endpoints of SPEC 4.1, written out once more: the routes, the contract and README have these and no others."""

import re
from pathlib import Path

from simulator.api.routes import routes
from simulator.contract.openapi import OPENAPI, load

README = Path(__file__).parent.parent / "README.md"
VERBS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")

# SPEC 4.1, in its order. It is not read from anywhere, so that nothing can leave an endpoint out everywhere at once.
ENDPOINTS = [
    ("POST", "/v2/token"),
    ("POST", "/v2/token/refresh"),
    ("GET", "/v2/catalog"),
    ("GET", "/v2/options"),
    ("GET", "/v1/interbank/billers"),
    ("GET", "/v2/product-list"),
    ("GET", "/v2/subproducts"),
    ("GET", "/v2/networkstatus"),
    ("GET", "/v2/bill-presentment"),
    ("POST", "/v2/topup"),
    ("POST", "/v2/transactions/check"),
    ("POST", "/v2/transactions/void"),
    ("GET", "/v2/transactions"),
    ("GET", "/v2/balance"),
    ("POST", "/v2/low-balance-threshold"),
    ("GET", "/v2/balance-statement"),
    ("GET", "/v2/callback-url"),
    ("POST", "/v2/callback-url"),
    ("GET", "/v2/balance-webhook"),
    ("PUT", "/v2/balance-webhook"),
    ("DELETE", "/v2/balance-webhook"),
    ("PATCH", "/v2/balance-webhook/enabled"),
    ("POST", "/v2/balance-webhook/rotate-secret"),
    ("GET", "/v2/balance-webhook/deliveries"),
    ("GET", "/v2/balance-webhook/deliveries/{jobId}"),
    ("POST", "/v2/balance-webhook/deliveries/{jobId}/replay"),
    ("POST", "/v2/balance-webhook/deliveries/replay-bulk"),
]


def test_the_routes_are_the_endpoints_of_the_specification() -> None:
    assert sorted((method, path) for path, methods in routes().items() for method in methods) == sorted(ENDPOINTS)


def test_the_contract_describes_the_endpoints_of_the_specification() -> None:
    paths = load(OPENAPI)["paths"]
    described = [(verb.upper(), path) for path, item in paths.items() for verb in item if verb in VERBS]
    assert sorted(described) == sorted(ENDPOINTS)


def test_readmes_table_lists_the_endpoints_of_the_specification() -> None:
    rows = re.findall(r"^\| ([A-Z, ]+) \| `(/v\d/[^`]*)` \| (.+) \|$", README.read_text(), re.MULTILINE)
    listed = [(method, path) for methods, path, _ in rows for method in methods.split(", ")]
    assert sorted(listed) == sorted(ENDPOINTS)
