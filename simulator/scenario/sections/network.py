"""Network status of products: a constant, or a list over time from the start of the sandbox."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.network import NetworkStatus, Plan
from simulator.scenario.reading.reader import Reader


def network(section: Reader, products: Collection[str]) -> Mapping[str, Plan]:
    """The plan of each product that has one."""
    plans: dict[str, Plan] = {}
    for code, entry in section.entries():
        if code not in products:
            entry.unknown("product", code, "in the catalog", products, at_key=True)
        plans[code] = _plan(entry)
    return MappingProxyType(plans)


def _plan(entry: Reader) -> Plan:
    if not entry.is_list:
        return ((timedelta(0), _status(entry)),)
    latest = timedelta(0)
    plan: list[tuple[timedelta, NetworkStatus]] = []
    for item in entry.items():
        at = item["at"].duration()
        if at < latest:
            item["at"].problem("timeline", f"{item['at'].text()} is before the one above; 'at' counts from the start")
        latest = max(latest, at)
        plan.append((at, _status(item["status"])))
    return tuple(plan)


def _status(entry: Reader) -> NetworkStatus:
    text = entry.text()
    return next((status for status in NetworkStatus if status == text), NetworkStatus.HEALTHY)
