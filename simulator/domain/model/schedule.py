"""The plan of a scenario: automatic changes, each at its time, and the network status of products over time (SPEC 2.7,
3.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import TreeKind
from simulator.domain.model.instants import next_time_of_day
from simulator.domain.model.resellers import KeyState
from simulator.domain.model.wallet import EntryType


class NetworkStatus(StrEnum):
    """The status of a product's network, as the API names it."""

    HEALTHY = "Healthy"
    INTERRUPTION = "Interruption"


# Offsets from the start of the sandbox and the status from then on, in order of time.
NetworkTimeline = tuple[tuple[timedelta, NetworkStatus], ...]


At = timedelta | time
"""A time since the start of the sandbox, or the first such time of day after the start in the service's zone."""


class ScheduledDeposit(msgspec.Struct, frozen=True):
    """A credit."""

    at: At
    reseller: str
    amount: Decimal
    description: str
    type: EntryType = EntryType.DEPOSIT


class ScheduledChange(msgspec.Struct, frozen=True):
    """A product change; the other fields are as in `ChangeProduct`."""

    at: At
    code: str
    changes: Mapping[str, Any]
    options: Mapping[str, bool]
    reseller: str | None = None


class ScheduledTreeChange(msgspec.Struct, frozen=True):
    """A change of a category or group; the other fields are as in `ChangeTree`."""

    at: At
    kind: TreeKind
    id: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScheduledKey:
    """An API key that is added, or changed if it exists. `secret` is Base64, empty to keep it; `state` None keeps the
    state of an existing key, and activates a new key."""

    at: At
    reseller: str
    key: str
    secret: str = field(default="", repr=False)
    state: KeyState | None = None


class ScheduledSettings(msgspec.Struct, frozen=True):
    """Changes of a reseller: `changes` are as in `ChangeSettings`; None keeps a value."""

    at: At
    reseller: str
    changes: Mapping[str, bool | tuple[str, ...]]
    callback: CallbackConfig | None = None
    low_balance_threshold: Decimal | None = None


class ScheduledNetwork(msgspec.Struct, frozen=True):
    """A product's network status from then on."""

    at: At
    product: str
    status: NetworkStatus


class ScheduledRule(msgspec.Struct, frozen=True):
    """A rule that is added; the other fields are as in `AddRule`."""

    at: At
    section: str
    document: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Return the name, else the id; empty without either."""
        return str(self.document.get("name") or self.document.get("id") or "")


class ScheduledRemoval(msgspec.Struct, frozen=True):
    """A rule that is removed, by its name or id."""

    at: At
    rule: str


@dataclass(frozen=True, slots=True)
class ScheduledWebhook:
    """A reseller's balance webhook that is created or changed. An empty `url` or `secret` and `enabled` None keep the
    value; a new webhook is enabled and draws its secret."""

    at: At
    reseller: str
    url: str = ""
    secret: str = field(default="", repr=False)
    enabled: bool | None = None


Scheduled = (
    ScheduledDeposit
    | ScheduledChange
    | ScheduledTreeChange
    | ScheduledKey
    | ScheduledSettings
    | ScheduledNetwork
    | ScheduledRule
    | ScheduledRemoval
    | ScheduledWebhook
)


def due(item: Scheduled, started: datetime) -> datetime:
    """Return when an item is due in a sandbox that started at `started`."""
    return due_at(item.at, started)


def due_at(at: At, started: datetime) -> datetime:
    """Return the moment that `at` means in a sandbox that started at `started`."""
    return next_time_of_day(at, started) if isinstance(at, time) else started + at


def written(at: At) -> str:
    """Return the time in words."""
    return f"at {at:%H:%M:%S}" if isinstance(at, time) else f"{at.total_seconds():g} s after the start"


class Network:
    """The status of products over time. A product without a timeline, or before its timeline starts, is healthy."""

    def __init__(self, timelines: Mapping[str, NetworkTimeline], started: datetime) -> None:
        self._timelines = timelines
        self._started = started
        self._set: dict[str, NetworkStatus] = {}

    def follow(self, timelines: Mapping[str, NetworkTimeline]) -> None:
        """Replace the timelines. Statuses set at run time stay for products whose timeline is unchanged."""
        self._set = {
            product: status
            for product, status in self._set.items()
            if timelines.get(product, ()) == self._timelines.get(product, ())
        }
        self._timelines = timelines

    def set(self, product: str, status: NetworkStatus) -> None:
        """Set a product's status permanently, overriding its timeline."""
        self._set[product] = status

    @property
    def overrides(self) -> Mapping[str, NetworkStatus]:
        """Return the statuses that were set at run time."""
        return self._set

    def restore(self, overrides: Mapping[str, NetworkStatus]) -> None:
        """Replace all statuses that were set at run time."""
        self._set = dict(overrides)

    def status(self, product: str, now: datetime) -> NetworkStatus:
        """Return a product's status at `now`."""
        if product in self._set:
            return self._set[product]
        current = NetworkStatus.HEALTHY
        for at, status in self._timelines.get(product, ()):
            if self._started + at > now:
                break
            current = status
        return current
