"""Durations and times, as tests write them."""

import re
from datetime import datetime, timedelta
from decimal import Decimal

Duration = str | int | float | timedelta

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def seconds(duration: Duration) -> float:
    """Seconds of `90`, `"90s"`, `"1h30m"` or a timedelta. Raises `ValueError` for another text."""
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if not isinstance(duration, str):
        return duration
    parts = _PART.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration.replace(" ", ""):
        raise ValueError(f"{duration!r} is no duration such as '90s', '1h30m' or '500ms'")
    total = sum(Decimal(number) * Decimal(str(_SECONDS[unit])) for number, unit in parts)
    return int(total) if total == int(total) else float(total)


def moment(at: str | datetime) -> str:
    """A time as ISO 8601. Raises `ValueError` for a datetime without a zone."""
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone")
    return at.isoformat()
