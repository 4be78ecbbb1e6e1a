"""The balance of a wallet (SPEC 4.15)."""

from decimal import Decimal
from typing import Any

from simulator.wire.json import number


def balance(amount: Decimal, *, flat: bool = False) -> dict[str, Any]:
    """The balance record; SPEC does not show it."""
    record = {"balance": number(amount), "currency": "MYR"}
    return record if flat else {"data": record}
