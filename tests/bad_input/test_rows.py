"""The tools of the tables of bad input: every change is detected, and every row is sent to every endpoint."""

from collections.abc import Callable
from typing import Any

from simulator.api.routes import RESELLER_ROUTES
from simulator.control.control_app import ROUTES
from simulator.runtime.inboxes import INBOX_PATH
from tests.support.bad_requests import (
    ask,
    control_operations,
    facts,
    operations,
    said,
)
from tests.support.client import running


def test_every_kind_of_change_is_seen() -> None:
    with running() as client:
        deeds: list[Callable[[], Any]] = [
            lambda: client.pay("one"),
            lambda: client.advance(2),
            lambda: client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 1}),
            lambda: client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"ip_allowlist": ["::/0", "0.0.0.0/0"]}),
            lambda: client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys"),
            lambda: client.sim("DELETE", "/sandboxes/default/resellers/RS001/api-keys/test_key_RS001_no_secret"),
            lambda: client.sim("POST", "/sandboxes/default/resellers", {"code": "RS002"}),
            lambda: client.sim("POST", "/sandboxes/default/rules", {"section": "faults", "rule": {"when": {"path": "/v2/topup"}, "then": {"status": 500}}}),
            lambda: client.sim("PUT", "/sandboxes/default/clock", {"mode": "real"}),
            lambda: client.call("POST", "/v2/callback-url?url=inbox:other&method=GET"),
            lambda: client.sim("POST", "/sandboxes", {"id": "another"}),
            lambda: client.sim("GET", "/inbox/default/callbacks"),
            lambda: client.sim("DELETE", "/sandboxes/another"),
        ]  # fmt: skip
        for deed in deeds:
            before = facts(client)
            deed()
            assert facts(client) != before
        before = facts(client)
        assert said(ask(client, "GET", "/v2/balance")) == "200"
        assert said(ask(client, "GET", "/v2/balance", signed=False)) == "401 missing_api_key"
        assert facts(client) == before


def test_the_tables_cover_every_route() -> None:
    assert {(one.method, one.template) for one in operations()} == {
        (method, path) for path, methods in RESELLER_ROUTES.items() for method in methods
    }
    templates = {route.path for route in ROUTES if not route.path.startswith(INBOX_PATH)}
    assert {one.template for one in control_operations()} == templates
