"""The formats of single values in JSON: numbers, money (SPEC 2.2) and timestamps (SPEC 1). All timestamps but ISO 8601
are GMT+8, the service's own zone."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from simulator.domain.model.catalog import Money
from simulator.domain.model.instants import day, instant, iso_day
from simulator.domain.model.money import SERVICE_ZONE, is_whole_cents

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
    """Return an amount as text with two decimals, more if needed: `1.00`, `0.045`."""
    return f"{amount:.2f}" if is_whole_cents(amount) else f"{amount.normalize():f}"


def limit_text(amount: Decimal | None) -> str:
    """Return the text of a limit of billers and sub-products (SPEC 2.14, 2.16): `-1` means no limit."""
    return UNLIMITED if amount is None else amount_text(amount)


RANGE_DASH = " - "


def day_range(text: str) -> tuple[date, date]:
    """`yyyy-MM-dd`, or two of them with a dash between spaces (SPEC 4.14): first and last day as sent, both GMT+8.

    Raises `ValueError` with what is wrong, to follow the parameter's name.
    """
    first, _, last = text.partition(RANGE_DASH)
    return day(first), day(last or first)


def api_version(header: bytes | None) -> date | None:
    """Return the date of an `X-API-Version`; None without a header and for an invalid date."""
    try:
        return None if header is None else day(header.decode("latin-1"))
    except ValueError:
        return None


_UNESCAPED_PLUS = re.compile(r"(T.*) (\d\d:?\d\d)$", re.ASCII)  # in a query that means a space


def moment(text: str, *, is_end: bool) -> datetime:
    """An ISO 8601 date or date-time, UTC without an offset; the beginning of a date, or its end.

    Raises `ValueError` with what is wrong, to follow the parameter's name.
    """
    try:
        first = iso_day(text)
        at = datetime(first.year, first.month, first.day, tzinfo=UTC)
        return at + timedelta(days=1, microseconds=-1) if is_end and first < date.max else at
    except ValueError:
        pass
    try:
        return instant(_UNESCAPED_PLUS.sub(r"\1+\2", text), UTC)
    except ValueError:
        example = "2026-11-21 or 2026-11-21T04:00:00Z"
        raise ValueError(f"must be an ISO 8601 date or date-time such as {example}") from None


def day_first(at: datetime) -> str:
    """`dd-MM-yyyy HH:mm:ss`: network status, bill presentment, callback URL."""
    text = year_first(at)
    return f"{text[8:10]}-{text[5:7]}-{text[:4]}{text[10:]}"


class _Second(NamedTuple):
    """A second and its text."""

    start: datetime
    end: datetime
    text: str


_NONE = datetime.min.replace(tzinfo=UTC)
_latest = [_Second(_NONE, _NONE, "")]
"""The last formatted second. Most answers fall into the same second as the answer before. Sandboxes are rebuilt in
another thread, which formats other seconds meanwhile, so this value is read and replaced as a whole."""


def year_first(at: datetime) -> str:
    """`yyyy-MM-dd HH:mm:ss`: payment response, POST callback, low-balance threshold."""
    second = _latest[0]
    if not second.start <= at < second.end:
        start = at.replace(microsecond=0)
        text = at.astimezone(SERVICE_ZONE).isoformat(" ", "seconds")[:19]
        second = _latest[0] = _Second(start, start + timedelta(seconds=1), text)
    return second.text


def year_first_ms(at: datetime) -> str:
    """`yyyy-MM-dd HH:mm:ss.fff`: history, statement, the `message` of a GET callback."""
    return at.astimezone(SERVICE_ZONE).isoformat(" ", "milliseconds")[:23]


def iso_utc(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: catalog, balance webhooks."""
    return at.astimezone(UTC).isoformat("T", "milliseconds")[:23] + "Z"


def iso_utc_exact(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds: the control API, where times round-trip."""
    at = at.astimezone(UTC)
    text: str = msgspec.to_builtins(at)  # a tenth of the time that `isoformat` takes
    return text if at.microsecond else f"{text[:-1]}.000000Z"
