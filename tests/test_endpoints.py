"""The endpoints of SPEC 4.1, written out once more: the routes, the contract and the page have exactly these."""

import re
from pathlib import Path

from simulator.api.routes import RESELLER_ROUTES
from simulator.contract.openapi import OPENAPI, load
from tests.support.endpoints import ENDPOINTS

PAGE = Path(__file__).parent.parent / "docs" / "service.md"
VERBS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


def test_the_routes_are_the_endpoints_of_the_specification() -> None:
    assert sorted((method, path) for path, methods in RESELLER_ROUTES.items() for method in methods) == sorted(
        ENDPOINTS
    )


def test_the_contract_describes_the_endpoints_of_the_specification() -> None:
    paths = load(OPENAPI)["paths"]
    described = [(verb.upper(), path) for path, item in paths.items() for verb in item if verb in VERBS]
    assert sorted(described) == sorted(ENDPOINTS)


def test_the_table_of_the_page_lists_the_endpoints_of_the_specification() -> None:
    rows = re.findall(r"^\| ([A-Z, ]+) \| `(/v\d/[^`]*)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    listed = [(method, path) for methods, path, _ in rows for method in methods.split(", ")]
    assert sorted(listed) == sorted(ENDPOINTS)
