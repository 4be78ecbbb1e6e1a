"""The audit accuses no good client: it meets every bundled scenario, and its traffic is audited whole."""

import pytest

from simulator.scenario import library
from tests.support.audited import audit, violated
from tests.support.client import running
from tests.support.good_client import ORDERS, behave

FEW = {"rate-limit": 2}  # as many as the limit has room for


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_a_good_client_is_not_accused_under_a_bundled_scenario(name: str) -> None:
    with running(name) as client:
        behave(client, FEW.get(name, len(ORDERS)))
        assert violated(client) == {}


def test_the_good_client_has_met_much_of_what_is_asked() -> None:
    with running("default") as client:
        behave(client)
        met = [one["id"] for one in audit(client)["obligations"] if one["state"] == "met"]
    assert {"unique-nonces", "polling-pace", "polling-to-the-end", "no-double-payment", "all-pages-read"} <= set(met)
