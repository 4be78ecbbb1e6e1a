"""JSON out: Decimal as a number, an integer when it is whole."""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

encode: Callable[[Any], bytes] = msgspec.json.Encoder(decimal_format="number").encode


def number(value: Decimal) -> int | Decimal:
    """A Decimal as it is written: whole amounts as an integer, others without trailing zeros."""
    return int(value) if value == value.to_integral_value() else value.normalize()


# For amounts that come again, such as face values and costs; a balance hardly does.
known_number = lru_cache(maxsize=4096)(number)
