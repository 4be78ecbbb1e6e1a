"""Parts of answers that may have any shape: another one is read as absent."""

from typing import Any


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
