"""Amounts in ringgit, as Decimal and never as float, and the time zone of the service's days (SPEC 1)."""

import re
from datetime import timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation
from functools import lru_cache

ZERO = Decimal(0)
CENT = Decimal("0.01")

# GMT+8, without daylight saving.
SERVICE_ZONE = timezone(timedelta(hours=8))

# Limits of an amount: 15 digits before the point keep every balance exact in any JSON reader; 8 after it exceed any
# currency or unit price.
DIGITS_BEFORE_MAX = 15
DIGITS_AFTER_MAX = 8

# Longer texts are rejected unread, and longer numbers too. A Decimal holds this many digits exactly.
TEXT_CHARS_MAX = 100
BLANKS = " \t\r\n"
NUMBER_DIGITS_MAX = 28

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BEYOND = 10**NUMBER_DIGITS_MAX
_EXACT = Context(prec=NUMBER_DIGITS_MAX, traps=[Inexact, InvalidOperation])


def cents(value: Decimal) -> Decimal:
    """Round to two decimals, halves away from zero."""
    return value.quantize(CENT, ROUND_HALF_UP)


def parse_amount(raw: object) -> Decimal | None:
    """Parse an amount as a client sends it: what `parse_number` accepts, within `DIGITS_BEFORE_MAX` and
    `DIGITS_AFTER_MAX`; None for everything else."""
    if type(raw) is str and len(raw) <= TEXT_CHARS_MAX:
        return _parsed_text(raw)
    value = parse_number(raw)
    return value if value is not None and is_bounded(value) else None


@lru_cache(maxsize=4096)  # a few amounts recur, and a re-query does little else
def _parsed_text(text: str) -> Decimal | None:
    value = parse_number(text)
    return value if value is not None and is_bounded(value) else None


@lru_cache(maxsize=4096)
def shared_amount(text: str) -> Decimal:
    """Return an amount with these digits, shared by many payments to save memory."""
    return Decimal(text)


def parse_number(raw: object) -> Decimal | None:
    """Parse an ordinary decimal of at most `TEXT_CHARS_MAX` characters: a JSON number (int or Decimal), or a string,
    which may have `BLANKS` around it, a sign, an exponent, and no digits on one side of its point.

    Return None for anything else, including thousands separators, non-ASCII digits, and numbers that need more than
    `NUMBER_DIGITS_MAX` digits to write out. Trailing zeros do not count.
    """
    if isinstance(raw, str):
        text = raw.strip(BLANKS) if len(raw) <= TEXT_CHARS_MAX else ""
        if not _NUMBER.fullmatch(text):
            return None
        raw = text
    elif isinstance(raw, bool) or not isinstance(raw, int | Decimal):
        return None
    elif isinstance(raw, int):
        return Decimal(raw) if abs(raw) < _BEYOND else None
    try:
        value = _written_out(Decimal(raw))
    except InvalidOperation:
        return None
    return None if value is not raw and type(raw) is Decimal and len(str(raw)) > TEXT_CHARS_MAX else value


def denotes_number(raw: object) -> bool:
    """Return whether the value is a number, including numbers with too many digits to be accepted."""
    if isinstance(raw, str):
        return _NUMBER.fullmatch(raw[:TEXT_CHARS_MAX].strip(BLANKS)) is not None
    return isinstance(raw, int | Decimal) and not isinstance(raw, bool)


def _written_out(value: Decimal) -> Decimal | None:
    if is_bounded(value) and value.as_tuple().exponent <= 0:  # type: ignore[operator]  # a finite one has a number
        return value
    try:
        short = _EXACT.normalize(value)
    except (Inexact, InvalidOperation):
        return None
    if not short.is_finite() or abs(short.adjusted()) >= NUMBER_DIGITS_MAX:
        return None
    return short.quantize(ZERO) if short == short.to_integral_value() else short


def is_bounded(value: Decimal) -> bool:
    """Return whether a finite amount is within `DIGITS_BEFORE_MAX` and `DIGITS_AFTER_MAX` as written."""
    if not value.is_finite():
        return False
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value.adjusted() < DIGITS_BEFORE_MAX and exponent >= -DIGITS_AFTER_MAX


def decimal_text(amount: Decimal) -> str:
    """Format an amount for a sentence: `30`, `5.20`, `0.045`."""
    plain = f"{amount:f}"
    whole, _, decimals = plain.partition(".")
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals:0<2}" if decimals else whole


def is_whole_cents(value: Decimal) -> bool:
    """Return whether `value` has at most two significant decimals."""
    return value == value.quantize(CENT, ROUND_HALF_UP)
