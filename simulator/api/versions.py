"""Versions (SPEC 9): the gate of `X-API-Version`, the day from which everybody gets the new shapes, and `Deprecation`
on what is to go."""

import re
from datetime import date, datetime

import msgspec

from simulator.api.call import Call, Reply
from simulator.domain.handlers.catalog_times import SWITCH_IN_SERVICE_ZONE, version_switch
from simulator.wire.tokens import deprecation

GATE = date(2026, 9, 16)
SHOWN_CHARS_MAX = 60

_DATE = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def api_version(header: bytes | None) -> date | None:
    """The date that a client asks for; None for no header and for anything that is no real date."""
    if header is None or not _DATE.fullmatch(header):
        return None
    try:
        return date.fromisoformat(header.decode("ascii"))
    except ValueError:
        return None


def version_problem(header: bytes) -> str:
    """Why `X-API-Version` is ignored; empty when it is not."""
    if api_version(header) is not None:
        return ""
    sent = header.decode("latin-1")[:SHOWN_CHARS_MAX]
    wrong = "no day of the calendar" if _DATE.fullmatch(header) else "no date of the form yyyy-MM-dd"
    return f"X-API-Version {sent!r} is {wrong} and was ignored"


def by_denomination(header: bytes | None, now: datetime, switch: datetime = SWITCH_IN_SERVICE_ZONE) -> bool:
    """True when a response has the shapes of 2026-09-16, which all have from `switch` on."""
    version = api_version(header)
    return (version is not None and version >= GATE) or now >= switch


def wants_denominations(call: Call) -> bool:
    """The same for a call."""
    return by_denomination(call.headers.get(b"x-api-version"), call.now, version_switch(call.sandbox.core.state))


def marked_deprecated(call: Call, reply: Reply) -> Reply:
    """The reply with the header, unless the scenario leaves it out."""
    form = call.sandbox.scenario.assume.get("deprecation-header", "rfc9745")
    if form == "none":
        return reply
    return msgspec.structs.replace(reply, headers=(*reply.headers, (b"deprecation", deprecation(form))))
