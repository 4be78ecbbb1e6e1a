"""What an account reads of itself: balance, threshold of alerts, configuration of callbacks (SPEC 2.8, 2.9, 4.15)."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.callbacks import CallbackConfig
from simulator.wire.json import number
from simulator.wire.timestamps import day_first, year_first


def balance(amount: Decimal, *, flat: bool = False) -> dict[str, Any]:
    """The balance record; SPEC does not show it."""
    record = {"balance": number(amount), "currency": "MYR"}
    return record if flat else {"data": record}


def threshold(email: str, amount: Decimal, now: datetime) -> dict[str, Any]:
    """The threshold that was set; the date in this `@metadata` has the year first."""
    note = f"An alert goes to {email} when the balance falls below RM {amount:.2f}."
    return {
        "data": {"Status": "Success", "Email": email, "BalanceThreshold": number(amount), "Note": note},
        "@metadata": {"status_code": 200, "last_updated": year_first(now)},
    }


def configuration(config: CallbackConfig, now: datetime) -> dict[str, Any]:
    """The callback configuration; `last_updated` is now when it was never set."""
    return {
        "data": {"Status": "Success", "CallbackUrl": config.url, "Method": config.method},
        "@metadata": {"status_code": 200, "last_updated": day_first(config.updated or now)},
    }
