"""Times in answers that have a format of the service's, and that no clock shows (SPEC 1)."""

import re
from collections.abc import Iterator
from typing import Any

from simulator.domain.model.instants import instant
from simulator.domain.model.money import SERVICE_ZONE

_TIMES = frozenset(
    ("timestamp", "date", "response_date", "last_updated", "created_at", "updated_at", "createdAt", "completedAt")
)
_YEAR_FIRST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z?")
_DAY_FIRST = re.compile(r"([0-9]{2})-([0-9]{2})-([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})")


def impossible_times(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Those in decoded JSON: the member (dotted), and the text."""
    for name, member in _members(value):
        dotted = f"{where}.{name}".lstrip(".")
        if name in _TIMES and isinstance(member, str) and not _may_exist(member):
            yield dotted, member
        elif isinstance(member, dict | list):
            yield from impossible_times(member, dotted)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(place), one) for place, one in enumerate(value))


def _may_exist(text: str) -> bool:
    """False for a day or a time of day that there is not; another format is the schema's to judge."""
    if found := _DAY_FIRST.fullmatch(text):
        text = "{2}-{1}-{0} {3}".format(*found.groups())
    if not _YEAR_FIRST.fullmatch(text):
        return True
    try:
        instant(text, SERVICE_ZONE)
    except ValueError:
        return False
    return True
