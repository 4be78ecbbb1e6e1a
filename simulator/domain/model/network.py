"""Network status of products (SPEC 2.7, 3.4): planned by the scenario over time, or set at run time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum


class NetworkStatus(StrEnum):
    """The two values of the wire."""

    HEALTHY = "Healthy"
    INTERRUPTION = "Interruption"


# Offsets from the start of the sandbox and the status from then on, in order of time.
NetworkTimeline = tuple[tuple[timedelta, NetworkStatus], ...]


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
    def kept(self) -> Mapping[str, NetworkStatus]:
        """Return the statuses that were set at run time."""
        return self._set

    def restore(self, kept: Mapping[str, NetworkStatus]) -> None:
        """Replace all statuses that were set at run time."""
        self._set = dict(kept)

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
