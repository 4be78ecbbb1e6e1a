"""The timestamp formats of SPEC 1. All but ISO 8601 are GMT+8, the service's own zone."""

from datetime import UTC, datetime

from simulator.domain.calendar import SERVICE_ZONE


def day_first(at: datetime) -> str:
    """`dd-MM-yyyy HH:mm:ss`: network status, bill presentment, callback URL."""
    return at.astimezone(SERVICE_ZONE).strftime("%d-%m-%Y %H:%M:%S")


def year_first(at: datetime) -> str:
    """`yyyy-MM-dd HH:mm:ss`: payment response, POST callback, low-balance threshold."""
    return at.astimezone(SERVICE_ZONE).isoformat(" ", "seconds")[:19]


def year_first_ms(at: datetime) -> str:
    """`yyyy-MM-dd HH:mm:ss.fff`: history, statement, the `message` of a GET callback."""
    return at.astimezone(SERVICE_ZONE).isoformat(" ", "milliseconds")[:23]


def iso_utc(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: catalog, balance webhooks."""
    return at.astimezone(UTC).isoformat("T", "milliseconds")[:23] + "Z"


def iso_utc_exact(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds: the control API, where a time that was read can be written back."""
    return at.astimezone(UTC).isoformat("T", "microseconds")[:26] + "Z"
