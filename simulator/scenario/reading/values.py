"""Parses durations, amounts and days of scenarios. Invalid input raises `ValueError`, worded for people."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlsplit

from simulator.domain.model.inboxes import INBOX_SCHEME
from simulator.domain.model.instants import iso_day
from simulator.domain.model.money import DIGITS_AFTER_MAX, DIGITS_BEFORE_MAX, is_bounded

ONE = Decimal(1)
DURATION_MAX = timedelta(days=3660)
_MICROSECONDS: Mapping[str, int] = {
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_DURATION = re.compile(r"(-?)(([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5})")
_PART = re.compile(r"([0-9.]+)([a-z]+)")
_AMOUNT = re.compile(rf"-?[0-9]{{1,{DIGITS_BEFORE_MAX}}}(\.[0-9]{{1,{DIGITS_AFTER_MAX}}})?", re.ASCII)


def duration(text: str) -> timedelta:
    """`250ms`, `90s`, `1h30m`, `1.5d`, negative with a leading `-`; exact, at most ten years."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("must be a duration such as 250ms, 90s, 1h30m or 1.5d")
    parts = _PART.findall(match[2])
    span = timedelta(microseconds=int(sum(Decimal(count) * _MICROSECONDS[unit] for count, unit in parts)))
    if span > DURATION_MAX:
        raise ValueError(f"is longer than {DURATION_MAX.days} days")
    return -span if match[1] else span


def amount(value: object) -> Decimal:
    """A number, or text in plain decimal notation."""
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Decimal(value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if is_bounded(number):
            return number
        raise ValueError(f"has more than {DIGITS_BEFORE_MAX} digits before the point or {DIGITS_AFTER_MAX} after it")
    raise ValueError('must be an amount such as 10 or "10.50"')


def day(value: str | int) -> date:
    """`2027-12-31`, or `20271231` as the service writes it."""
    try:
        return iso_day(str(value))
    except ValueError:
        raise ValueError("must be a day such as 2027-12-31") from None


def secret_bytes(text: str) -> bytes:
    """The bytes of a Base64 secret."""
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise ValueError("must be Base64 such as c2VjcmV0LWZvci10ZXN0cw==") from None


def target(text: str) -> str:
    """A callback target: an http(s) URL with a host, or `inbox:NAME`."""
    if text.startswith(INBOX_SCHEME):
        return text
    try:
        parts = urlsplit(text)
        is_fine = bool(parts.hostname) and parts.username is None and parts.port != 0 and "\\" not in text
    except ValueError:
        is_fine = False
    if not is_fine:
        raise ValueError("must be an http or https URL with a host and without a user name, or inbox:NAME")
    return text


def text_of(value: object) -> str:
    """A plain value as text: as written, `true`, `false`; empty for null."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return "" if value is None else str(value)
