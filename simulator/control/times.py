"""Parses times in requests of the control API."""

from datetime import datetime

from simulator.control.http import InvalidInput
from simulator.domain.model.instants import sandbox_time


def parse_time(text: str, path: str) -> datetime:
    """An ISO 8601 date-time with its offset that a sandbox's clock can show. Raises `InvalidInput`."""
    try:
        return sandbox_time(text)
    except ValueError as wrong:
        raise InvalidInput(f"{path} {wrong}", path) from None
