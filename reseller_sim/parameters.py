"""The types of parameters that several functions have, with the values that they take."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, TypedDict
from urllib.parse import urlsplit

from reseller_sim.arguments import Limit

DAY_S = 86_400
DURATION_MAX_S = 3660 * DAY_S
PAYMENT = ("Accepted", "Processing", "Succesful", "Failed", "Refund")
CALLBACK = ("Processing", "Succesful", "Failed")
CLOCKS = ("manual", "real")
SPELLING = " (the service writes 'Succesful', with one s)"
RATE = re.compile(r"x([0-9]{1,9}(?:\.[0-9]{1,9})?)")  # a clock that runs faster, such as x60
UNITS = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600), "d": Decimal(DAY_S)}
_DURATION = re.compile(r"([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}")  # as scenarios write them, but never below 0
_PART = re.compile(r"([0-9.]+)([a-z]+)")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_SENT = re.compile(r"[^!-~]|#")


def choice(*known: str, note: str = "") -> Limit:
    """Take one of these texts."""
    return Limit(f"one of {', '.join(known)}{note}", known.__contains__, known)


def between(least: float, most: float, what: str) -> Limit:
    """Take a number from `least` to `most`."""
    return Limit(f"{what} from {least} to {most}", lambda value: least <= value <= most)


def _is_amount(value: Any) -> bool:
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def is_url(text: str) -> bool:
    """Return True for a URL of http or https with a host, a possible port, and nothing that would be dropped."""
    try:
        parts = urlsplit(text)
        is_whole = not _NOT_SENT.search(text) and "?" not in text and parts.username is None
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and is_whole
    except ValueError:
        return False


def seconds(duration: str | float | timedelta) -> float:
    """Return the seconds of `90`, `"90s"`, `"1h30m"`, `"1.5d"` or a timedelta."""
    if isinstance(duration, str):
        total = sum(Decimal(count) * UNITS[unit] for count, unit in _PART.findall(duration))
        return int(total) if total == int(total) else float(total)
    return duration.total_seconds() if isinstance(duration, timedelta) else duration


def is_duration(value: str | float | timedelta) -> bool:
    """Return True for a duration from 0 to 3660 days."""
    return not (isinstance(value, str) and not _DURATION.fullmatch(value)) and 0 <= seconds(value) <= DURATION_MAX_S


def moment(at: str | datetime) -> str:
    """Return a time as ISO 8601."""
    return at if isinstance(at, str) else at.isoformat()


Name = Annotated[str, Limit("text that is not empty", lambda text: bool(text.strip()))]
Header = Annotated[
    str, Limit("printable ASCII that is not empty", lambda text: text.isascii() and text.isprintable() and text != "")
]
Seconds = Annotated[float, between(0, DAY_S, "seconds")]
Count = Annotated[int, between(1, 10_000, "a number")]
Money = Annotated[str | int | float | Decimal, Limit("an amount such as '25.00'", _is_amount)]
Duration = Annotated[
    str | int | float | timedelta,
    Limit("seconds, a timedelta or text such as '90s', '1h30m', '1.5d' or '500ms', up to 3660 days", is_duration),
]
Moment = Annotated[
    str | datetime,
    Limit(
        "a time such as '2027-01-10T23:59:00+08:00' or a datetime with a zone",
        lambda at: bool(at.strip()) if isinstance(at, str) else at.tzinfo is not None,
    ),
]
PaymentStatus = Annotated[str, choice(*PAYMENT, note=SPELLING)]
CallbackStatus = Annotated[str, choice(*CALLBACK, note=SPELLING)]
Section = Annotated[str, choice("payments", "voids", "disputes", "bills", "faults")]
Credentials = Annotated[str, choice("scenario", "unique")]
Clock = Annotated[
    str, Limit("manual, real or a rate such as x60", lambda text: text in CLOCKS or bool(RATE.fullmatch(text)), CLOCKS)
]
Url = Annotated[
    str, Limit("an http or https URL such as http://127.0.0.1:8080, without a user, a query and a fragment", is_url)
]
Method = Annotated[str, Limit("a method of HTTP such as GET", lambda text: bool(_TOKEN.fullmatch(text)))]
Target = Annotated[
    str,
    Limit(
        "a path such as /v2/balance, percent-encoded", lambda text: text.startswith("/") and not _NOT_SENT.search(text)
    ),
]
Below = Annotated[
    str,
    Limit("a path such as /clock, percent-encoded", lambda text: text[:1] in ("", "/") and not _NOT_SENT.search(text)),
]
Scenario = Annotated[
    Name | Path | Mapping[str, Any],
    Limit("a bundled scenario's name, a file, YAML text or a mapping", lambda value: value != ""),
]


class TransactionFilters(TypedDict, total=False):
    """What payments are listed by."""

    refid: Name
    reseller: Name


class CallbackFilters(TypedDict, total=False):
    """What attempts of callbacks are listed by."""

    refid: Name
    trxid: Name


class RequestFilters(TypedDict, total=False):
    """What the journal is searched by; `_not` excludes."""

    method: Name
    path: Name
    status: int | Name
    reseller: Name
    trxid: Name
    refid: Name
    rule: Name
    fault: Name
    error: Name
    trace_id: Name
    status_min: int
    status_max: int
    method_not: Name
    path_not: Name
    status_not: int | Name
    reseller_not: Name
    trxid_not: Name
    refid_not: Name
    rule_not: Name
    fault_not: Name
    error_not: Name
