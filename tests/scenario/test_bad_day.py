"""A scenario that uses every section, checked and played."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.library import load_scenario, problems
from tests.support.client import Client, running

BAD_DAY = Path(__file__).parent / "bad_day.yaml"
SECTIONS = (
    "payments", "voids", "disputes", "bills", "network", "faults", "schedule", "resellers", "assume",
)  # fmt: skip


def test_the_check_reports_no_problem() -> None:
    assert problems(BAD_DAY) == []


def test_every_section_arrives() -> None:
    made = load_scenario(BAD_DAY)
    assert all(getattr(made, section) for section in SECTIONS)
    assert (made.name, made.seed, made.clock.mode) == ("bill payments on a bad day", 7, "manual")
    assert {"TOLL", "RELOAD"} <= set(made.catalog.products)


@pytest.fixture
def client() -> Iterator[Client]:
    """The nonce service works again, so that there is something to play."""
    with running(str(BAD_DAY)) as made:
        made.key = "bad_day_key"
        made.secret = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="
        assert made.call("GET", "/v2/product-list").status == 503
        rules = made.sim("GET", "/sandboxes/default/rules").json["rules"]
        [last] = [rule["id"] for rule in rules if rule["section"] == "faults"][-1:]
        assert made.sim("DELETE", f"/sandboxes/default/rules/{last}").status == 204
        yield made


def test_a_payment_succeeds_and_no_callback_arrives(client: Client) -> None:
    lost = {"amount": "100", "product": "ELECTRIC", "account": "210012345648"}
    assert client.pay("lost", **lost).status == 0
    again = client.pay("lost", **lost)
    assert (again.data["status"], again.headers["x-sim-rule"]) == ("Processing", "provider says no")
    client.advance(5)
    story: Any = client.sim("GET", "/sandboxes/default/transactions?refid=lost").json["transactions"][0]
    assert (story["status"], story["status_code"]) == ("Failed", 48)


def test_the_wallet_the_network_and_the_catalog_change_on_time(client: Client) -> None:
    assert client.call("GET", "/v2/balance").status == 0  # once
    assert client.call("GET", "/v2/balance").data["balance"] == 1000
    assert client.call("GET", "/v2/networkstatus?product=ELECTRIC").data["network_status"] == "Healthy"
    client.advance(60)
    assert client.call("GET", "/v2/balance").data["balance"] == 1500
    assert client.call("GET", "/v2/networkstatus?product=ELECTRIC").data["network_status"] == "Interruption"
    assert [item["json"]["type"] for item in client.inbox("webhooks")] == ["balance.added"]
    assert client.live.core.state.catalog.products["GAME"].is_active
    client.advance(3600)
    assert not client.live.core.state.catalog.products["GAME"].is_active


def test_every_key_state_is_present(client: Client) -> None:
    secret = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDI="
    said = [
        client.call("GET", "/v2/product-list", key=f"bad_day_{state}", secret=secret).json["error"]
        for state in ("revoked", "no_secret", "undecryptable")
    ]
    assert len(set(said)) == 3


def test_bills_voids_and_disputes_are_decided(client: Client) -> None:
    bill = client.call("GET", "/v2/bill-presentment?product=ELECTRIC&account=123")
    assert (bill.status, bill.data["CustomerName"], bill.data["Outstanding"]) == (200, "Aina Tan", 120.5)
    client.pay("a", "100", "ELECTRIC", account="210012345678")
    client.advance(5)
    taken = client.call("POST", "/v2/transactions/void", {"refid": "a", "refund_type": 1})
    assert taken.data["status"] == "Success"
