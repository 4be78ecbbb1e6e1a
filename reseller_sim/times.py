"""Times as people are shown them: in the service's zone, GMT+8, or in UTC when `RESELLER_SIM_UTC` is 1."""

import os
from datetime import UTC, datetime, timedelta, timezone

UTC_VARIABLE = "RESELLER_SIM_UTC"
SERVICE_ZONE = timezone(timedelta(hours=8))
ON = ("1", "true", "t", "yes", "y", "on")


def offset() -> str:
    """Return the offset of the times that are shown, such as `+08:00`."""
    return "+00:00" if _is_utc() else "+08:00"


def shown_time(at: str) -> str:
    """Return an instant of the control API as `2026-11-29 20:00:00.123+08:00`; anything else unchanged."""
    try:
        moment = datetime.fromisoformat(at)
        return moment.astimezone(UTC if _is_utc() else SERVICE_ZONE).isoformat(" ", "milliseconds")
    except (ValueError, OverflowError):
        return at


def _is_utc() -> bool:
    return os.environ.get(UTC_VARIABLE, "").strip().lower() in ON
