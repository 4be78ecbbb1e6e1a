"""API versions (SPEC 9): parsing `X-API-Version`, the date when the new shapes become the default, `Deprecation`
headers."""

from datetime import date, datetime

import msgspec

from simulator.api.call import Call, Reply
from simulator.auth import headers as names
from simulator.domain.model.instants import day, looks_like_day
from simulator.domain.queries import NEW_VERSION, SWITCH_IN_SERVICE_ZONE, has_newest_shape, version_switch
from simulator.wire.diagnoses import shown
from simulator.wire.tokens import deprecation


def api_version(header: bytes | None) -> date | None:
    """Return the requested date; None without a header and for an invalid date."""
    if header is None:
        return None
    try:
        return day(header.decode("latin-1"))
    except ValueError:
        return None


def version_problem(header: bytes) -> str:
    """Return why `X-API-Version` is ignored; empty when it is not."""
    if api_version(header) is not None:
        return ""
    sent = header.decode("latin-1")
    wrong = "is not an existing date" if looks_like_day(sent) else "does not have the form yyyy-MM-dd"
    return f"X-API-Version {shown(sent)!r} {wrong} and was ignored"


def by_denomination(header: bytes | None, now: datetime, switch: datetime = SWITCH_IN_SERVICE_ZONE) -> bool:
    """Return whether a response has the shapes of 2026-09-16, the default from `switch` on."""
    version = api_version(header)
    return (version is not None and version >= NEW_VERSION) or now >= switch


def wants_denominations(call: Call) -> bool:
    """Return whether a call's response has the shapes of 2026-09-16; a scenario may serve them to all requests."""
    state = call.sandbox.core.state
    if has_newest_shape(state):
        return True
    return by_denomination(call.headers.get(names.API_VERSION), call.now, version_switch(state))


def marked_deprecated(call: Call, reply: Reply) -> Reply:
    """Return the reply with the header, unless the scenario suppresses it."""
    form = call.sandbox.scenario.assume.get("deprecation-header", "rfc9745")
    if form == "none":
        return reply
    return msgspec.structs.replace(reply, headers=(*reply.headers, (b"deprecation", deprecation(form))))
