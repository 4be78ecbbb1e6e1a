"""Weather: what goes wrong for the whole service for a while, which only storms have."""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from simulator.domain.model.money import SERVICE_ZONE
from simulator.explore.faults import Fault
from simulator.explore.seen import Seen

BEGIN_S, SHORT_S, LONG_S = 2, 10, 60
"""Seconds of the sandbox, from about its first request on: before that no weather meets the command."""

SHORT_WALL_S, LONG_WALL_S = 0.3, 0.6
"""So long at least by the wall, since what is shorter under a fast clock passes between two requests."""

RATE_MAX = 1_000_000
"""By a still faster clock nothing is longer, so that all is within the bounds of a scenario."""

MIDNIGHT = datetime(2026, 6, 30, 16, tzinfo=UTC)  # of the service


def weathers(calm: Seen, keys: list[tuple[str, str]], *, has_start: bool, rate: float = 1.0) -> list[Fault]:
    """All of it. `keys` are (reseller, API key); with `has_start` the sandbox's start is the user's own, and `rate` is
    how many times as fast as the wall its clock runs."""
    times = _times(calm.first_s, min(rate, RATE_MAX))
    return [*_outages(times), *_clocks(times, has_start), *_changes(times, calm, keys)]


class _Times(NamedTuple):
    """When weather begins and ends, in the sandbox's seconds."""

    begin_s: int
    short_end_s: int
    long_end_s: int


def _times(first_s: float, rate: float) -> _Times:
    """The times for a first request after `first_s`, which is rounded, since it is not the same in each run."""
    steps = [0, *(step * 10**power for power in range(8) for step in (1, 2, 5))]
    place = min(bisect_right(steps, first_s), len(steps) - 1)
    earliest, latest = steps[place - 1], steps[place] if place > 1 else 0
    short_s, long_s = max(SHORT_S, ceil(SHORT_WALL_S * rate)), max(LONG_S, ceil(LONG_WALL_S * rate))
    return _Times(earliest + BEGIN_S, latest + BEGIN_S + short_s, latest + BEGIN_S + long_s)


def _outages(times: _Times) -> Iterator[Fault]:
    for words, then in (("answers 503", {"status": 503}), ("closes every connection", {"disconnect": True})):
        short = _outage(words, then, times.begin_s, times.short_end_s)
        yield short
        yield _outage(words, then, 0, times.short_end_s - BEGIN_S)
        yield _outage(words, then, times.begin_s, times.long_end_s, (short,))


def _outage(words: str, then: dict[str, Any], begin_s: int, end_s: int, milder: tuple[Fault, ...] = ()) -> Fault:
    text = f"the service {words} from {begin_s} s to {end_s} s"
    rule = {"name": text, "since": f"{begin_s}s", "until": f"{end_s}s", "then": then}
    return Fault(text, "outage", sections={"faults": [rule]}, wait_s=end_s, milder=milder)


def _clocks(times: _Times, has_start: bool) -> Iterator[Fault]:
    for words, skew in (("ahead", "4m"), ("behind", "-4m")):
        yield Fault(f"the service's clock is 4 minutes {words}", "skew", sections={"clock": {"skew": skew}})
    if not has_start:
        after_s = times.begin_s - BEGIN_S + SHORT_S
        start = (MIDNIGHT - timedelta(seconds=after_s)).astimezone(SERVICE_ZONE).isoformat()
        yield Fault(f"midnight comes after {after_s} s", "start", sections={"clock": {"start": start}})


def _changes(times: _Times, calm: Seen, keys: list[tuple[str, str]]) -> Iterator[Fault]:
    span = f"from {times.begin_s} s to {times.short_end_s} s"
    begin, end = f"{times.begin_s}s", f"{times.short_end_s}s"
    for reseller, key in keys[:1]:
        change = {"reseller": reseller, "key": key}
        states = ((begin, "revoked"), (end, "active"))
        away = [{"at": at, "api_key": {**change, "state": state}} for at, state in states]
        words = f"the API key is revoked {span}"
        yield Fault(words, "key", sections={"schedule": away}, decides_outcome=True, wait_s=times.short_end_s)
    for product in dict.fromkeys(one.order.product for one in calm.payments):
        off = [
            {"at": begin, "product": {"code": product, "set": {"is_active": False}}},
            {"at": end, "product": {"code": product, "set": {"is_active": True}}},
        ]
        place = f"product {product}"
        words = f"{product} is not on sale {span}"
        yield Fault(words, place, sections={"schedule": off}, decides_outcome=True, wait_s=times.short_end_s)
        renamed = [{"at": begin, "product": {"code": product, "set": {"name": "Another name"}}}]
        yield Fault(f"{product} gets another name after {begin}", place, sections={"schedule": renamed})
        bad = {product: "Interruption"}
        words = f"the network of {product} is interrupted"
        yield Fault(words, f"network {product}", sections={"network": bad}, decides_outcome=True)
