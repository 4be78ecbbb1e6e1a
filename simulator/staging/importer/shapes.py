"""Answers that may be anything: what is no JSON is read as nothing, and a part of another shape as absent."""

from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

EXPONENT_MAX = 60  # a number beyond it would be written with as many digits


def _number(text: str) -> Decimal | str:
    """A number exactly; one that nobody can mean stays the text that it is."""
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
