"""Numbers and money in JSON: Decimals as numbers, and `{amount: string, currency: string}` (SPEC 2.2)."""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

from simulator.domain.model.catalog import Money

encode: Callable[[Any], bytes] = msgspec.json.Encoder(decimal_format="number").encode


def number(value: Decimal) -> int | Decimal:
    """Convert a Decimal for JSON: whole amounts to an integer, others without trailing zeros."""
    whole = int(value)
    return whole if whole == value else value.normalize()


# Cached for recurring amounts, such as face values and costs, unlike balances.
known_number = lru_cache(maxsize=4096)(number)


def is_integer_when_whole(written: object, amount: Decimal) -> bool:
    """Return whether a decoded number is written as SPEC 2.3 wants a payment's amount of this value."""
    return isinstance(written, int) == (amount == amount.to_integral_value())


UNLIMITED = "-1"


def money(value: Money) -> dict[str, str]:
    """Return the amount as text, with at least two decimals."""
    return {"amount": amount_text(value.amount), "currency": value.currency}


def amount_text(amount: Decimal) -> str:
    """`1.00`, `0.045`."""
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)
    return f"{amount:.2f}" if exponent > -2 else f"{amount:f}"


def limit_text(amount: Decimal | None) -> str:
    """Return the text of a limit of billers and sub-products (SPEC 2.14, 2.16): `-1` means no limit."""
    return UNLIMITED if amount is None else amount_text(amount)
