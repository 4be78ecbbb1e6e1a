"""Bodies about a reseller's account: balance (SPEC 4.15), callback configuration (2.8), alert threshold (2.9)."""

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


def callback_url(config: CallbackConfig, now: datetime) -> dict[str, Any]:
    """The callback configuration; `last_updated` is now when it was never set."""
    return {
        "data": {"Status": "Success", "CallbackUrl": config.url, "Method": config.method},
        "@metadata": {"status_code": 200, "last_updated": day_first(config.updated or now)},
    }


def low_balance_threshold(email: str, threshold: Decimal, now: datetime) -> dict[str, Any]:
    """The threshold that was set; the date in this `@metadata` has the year first."""
    note = f"An alert goes to {email} when the balance falls below RM {threshold:.2f}."
    return {
        "data": {"Status": "Success", "Email": email, "BalanceThreshold": number(threshold), "Note": note},
        "@metadata": {"status_code": 200, "last_updated": year_first(now)},
    }
