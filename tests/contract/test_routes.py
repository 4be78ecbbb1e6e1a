"""The routes of the simulator match the contract."""

import re

import pytest
from starlette.routing import Route

from simulator.api.routes import RESELLER_ROUTES
from simulator.contract.openapi import CONTROL, OPENAPI, load
from simulator.contract.schemas import names
from simulator.control.control_app import ROUTES
from simulator.runtime.inboxes import INBOX_PATH

METHODS = {"GET", "PUT", "POST", "DELETE", "PATCH"}


def described(document: str) -> set[tuple[str, str]]:
    paths = load(document)["paths"]
    return {(method.upper(), path) for path, item in paths.items() for method in item if method.upper() in METHODS}


def test_the_reseller_api_is_described_whole() -> None:
    assert described(OPENAPI) == {(method, path) for path, methods in RESELLER_ROUTES.items() for method in methods}


def test_a_deprecated_operation_of_the_contract_answers_with_the_deprecation_header() -> None:
    """The endpoints of SPEC 9 whose answers carry `Deprecation`."""
    paths = load(OPENAPI)["paths"]
    marked = {
        (method, path)
        for path, methods in RESELLER_ROUTES.items()
        for method, one in methods.items()
        if one.is_deprecated
    }
    assert marked == {
        (method, path) for method, path in described(OPENAPI) if paths[path][method.lower()].get("deprecated")
    }


@pytest.mark.parametrize("path", RESELLER_ROUTES)
def test_every_endpoint_validates_with_a_schema_of_the_contract(path: str) -> None:
    wanted = {endpoint.schema for endpoint in RESELLER_ROUTES[path].values() if endpoint.schema}
    assert wanted <= set(names())


def test_the_control_api_is_described_whole() -> None:
    routed = {
        (method, re.sub(r":[a-z]+\}", "}", route.path))
        for route in ROUTES
        if isinstance(route, Route) and not route.path.startswith(INBOX_PATH)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert described(CONTROL) == routed
