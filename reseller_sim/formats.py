"""Text, times, durations, statuses, addresses, requests and attempts as people read and write them: the same for the
client, the command, the control API and scenario files.

It imports the standard library alone, so every part of the simulator may use it.
"""

import os
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__tracebackhide__ = True  # pytest shows the line of the test
Duration = str | float | timedelta
Moment = str | datetime
Money = str | float | Decimal
Row = Mapping[str, Any]
Scenario = str | Path | Mapping[str, Any]

LINE_CHARS_MAX = 300
UTC_VARIABLE = "RESELLER_SIM_UTC"
SERVICE_ZONE = timezone(timedelta(hours=8))
ON = ("1", "true", "t", "yes", "y", "on")
DURATION_MAX = timedelta(days=3660)
_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(-?)(([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5})")
_PART = re.compile(r"([0-9.]+)([a-z]+)")
_NOT_SENT = re.compile(r"[^!-~]|#")
CALLBACK_STATUSES = ("Processing", "Succesful", "Failed")
STATUSES = ("Accepted", *CALLBACK_STATUSES, "Refund")


def printable(text: str) -> str:
    """Return a text with an escape for each character that does not print; lines stay lines."""
    return "\n".join(map(whole_line, text.split("\n")))


def one_line(text: str, length_max: int = LINE_CHARS_MAX) -> str:
    """Return a text as one line for a terminal: unprintable characters are escaped, and long text is cut."""
    text = whole_line(text if text.isprintable() else text[:length_max])
    return text if len(text) <= length_max else text[: length_max - 1] + "…"


def whole_line(value: object) -> str:
    """Return a value as one line for a terminal, uncut."""
    text = str(value)
    return text if text.isprintable() else "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # a byte of a file name that is not UTF-8
        char = chr(ord(char) - 0xDC00)
    return char.encode("unicode_escape").decode("ascii")


def offset() -> str:
    """Return the offset of the times that are shown, such as `+08:00`."""
    return "+00:00" if _is_utc() else "+08:00"


def shown_time(at: str) -> str:
    """Return an instant of the control API as `2026-11-29 20:00:00.123+08:00`, in the service's zone or in UTC when
    RESELLER_SIM_UTC is 1; anything else unchanged."""
    try:
        moment = datetime.fromisoformat(at)
        return moment.astimezone(UTC if _is_utc() else SERVICE_ZONE).isoformat(" ", "milliseconds")
    except (ValueError, OverflowError):
        return at


def _is_utc() -> bool:
    return os.environ.get(UTC_VARIABLE, "").strip().lower() in ON


def duration(text: str) -> timedelta:
    """Parse `250ms`, `90s`, `1h30m`, `1.5d`, negative with a leading `-`; exact, at most ten years. Raises
    `ValueError`."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("must be a duration such as 250ms, 90s, 1h30m or 1.5d")
    parts = _PART.findall(match[2])
    span = timedelta(microseconds=int(sum(Decimal(count) * _MICROSECONDS[unit] for count, unit in parts)))
    if span > DURATION_MAX:
        raise ValueError(f"is longer than {DURATION_MAX.days} days")
    return -span if match[1] else span


def seconds(span: Duration) -> float:
    """Return the seconds of `90`, `"90s"`, `"1h30m"`, `"1.5d"` or a timedelta. Raises `ValueError` for a text."""
    try:
        parsed = duration(span) if isinstance(span, str) else span
    except ValueError as error:
        raise ValueError(f"{span!r} {error}") from None
    return parsed.total_seconds() if isinstance(parsed, timedelta) else parsed


def moment(at: Moment) -> str:
    """Return a time as ISO 8601."""
    if not isinstance(at, str | date):
        raise TypeError(f"a time is a text such as 2027-01-10T23:59:00+08:00 or a datetime, not {at!r}")
    return at if isinstance(at, str) else at.isoformat()


def is_url(text: str) -> bool:
    """Return True for an http or https URL with a host, an optional port, and no part that a request would drop."""
    try:
        parts = urlsplit(text)
        is_whole = not _NOT_SENT.search(text) and "?" not in text and parts.username is None
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and is_whole
    except ValueError:
        return False


def check_path(path: str) -> None:
    """Raise `ValueError` for a path that would not arrive as it is written, or would name another sandbox."""
    if not path.startswith("/") or _NOT_SENT.search(path):
        raise ValueError(f"path must be a path such as /v2/balance, percent-encoded, not {path!r:.200}")


def check_status(status: str | None, known: tuple[str, ...] = CALLBACK_STATUSES) -> None:
    """Raise `ValueError` for a status that no callback, or no payment, ever has."""
    if status is not None and status not in known:
        raise ValueError(f"status must be one of {', '.join(known)} (the service writes 'Succesful'), not {status!r}")


def request_line(row: Row) -> str:
    """Return a line about a row of the journal: number, request, status and explanation."""
    query = f"?{row['query']}" if row.get("query") else ""
    parts = [f"#{row['n']} {row['method']} {row['path']}{query} → {row['status'] or 'no answer'}"]
    parts += [f"{name} {row[name]}" for name in ("error", "rule", "fault") if row.get(name)]
    return ", ".join(parts) + (f": {row['diagnosis']}" if row.get("diagnosis") else "")


def outcome(attempt: Row) -> str:
    """Return the outcome of an attempt of a callback or a webhook."""
    answered = f"answered {attempt['status']}" if attempt.get("status") else ""
    return str(attempt.get("error") or answered or attempt.get("ending") or "under way")
