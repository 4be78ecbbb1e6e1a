"""Nobody who behaves is accused: a good client meets every bundled scenario, and is audited whole."""

import pytest

from simulator.scenario import library
from tests.support.audited import audit, violated
from tests.support.client import Client, running
from tests.support.good_client import Blocked, GoodClient

ORDERS = [
    ("RELOAD", "0123456789", "10", None),
    ("DATA", "0123456789", "10", {"subproduct_code": "D10"}),
    *(("RELOAD", f"012{outcome:07}", "10", None) for outcome in range(18)),
    *(("RELOAD", f"01234567{ending}", "10", None) for ending in (40, 44, 99)),
]
FEW = {"rate-limit": 2}  # as many as the limit has room for


def behave(client: Client, orders: int = len(ORDERS)) -> None:
    good = GoodClient(client)
    try:
        good.read_all()
        good.pay(ORDERS[:orders])
    except Blocked:
        return


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
