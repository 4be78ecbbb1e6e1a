"""JSON encoding of Decimals as numbers."""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

encode: Callable[[Any], bytes] = msgspec.json.Encoder(decimal_format="number").encode


def number(value: Decimal) -> int | Decimal:
    """Convert a Decimal for JSON: whole amounts to an integer, others without trailing zeros."""
    whole = int(value)
    return whole if whole == value else value.normalize()


# Cached for recurring amounts, such as face values and costs, unlike balances.
known_number = lru_cache(maxsize=4096)(number)


def is_integer_when_whole(written: object, amount: Decimal) -> bool:
    """Whether a decoded number is written as SPEC 2.3 wants a payment's amount of this value."""
    return isinstance(written, int) == (amount == amount.to_integral_value())
