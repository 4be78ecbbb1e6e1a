"""Network status of products: a constant, or a list over time from the start of the sandbox."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.network import NetworkStatus, NetworkTimeline
from simulator.scenario.reading.reader import Reader

INTERRUPTED = "FP"
"""The product that staging reports as interrupted at all times (SPEC 7.3)."""


def network(section: Reader, products: Collection[str], environment: str) -> Mapping[str, NetworkTimeline]:
    """The timeline of each product that has one; in staging `FP` has one without being named."""
    timelines: dict[str, NetworkTimeline] = {}
    if environment == "staging" and INTERRUPTED in products:
        timelines[INTERRUPTED] = ((timedelta(0), NetworkStatus.INTERRUPTION),)
    for code, entry in section.entries():
        if code not in products:
            entry.unknown("product", code, "in the catalog", products, at_key=True)
        timelines[code] = _timeline(entry)
    return MappingProxyType(timelines)


def _timeline(entry: Reader) -> NetworkTimeline:
    if not entry.is_list:
        return ((timedelta(0), network_status(entry)),)
    latest = timedelta(0)
    timeline: list[tuple[timedelta, NetworkStatus]] = []
    for item in entry.items():
        at = item["at"].duration()
        if at < latest:
            item["at"].problem("timeline", f"{item['at'].text()} is before the one above; 'at' counts from the start")
        latest = max(latest, at)
        timeline.append((at, network_status(item["status"])))
    return tuple(timeline)


def network_status(entry: Reader) -> NetworkStatus:
    """One status."""
    text = entry.text()
    return next((status for status in NetworkStatus if status == text), NetworkStatus.HEALTHY)
