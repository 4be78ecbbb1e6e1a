"""Times that clients of the control API write."""

from datetime import UTC, datetime

from simulator.control.http import Bad

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def parse_time(text: str, path: str) -> datetime:
    """An ISO 8601 date-time with its offset, between 1990 and 2200. Raises `Bad`."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Bad(f"{path} must be an ISO 8601 time such as 2027-01-10T23:59:00+08:00", path) from None
    if at.tzinfo is None:
        raise Bad(f"{path} needs an offset, such as Z or +08:00", path)
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise Bad(f"{path} is beyond the calendar", path) from None
    if not _EARLIEST <= at < _LATEST:
        raise Bad(f"{path} must be between {_EARLIEST:%Y} and {_LATEST:%Y}", path)
    return at
