"""Network status of products (SPEC 2.7, 3.4): planned by the scenario over time, or set while the sandbox runs."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum


class NetworkStatus(StrEnum):
    """The two that there are."""

    HEALTHY = "Healthy"
    INTERRUPTION = "Interruption"


# Which status begins how long after the start of the sandbox, in order of time.
Plan = tuple[tuple[timedelta, NetworkStatus], ...]


class Network:
    """Every product's status at any time. A product without a plan is healthy, and so is one before its plan begins."""

    def __init__(self, plans: Mapping[str, Plan], started: datetime) -> None:
        self._plans = plans
        self._started = started
        self._set: dict[str, NetworkStatus] = {}

    def plan(self, plans: Mapping[str, Plan]) -> None:
        """Follow other plans; what was set stays."""
        self._plans = plans

    def set(self, product: str, status: NetworkStatus) -> None:
        """Give a product a status that stays, in place of its plan."""
        self._set[product] = status

    def status(self, product: str, now: datetime) -> NetworkStatus:
        """A product's status at `now`."""
        if product in self._set:
            return self._set[product]
        current = NetworkStatus.HEALTHY
        for at, status in self._plans.get(product, ()):
            if self._started + at > now:
                break
            current = status
        return current
