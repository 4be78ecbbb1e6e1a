"""Weather: what goes wrong for the whole service for a while, which only storms have."""

from collections.abc import Iterator
from typing import Any

from simulator.explore.faults import Fault
from simulator.explore.seen import Seen

BEGIN_S, SHORT_S, LONG_S = 2, 10, 60
MIDNIGHT = "2026-06-30T23:59:50+08:00"


def weathers(calm: Seen, keys: list[tuple[str, str]], *, has_start: bool) -> list[Fault]:
    """All of it. `keys` are (reseller, API key); with `has_start` the sandbox's start is the user's own."""
    return [*_outages(), *_clocks(has_start), *_changes(calm, keys)]


def _outages() -> Iterator[Fault]:
    for words, then in (("answers 503", {"status": 503}), ("closes every connection", {"disconnect": True})):
        short = _outage(words, then, BEGIN_S, SHORT_S)
        yield short
        yield _outage(words, then, 0, SHORT_S)
        yield _outage(words, then, BEGIN_S, LONG_S, (short,))


def _outage(words: str, then: dict[str, Any], begin_s: int, length_s: int, milder: tuple[Fault, ...] = ()) -> Fault:
    text = f"the service {words} from {begin_s} s to {begin_s + length_s} s"
    rule = {"name": text, "since": f"{begin_s}s", "until": f"{begin_s + length_s}s", "then": then}
    return Fault(text, "outage", sections={"faults": [rule]}, wait_s=begin_s + length_s, milder=milder)


def _clocks(has_start: bool) -> Iterator[Fault]:
    for words, skew in (("ahead", "4m"), ("behind", "-4m")):
        yield Fault(f"the service's clock is 4 minutes {words}", "skew", sections={"clock": {"skew": skew}})
    if not has_start:
        yield Fault("midnight comes after 10 s", "start", sections={"clock": {"start": MIDNIGHT}})


def _changes(calm: Seen, keys: list[tuple[str, str]]) -> Iterator[Fault]:
    span = f"from {BEGIN_S} s to {BEGIN_S + SHORT_S} s"
    begin, end = f"{BEGIN_S}s", f"{BEGIN_S + SHORT_S}s"
    for reseller, key in keys[:1]:
        change = {"reseller": reseller, "key": key}
        states = ((begin, "revoked"), (end, "active"))
        away = [{"at": at, "api_key": {**change, "state": state}} for at, state in states]
        words = f"the API key is revoked {span}"
        yield Fault(words, "key", sections={"schedule": away}, decides_outcome=True, wait_s=BEGIN_S + SHORT_S)
    for product in dict.fromkeys(one.order.product for one in calm.payments):
        off = [
            {"at": begin, "product": {"code": product, "set": {"is_active": False}}},
            {"at": end, "product": {"code": product, "set": {"is_active": True}}},
        ]
        place = f"product {product}"
        words = f"{product} is not on sale {span}"
        yield Fault(words, place, sections={"schedule": off}, decides_outcome=True, wait_s=BEGIN_S + SHORT_S)
        renamed = [{"at": begin, "product": {"code": product, "set": {"name": "Another name"}}}]
        yield Fault(f"{product} gets another name after {begin}", place, sections={"schedule": renamed})
        bad = {product: "Interruption"}
        words = f"the network of {product} is interrupted"
        yield Fault(words, f"network {product}", sections={"network": bad}, decides_outcome=True)
