"""Storms: several simultaneous faults, drawn from a seed. Some faults affect the whole service."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from math import ceil
from typing import Any, NamedTuple

from simulator.domain.model import draw
from simulator.domain.model.money import SERVICE_ZONE
from simulator.explore.fault_catalogue import Fault
from simulator.explore.observation import Observation

FAULTS_MIN, FAULTS_MAX = 2, 5
CLASSES = ("writes", "reads", "outcomes", "callbacks", "outages")  # in the order of the words in a sentence


def storms(seed: int, faults: Sequence[Fault]) -> Iterator[tuple[Fault, ...]]:
    """Yield storms without end. Equal seeds and faults yield equal storms; each storm is drawn independently."""
    if len({fault.place for fault in faults}) < FAULTS_MIN:
        return
    for number in count(1):
        yield _storm(seed, number, faults)


def _storm(seed: int, number: int, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    span = FAULTS_MAX - FAULTS_MIN + 1
    wanted = FAULTS_MIN + int(draw.fraction(seed, "storm", number, "size") * span)
    chosen: list[Fault] = []
    classes = _classes(faults)
    for pick in range(10 * wanted):
        of_class = classes[int(draw.fraction(seed, "storm", number, pick, "class") * len(classes))]
        fault = of_class[int(draw.fraction(seed, "storm", number, pick, "fault") * len(of_class))]
        if all(_go_together(fault, other) for other in chosen):
            chosen.append(fault)
        if len(chosen) == wanted:
            break
    return tuple(sorted(chosen, key=lambda fault: CLASSES.index(_class(fault))))


def _classes(faults: Sequence[Fault]) -> list[list[Fault]]:
    """Group the faults, so that a storm draws each class with equal probability. A client that reads a hundred pages
    has far more faults of reading than of paying."""
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        found.setdefault(_class(fault), []).append(fault)
    return list(found.values())


def _class(fault: Fault) -> str:
    if fault.callbacks is not None or "webhooks" in fault.sections:
        return "callbacks"
    if fault.payment is not None:
        return "outcomes"
    if fault.then is not None:
        return "reads" if fault.when.get("method") == "GET" else "writes"
    return "outages"


def _go_together(fault: Fault, other: Fault) -> bool:
    """Return False for faults at the same place, for callbacks that are both reversed and otherwise distorted, and for
    callbacks of a status that the payment does not reach."""
    if fault.place == other.place:
        return False
    if fault.payment is None or other.payment is None or fault.payment != other.payment:
        return True
    if fault.callbacks is not None and other.callbacks is not None:
        return "status" in fault.callbacks and "status" in other.callbacks
    return all(_is_sent(callback, outcome) for callback, outcome in ((fault, other), (other, fault)))


def _is_sent(callback: Fault, outcome: Fault) -> bool:
    if callback.callbacks is None:
        return True
    reported = {step.status for step in outcome.steps[1:]}
    return callback.callbacks["status"] in reported if "status" in callback.callbacks else len(reported) > 1


BEGIN_S, SHORT_S, LONG_S = 2, 10, 60
"""Seconds of the sandbox since about its first request. An earlier outage would not affect the command."""

SHORT_WALL_S, LONG_WALL_S = 0.3, 0.6
"""The minimum lengths in wall time. Under a fast clock a shorter outage would pass between two requests."""

MIDNIGHT = datetime(2026, 6, 30, 16, tzinfo=UTC)  # of the service


def outages(baseline: Observation, keys: list[tuple[str, str]], *, has_start: bool, rate: float = 1.0) -> list[Fault]:
    """Return the faults of the whole service. `keys` are (reseller, API key). With `has_start` the user sets the start
    time of the sandbox. `rate` is the speed of its clock as a multiple of wall time."""
    times = _times(baseline.first_s, rate)
    return [*_outages(times), *_clocks(times, has_start), *_changes(times, baseline, keys)]


class _Times(NamedTuple):
    """The begin and the ends of outages, in the sandbox's seconds."""

    begin_s: int
    short_end_s: int
    long_end_s: int


def _times(first_s: float, rate: float) -> _Times:
    """Return the times for a first request after `first_s`. The value is rounded, since it differs between runs."""
    steps = [0, *(step * 10**power for power in range(8) for step in (1, 2, 5))]
    place = min(bisect_right(steps, first_s), len(steps) - 1)
    earliest, latest = steps[place - 1], steps[place] if place > 1 else 0
    short_s, long_s = max(SHORT_S, ceil(SHORT_WALL_S * rate)), max(LONG_S, ceil(LONG_WALL_S * rate))
    return _Times(earliest + BEGIN_S, latest + BEGIN_S + short_s, latest + BEGIN_S + long_s)


def _outages(times: _Times) -> Iterator[Fault]:
    for words, then in (("answers 503", {"status": 503}), ("closes every connection", {"disconnect": True})):
        yield _outage(words, then, times.begin_s, times.short_end_s)
        yield _outage(words, then, 0, times.short_end_s - BEGIN_S)
        yield _outage(words, then, times.begin_s, times.long_end_s)


def _outage(words: str, then: dict[str, Any], begin_s: int, end_s: int) -> Fault:
    text = f"the service {words} from {begin_s} s to {end_s} s"
    rule = {"name": text, "since": f"{begin_s}s", "until": f"{end_s}s", "then": then}
    return Fault(text, "outage", sections={"faults": [rule]}, wait_s=end_s)


def _clocks(times: _Times, has_start: bool) -> Iterator[Fault]:
    for words, skew in (("ahead", "4m"), ("behind", "-4m")):
        yield Fault(f"the service's clock is 4 minutes {words}", "skew", sections={"clock": {"skew": skew}})
    if not has_start:
        after_s = times.begin_s - BEGIN_S + SHORT_S
        start = (MIDNIGHT - timedelta(seconds=after_s)).astimezone(SERVICE_ZONE).isoformat()
        yield Fault(f"midnight comes after {after_s} s", "start", sections={"clock": {"start": start}})


def _changes(times: _Times, baseline: Observation, keys: list[tuple[str, str]]) -> Iterator[Fault]:
    span = f"from {times.begin_s} s to {times.short_end_s} s"
    begin, end = f"{times.begin_s}s", f"{times.short_end_s}s"
    for reseller, key in keys[:1]:
        change = {"reseller": reseller, "key": key}
        states = ((begin, "revoked"), (end, "active"))
        away = [{"at": at, "api_key": {**change, "state": state}} for at, state in states]
        words = f"the API key is revoked {span}"
        yield Fault(words, "key", sections={"schedule": away}, decides_outcome=True, wait_s=times.short_end_s)
    for product in dict.fromkeys(payment.order.product for payment in baseline.payments):
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
