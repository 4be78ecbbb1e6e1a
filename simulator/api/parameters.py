"""Query parameters as values. What they look like was held against the contract before."""

from collections.abc import Mapping


def flag(fields: Mapping[str, str], name: str) -> bool | None:
    """A boolean, or None when it was not sent."""
    sent = fields.get(name)
    return None if sent is None else sent.lower() == "true"


def whole(fields: Mapping[str, str], name: str, default: int) -> int:
    """A whole number, or `default` when it was not sent."""
    sent = fields.get(name)
    return default if sent is None else int(sent)
