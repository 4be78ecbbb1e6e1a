"""What an advance tells of the scenario's schedule, and where it shows afterwards."""

from tests.support.client import running

SCHEDULE = [
    {"at": "10s", "deposit": {"reseller": "RS001", "amount": "500.50", "description": "bank transfer"}},
    {"at": "10s", "deposit": {"reseller": "RS001", "amount": "7", "type": "COMMISSION"}},
]


def test_an_advance_reports_the_balance_after_each_deposit() -> None:
    with running({"schedule": SCHEDULE}) as client:
        fired = client.advance(10)["fired"]
        assert [one["kind"] for one in fired] == ["deposit", "deposit"]
        assert [one["amount"] for one in fired] == [500.5, 7]
        assert [one["balance"] for one in fired] == [5500.5, 5507.5]
        day = fired[0]["at"][:10]
        listed = client.call("GET", f"/v2/balance-statement?date={day}%20-%202200-01-01").data
        assert [(entry["type"], entry["balance"]) for entry in listed] == [("COMMISSION", 5507.5), ("DEPOSIT", 5500.5)]
