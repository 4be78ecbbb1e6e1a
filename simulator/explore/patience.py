"""How long the receivers of a run may take: by a fast clock they would have less time than a busy machine needs."""

from datetime import timedelta
from typing import Any

from simulator.domain.model.scenario import Scenario

RECEIVER_WALL = timedelta(seconds=5)
"""So long at least, by the wall, may a receiver take."""

LIMIT_MAX = timedelta(days=3650)


def patience(scenario: Scenario, rate: float) -> dict[str, Any]:
    """The sections of a scenario that leave receivers this time under a clock that runs so many times as fast."""
    if rate <= 1:
        return {}
    least = min(RECEIVER_WALL * rate, LIMIT_MAX)
    found: dict[str, Any] = {}
    if scenario.limits.callback_timeout < least:
        found["limits"] = {"callback_timeout": _duration(least)}
    if scenario.webhooks.timeout is not None and scenario.webhooks.timeout < least:
        found["webhooks"] = {"timeout": _duration(least)}
    return found


def _duration(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}s"
