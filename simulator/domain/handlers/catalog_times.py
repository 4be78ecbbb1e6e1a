"""When what the catalog shows changed last, and since when its default shape is the new one (SPEC 2.1, 9)."""

from datetime import UTC, datetime, timedelta

from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.resellers import Reseller
from simulator.domain.state import State

TICK = timedelta(milliseconds=1)  # the least difference that a client can see

SWITCH_IN_SERVICE_ZONE = datetime(2027, 1, 11, tzinfo=SERVICE_ZONE)
SWITCH_IN_UTC = datetime(2027, 1, 11, tzinfo=UTC)


def version_switch(state: State) -> datetime:
    """The moment from which every request gets the shapes of API version 2026-09-16."""
    return SWITCH_IN_UTC if state.assumes("version-switch-zone", "utc") else SWITCH_IN_SERVICE_ZONE


def last_updated(state: State, now: datetime, reseller: Reseller | None = None) -> datetime:
    """When the catalog changed last, what `reseller` alone sees of it, or its default shape."""
    changed = state.catalog_updated if reseller is None else reseller.catalog_updated(state.catalog_updated)
    switch = version_switch(state)
    return switch if changed < switch <= now else changed


def later(state: State, now: datetime) -> datetime:
    """`now`, or a tick after all that anybody saw before: under a clock that stands still `last_updated` moves too."""
    latest = max([last_updated(state, now), *(last_updated(state, now, one) for one in state.resellers.values())])
    return max(now, latest + TICK)
