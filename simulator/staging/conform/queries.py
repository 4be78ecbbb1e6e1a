"""Targets with a query, and the days that are looked at."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from simulator.domain.model.money import SERVICE_ZONE
from simulator.wire.timestamps import RANGE_DASH

HISTORY_DAYS = 30


def target(path: str, **query: Any) -> str:
    """A path with an encoded query; a blank is %20, not +."""
    return f"{path}?{urlencode(query, doseq=True).replace('+', '%20')}" if query else path


def recent_days(now_s: float) -> str:
    """The last month and tomorrow, in case the clocks differ, as `date` of history and statement (SPEC 4.14)."""
    today = datetime.fromtimestamp(now_s, UTC).astimezone(SERVICE_ZONE).date()
    return f"{today - timedelta(days=HISTORY_DAYS)}{RANGE_DASH}{today + timedelta(days=1)}"
