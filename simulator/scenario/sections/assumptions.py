"""The choices of a scenario where the specification is silent, by the id of the register."""

from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType

from simulator.scenario.reading.reader import Reader
from simulator.wire.payments import STATUS_NAMES

_STATUSES: Mapping[str, str] = {name: status for status, name in STATUS_NAMES.items()}


def assumptions(section: Reader) -> Mapping[str, object]:
    """The choices by id."""
    chosen: dict[str, object] = {}
    for id_, entry in section.entries():
        chosen[id_] = _status_codes(entry) if id_ == "payment-status-codes" else entry.text()
    _check_address(section["source-address"])
    return MappingProxyType(chosen)


def _status_codes(entry: Reader) -> Mapping[str, int]:
    return MappingProxyType({_STATUSES.get(name, name): code.integer(0) for name, code in entry.entries()})


def _check_address(entry: Reader) -> None:
    if not entry.is_given or entry.text() == "rotate":
        return
    try:
        ip_address(entry.text())
    except ValueError:
        entry.problem("bad_address", f"{entry.text()!r} must be an IP address, or rotate")
