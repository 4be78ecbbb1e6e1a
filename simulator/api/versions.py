"""Versions (SPEC 9): the gate of `X-API-Version`, the day from which everybody gets the new shapes, and `Deprecation`
on what is to go."""

from datetime import UTC, date, datetime, tzinfo

import msgspec

from simulator.api.call import Call, Reply
from simulator.auth import headers as names
from simulator.domain.model.instants import day
from simulator.domain.model.money import SERVICE_ZONE
from simulator.wire.tokens import deprecation

GATE = date(2026, 9, 16)
DEFAULT_FROM = date(2027, 1, 11)


def api_version(header: bytes | None) -> date | None:
    """The date that a client asks for; None for no header and for anything that is no real date."""
    if header is None:
        return None
    try:
        return day(header.decode("latin-1"))
    except ValueError:
        return None


def by_denomination(header: bytes | None, now: datetime, zone: tzinfo = SERVICE_ZONE) -> bool:
    """True when a response has the shapes of 2026-09-16; `zone` is where the day of the switch begins."""
    version = api_version(header)
    return (version is not None and version >= GATE) or now.astimezone(zone).date() >= DEFAULT_FROM


def wants_denominations(call: Call) -> bool:
    """The same for a call; a header that is no date is noted in the journal."""
    header = call.headers.get(names.API_VERSION)
    if header is not None and api_version(header) is None:
        call.exchange.diagnosis = "X-API-Version is no date of the form yyyy-MM-dd and was ignored"
    is_utc = call.sandbox.core.state.assumes("version-switch-zone", "utc")
    return by_denomination(header, call.now, UTC if is_utc else SERVICE_ZONE)


def marked_deprecated(call: Call, reply: Reply) -> Reply:
    """The reply with the header, unless the scenario leaves it out."""
    form = call.sandbox.scenario.assume.get("deprecation-header", "rfc9745")
    if form == "none":
        return reply
    return msgspec.structs.replace(reply, headers=(*reply.headers, (b"deprecation", deprecation(form))))
