"""Values that the client passes on, and values that it refuses before anything is sent."""

from datetime import UTC, datetime
from typing import Any

import pytest


def test_a_deposit_has_its_description_and_its_reseller(client: Any) -> None:
    with client.sandbox("extends: default\nresellers: [{ code: RS009, balance: 20 }]\n") as sandbox:
        made = sandbox.deposit("5.00", reseller="RS009", description="from the bank")
        assert made["remarks"] == "from the bank"
        sandbox.expect_balance("25.00", reseller="RS009")
        with pytest.raises(AssertionError):
            sandbox.expect_balance("25.00")


def test_advance_takes_a_duration_or_a_time_and_not_both(client: Any) -> None:
    with client.sandbox() as sandbox, pytest.raises(ValueError, match="either"):
        sandbox.advance("1s", to=datetime(2030, 1, 1, tzinfo=UTC))


def test_repeated_keys_keep_their_order(client: Any) -> None:
    with client.sandbox({"extends": "default", "assume": {"repeated-query-keys": "as_sent"}}) as sandbox:
        for query in ("b=2&a=2&a=1", "a-b=1&a=2&a=1"):
            assert sandbox.call("GET", f"/v2/balance?{query}").status == 200


@pytest.mark.parametrize("path", ["v2/balance", "", "/v2/\u00e9", "/v2/a b", "/v2/balance#now", "/v2/\nbalance"])
def test_a_path_that_would_arrive_changed_is_refused(client: Any, path: str) -> None:
    with client.sandbox() as sandbox:
        with pytest.raises(ValueError, match=r"path must be a path such as /v2/balance"):
            sandbox.call("GET", path)
        with pytest.raises(ValueError, match=r"path must be a path such as /v2/balance"):
            sandbox.ask("GET", path or "clock")
        assert sandbox.requests() == []
