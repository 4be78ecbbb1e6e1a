"""Amounts in ringgit, as Decimal and never as float, and the zone in which the service counts its days (SPEC 1)."""

import re
from datetime import timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

ZERO = Decimal(0)
CENT = Decimal("0.01")

# GMT+8, without daylight saving.
SERVICE_ZONE = timezone(timedelta(hours=8))

# What an amount may need: 15 digits before the point keep every balance exact in any JSON reader, 8 after it are
# more than any currency or unit price has.
DIGITS_BEFORE_MAX = 15
DIGITS_AFTER_MAX = 8

_PLAIN = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,8})?", re.ASCII)


def cents(value: Decimal) -> Decimal:
    """Round to two decimals, halves away from zero."""
    return value.quantize(CENT, ROUND_HALF_UP)


def parse_amount(raw: object) -> Decimal | None:
    """Read an amount as a client sends it: a JSON number (int or Decimal) or a string in plain decimal notation.

    Returns None for what is no number or is beyond `DIGITS_BEFORE_MAX` and `DIGITS_AFTER_MAX`; exponents, blanks,
    signs other than a leading minus and non-ASCII digits are not read in strings.
    """
    if isinstance(raw, str):
        is_whole = raw.isdigit() and raw.isascii() and len(raw) <= DIGITS_BEFORE_MAX
        return Decimal(raw) if is_whole or _PLAIN.fullmatch(raw) else None
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal):
        return None
    try:
        value = Decimal(raw)
    except InvalidOperation:
        return None
    return value if is_bounded(value) else None


def is_bounded(value: Decimal) -> bool:
    """True for a finite amount that `DIGITS_BEFORE_MAX` and `DIGITS_AFTER_MAX` can hold."""
    if not value.is_finite():
        return False
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value.adjusted() < DIGITS_BEFORE_MAX and exponent >= -DIGITS_AFTER_MAX


def is_whole_cents(value: Decimal) -> bool:
    """True when `value` has no more than two decimals that count."""
    return value == value.quantize(CENT, ROUND_HALF_UP)
