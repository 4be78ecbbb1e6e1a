"""Tolerant decoding of JSON bodies and queries: values of an unexpected shape are read as absent."""

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from simulator.domain.model.instants import instant
from simulator.domain.model.money import SERVICE_ZONE, parse_number

PARAMETERS_MAX = 500
TEXT_CHARS_MAX = 300  # of a reference, a remark or another text of a payment

_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?", re.ASCII)


def _number(text: str) -> Decimal | str:
    """Return an exact number; a number that would be written with too many digits stays text."""
    value = parse_number(text)
    return text if value is None else value


_decode = msgspec.json.Decoder(float_hook=_number).decode


def decoded(text: bytes) -> Any:
    """Return decoded JSON with exact numbers; None for other texts."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def as_dict(value: object) -> dict[str, Any]:
    """Return an object, or an empty object for other values."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list, or an empty list for other values."""
    return value if isinstance(value, list) else []


def dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in as_list(value) if isinstance(item, dict)]


def by_code(items: Iterable[object], key: str) -> dict[str, dict[str, Any]]:
    """Return objects by the text that they have under `key`; the last of several, and `""` without a text."""
    return {as_text(as_dict(item).get(key)): as_dict(item) for item in items}


def as_text(value: object) -> str:
    """Return a text, or an empty text for other values."""
    return value if isinstance(value, str) else ""


def short(value: object) -> str:
    """Return a text; empty if it is longer than `TEXT_CHARS_MAX`, and for other values."""
    return value if isinstance(value, str) and len(value) <= TEXT_CHARS_MAX else ""


def code_of(value: object) -> int | None:
    """Return a status code of at most five digits, a number or, as in the history, a text; None for other values."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 99_999 else None


def stamp(value: object) -> datetime | None:
    """Return a time as payments and the history have it, in the service's zone (SPEC 1); None for other values."""
    if not isinstance(value, str) or not _STAMP.fullmatch(value):
        return None
    try:
        return instant(value, SERVICE_ZONE)
    except ValueError:
        return None


def parameters(query: bytes) -> dict[str, str]:
    """Return the parameters of a query, the first value of a repeated parameter; empty for a query with too many."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=PARAMETERS_MAX)
    except ValueError:
        return {}
    return dict(reversed(pairs))


def callback_message(query: bytes) -> dict[str, Any]:
    """Return the payment result in the query of a callback by GET (SPEC 6.1)."""
    return as_dict(decoded(parameters(query).get("message", "").encode("utf-8", "replace")))
