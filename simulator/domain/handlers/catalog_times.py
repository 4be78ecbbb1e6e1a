"""When the catalog changed last, and when its default shape switched to the new one (SPEC 2.1, 9)."""

from datetime import UTC, datetime, timedelta

from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.resellers import Reseller
from simulator.domain.state import State

TICK = timedelta(milliseconds=1)  # the smallest difference that is visible to clients

SWITCH_IN_SERVICE_ZONE = datetime(2027, 1, 11, tzinfo=SERVICE_ZONE)
SWITCH_IN_UTC = datetime(2027, 1, 11, tzinfo=UTC)


def version_switch(state: State) -> datetime:
    """The moment from which every request defaults to the shapes of API version 2026-09-16."""
    return SWITCH_IN_UTC if state.assumes("version-switch-zone", "utc") else SWITCH_IN_SERVICE_ZONE


def last_updated(state: State, now: datetime, reseller: Reseller | None = None) -> datetime:
    """When the catalog, the view of `reseller`, or the default shape changed last."""
    changed = state.catalog_updated if reseller is None else reseller.catalog_updated(state.catalog_updated)
    switch = version_switch(state)
    return switch if changed < switch <= now else changed


def later(state: State, now: datetime) -> datetime:
    """`now`, or one tick after every published time: `last_updated` moves even when the clock does not."""
    latest = max([last_updated(state, now), *(last_updated(state, now, one) for one in state.resellers.values())])
    return max(now, latest + TICK)
