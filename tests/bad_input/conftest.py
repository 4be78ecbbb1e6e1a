"""One simulator for each module's table, and the rule that no request of a table changes anything in it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.bad_requests import facts
from tests.support.client import Client, running


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A sandbox with a payment that succeeded and one under way, an inbox that received something, and a neighbour."""
    with running({"limits": {"requests_per_interval": None}}) as made:
        made.sandbox({"scenario": "neighbour", "extends": "default", "clock": {"mode": "manual"}}, "neighbour")
        made.pay("settled")
        made.advance(10)
        made.pay("under-way")
        yield made
        paid = made.pay("afterwards")
        assert (paid.status, paid.data["status"]) == (200, "Accepted")
        assert made.sim("GET", "/sandboxes/default/invariants").json == {"ok": True, "violations": []}


@pytest.fixture(scope="module")
def known(client: Client) -> dict[str, Any]:
    """All that the sandboxes knew after the test before."""
    return facts(client)


@pytest.fixture(autouse=True)
def unharmed(client: Client, known: dict[str, Any]) -> Iterator[None]:
    """Compare all that the sandboxes know before and after."""
    yield
    after = facts(client)
    changed = after != known
    known.clear()
    known.update(after)
    assert not changed, "a request changed something"
