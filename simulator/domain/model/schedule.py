"""The plan of a scenario: automatic changes, each at its time, and the network status of products over time (SPEC 2.7,
3.4)."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from enum import StrEnum

import msgspec

from simulator.domain.model.instants import next_time_of_day


class NetworkStatus(StrEnum):
    """The status of a product's network, as the API names it."""

    HEALTHY = "Healthy"
    INTERRUPTION = "Interruption"


# Offsets from the start of the sandbox and the status from then on, in order of time.
NetworkTimeline = tuple[tuple[timedelta, NetworkStatus], ...]


At = timedelta | time
"""A time since the start of the sandbox, or the first such time of day after the start in the service's zone."""


class Command(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="command"):
    """The base of all commands. Deserialization identifies a command by its class name."""


class ScheduledChange(msgspec.Struct, frozen=True):
    """A change that the scenario schedules, as the commands that carry it out, in order."""

    at: At
    commands: tuple[Command, ...]


def due_at(at: At, started: datetime) -> datetime:
    """Return the moment that `at` means in a sandbox that started at `started`."""
    return next_time_of_day(at, started) if isinstance(at, time) else started + at


def written(at: At) -> str:
    """Return the time in words."""
    return f"at {at:%H:%M:%S}" if isinstance(at, time) else f"{at.total_seconds():g} s after the start"


class Network:
    """The status of products over time. A product without a timeline, or before its timeline starts, is healthy.
    `overrides` has the statuses that were set at run time."""

    def __init__(self, timelines: Mapping[str, NetworkTimeline], started: datetime) -> None:
        self._timelines = timelines
        self._started = started
        self.overrides: dict[str, NetworkStatus] = {}

    def follow(self, timelines: Mapping[str, NetworkTimeline]) -> None:
        """Replace the timelines. Statuses set at run time stay for products whose timeline is unchanged."""
        self.overrides = {
            product: status
            for product, status in self.overrides.items()
            if timelines.get(product, ()) == self._timelines.get(product, ())
        }
        self._timelines = timelines

    def status(self, product: str, now: datetime) -> NetworkStatus:
        """Return a product's status at `now`."""
        if product in self.overrides:
            return self.overrides[product]
        begun = [status for at, status in self._timelines.get(product, ()) if self._started + at <= now]
        return begun[-1] if begun else NetworkStatus.HEALTHY
