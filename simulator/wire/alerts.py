"""The threshold of low-balance alerts (SPEC 2.9)."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.wire.json import number
from simulator.wire.timestamps import year_first


def threshold(email: str, amount: Decimal, now: datetime) -> dict[str, Any]:
    """The threshold that was set; the date in this `@metadata` has the year first."""
    note = f"An alert goes to {email} when the balance falls below RM {amount:.2f}."
    return {
        "data": {"Status": "Success", "Email": email, "BalanceThreshold": number(amount), "Note": note},
        "@metadata": {"status_code": 200, "last_updated": year_first(now)},
    }
