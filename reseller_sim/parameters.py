"""The types of parameters that several functions have, with the values that they take."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, TypedDict
from urllib.parse import urlsplit

from reseller_sim.arguments import Limit
from reseller_sim.durations import RATE

DAY_S = 86_400
PAYMENT = ("Accepted", "Processing", "Succesful", "Failed", "Refund")
CALLBACK = ("Processing", "Succesful", "Failed")
SPELLING = " (the service writes 'Succesful', with one s)"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_SENT = re.compile(r"[^!-~]|#")


def choice(*known: str, note: str = "") -> Limit:
    """One of these texts."""
    return Limit(f"one of {', '.join(known)}{note}", known.__contains__, known)


def between(least: float, most: float, what: str) -> Limit:
    """A number from `least` to `most`."""
    return Limit(f"{what} from {least} to {most}", lambda value: least <= value <= most)


def _is_amount(value: Any) -> bool:
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def is_url(text: str) -> bool:
    """True for a URL of http or https with a host, a port that there can be, and nothing that would be dropped."""
    try:
        parts = urlsplit(text)
        is_whole = not _NOT_SENT.search(text) and "?" not in text and parts.username is None
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and is_whole
    except ValueError:
        return False


CLOCKS = ("manual", "real")
Name = Annotated[str, Limit("text that is not empty", lambda text: bool(text.strip()))]
Header = Annotated[
    str, Limit("printable ASCII that is not empty", lambda text: text.isascii() and text.isprintable() and text != "")
]
Seconds = Annotated[float, between(0, DAY_S, "seconds")]
Count = Annotated[int, between(1, 10_000, "a number")]
Money = Annotated[str | int | float | Decimal, Limit("an amount such as '25.00'", _is_amount)]
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
    Limit(
        "a path such as /clock, percent-encoded",
        lambda text: text == "" or (text[0] == "/" and not _NOT_SENT.search(text)),
    ),
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
