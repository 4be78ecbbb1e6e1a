"""Durations and times, as tests write them."""

import math
import re
from datetime import datetime, timedelta
from decimal import Decimal

Duration = str | int | float | timedelta

MAX_S = 3660 * 86_400
_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}")  # as scenarios write them, but never below 0
RATE = re.compile(r"x([0-9]{1,9}(?:\.[0-9]{1,9})?)")  # a clock that runs faster, such as x60
_PART = re.compile(r"([0-9.]+)([a-z]+)")


def seconds(duration: Duration) -> float:
    """Seconds of `90`, `"90s"`, `"1h30m"`, `"1.5d"` or a timedelta. Raises `ValueError` for anything else, and for what
    is below 0 or more than 3660 days."""
    if isinstance(duration, timedelta):
        return _bounded(duration.total_seconds(), duration)
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        return _bounded(duration, duration)
    if not isinstance(duration, str):
        raise ValueError(f"{type(duration).__name__} is no duration: give seconds, '90s' or a timedelta")
    if _DURATION.fullmatch(duration) is None:
        raise ValueError(f"{duration!r} is no duration such as '90s', '1h30m', '1.5d' or '500ms'")
    total = sum(Decimal(count) * _MICROSECONDS[unit] for count, unit in _PART.findall(duration)) / 1_000_000
    _bounded(float(total), duration)
    return int(total) if total == int(total) else float(total)


def _bounded(count: float, duration: Duration) -> float:
    if isinstance(count, float) and math.isnan(count):
        raise ValueError("nan is no duration")
    if count < 0:
        raise ValueError(f"{duration!r:.60} is below 0: time does not go back")
    if count > MAX_S:
        raise ValueError(f"{duration!r:.60} is longer than 3660 days")
    return count


def moment(at: str | datetime) -> str:
    """A time as ISO 8601. Raises `ValueError` for a datetime without a zone."""
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone")
    return at.isoformat()
