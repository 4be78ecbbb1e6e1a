"""Bodies as JSON and queries as parameters: another shape is read as absent."""

from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl

import msgspec

PARAMETERS_MAX = 500
EXPONENT_MAX = 60  # a number beyond it would be written with as many digits


def _number(text: str) -> Decimal | str:
    """Return an exact number; a number beyond all meaning stays text."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return value if abs(value.adjusted()) <= EXPONENT_MAX else text


_decode = msgspec.json.Decoder(float_hook=_number).decode


def decoded(text: bytes) -> Any:
    """Decoded JSON, numbers exact; None for anything else."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def as_dict(value: object) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [one for one in as_list(value) if isinstance(one, dict)]


def as_text(value: object) -> str:
    """A text, or an empty one."""
    return value if isinstance(value, str) else ""


def parameters(query: bytes) -> dict[str, str]:
    """The parameters of a query, of a repeated one the first; none of a query with too many."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=PARAMETERS_MAX)
    except ValueError:
        return {}
    return dict(reversed(pairs))
