"""Points in time and days (ISO 8601), parsed within the bounds of a sandbox's time.

Invalid input raises `ValueError`, worded to follow the name of the input.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from simulator.domain.model.money import SERVICE_ZONE

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)

_MILLISECONDS = re.compile(r":[0-9]{2}[.,][0-9]{1,3}(?![0-9])", re.ASCII)
_REST = timedelta(microseconds=999)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def instant(text: str, zone: tzinfo | None = None) -> datetime:
    """Parse a date-time; `zone` applies when it has no offset. Raise `ValueError` without either."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be an ISO 8601 time such as 2027-01-10T23:59:00+08:00") from None
    if at.tzinfo is None:
        if zone is None:
            raise ValueError("needs an offset, such as Z or +08:00")
        return at.replace(tzinfo=zone)
    return at


def sandbox_time(text: str) -> datetime:
    """Parse a date-time with an offset, within the range of a sandbox's clock. Return it in UTC."""
    at = instant(text)
    if not EARLIEST <= at <= LATEST:
        raise ValueError(f"must be between {EARLIEST:%Y} and {LATEST:%Y}")
    return at.astimezone(UTC)


class Times(NamedTuple):
    """The range of times that a text may mean, from its literal value to `latest`."""

    said: datetime
    latest: datetime


def times_of(text: str) -> Times:
    """Return the times that a text of `sandbox_time` may mean. A text in milliseconds, which a client may have
    truncated, covers the whole millisecond; any other text means exactly its value."""
    at = sandbox_time(text)
    return Times(at, at + _REST if _MILLISECONDS.search(text) else at)


def next_time_of_day(at: time, moment: datetime) -> datetime:
    """Return the first time after `moment` at which clocks in the service's zone show `at`, in the zone of `moment`."""
    local = moment.astimezone(SERVICE_ZONE)
    found = datetime.combine(local.date(), at, SERVICE_ZONE)
    return (found if found > local else found + timedelta(days=1)).astimezone(moment.tzinfo)


def day(text: str) -> date:
    """Parse `yyyy-MM-dd`, and no other form of ISO 8601."""
    if not _DAY.fullmatch(text):
        raise ValueError("must be a day such as 2026-11-21")
    return iso_day(text)


def iso_day(text: str) -> date:
    """Parse a day in any form of ISO 8601, such as `20261121`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a day of the calendar") from None
