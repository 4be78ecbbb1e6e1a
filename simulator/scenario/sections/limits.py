"""Clock and limits of a scenario, network status of products, and choices where the specification is silent."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any

import msgspec

from simulator.domain.model.callbacks import RetryPolicy
from simulator.domain.model.instants import sandbox_time
from simulator.domain.model.scenario import ClockStart, Limits
from simulator.domain.model.schedule import NetworkStatus, NetworkTimeline
from simulator.scenario.reading.value_reader import ONE, ValueReader
from simulator.wire.payment_answers import STATUS_NAMES

# `null` as a tolerance: larger than any difference of valid times.
ANY_TIME = timedelta(days=365_000)


def clock(section: ValueReader) -> ClockStart:
    """Parse `manual`, `x60`, or an object with more keys."""
    item = section["mode"] if section.is_mapping else section
    text = item.text("real")
    rate = section["rate"]
    mode = "xN" if text.startswith("x") else text
    if mode == "xN" and text != "xN":
        speed = _rate(item, text)
        if rate.is_given:
            rate.problem("duplicate", f"the rate is in the mode {text} already", at_key=True)
    else:
        speed = float(rate.amount(ONE))
        if mode == "xN" and not rate.is_given:
            item.problem("missing_key", "mode xN needs 'rate' beside it, or a number such as x60")
        if mode != "xN":
            section.misplaced("only a clock with the mode xN has a rate", "rate")
    return ClockStart(
        mode=mode,
        rate=speed,
        start=section["start"].parsed(sandbox_time, "bad_time"),
        skew=section["skew"].duration(),
        signature=section["signature"].text("wall"),
    )


def _rate(item: ValueReader, text: str) -> float:
    rate = float(text[1:]) if text[1:].replace(".", "", 1).isdecimal() else 0.0
    if not 0.01 <= rate <= 100_000:
        item.problem("bad_clock", f"{text!r}: a clock runs from x0.01 to x100000")
    return rate


def limits(section: ValueReader) -> Limits:
    """Return the limits; absent limits keep their defaults. Durations and whole numbers are read by their defaults."""
    usual = Limits()
    found: dict[str, Any] = {}
    for name, entry in section.entries():
        default = getattr(usual, name, None)
        if not entry.is_valid:
            continue
        if entry.is_null:  # the schema allows it for these alone
            found[name] = ANY_TIME if name == "timestamp_tolerance" else None
        elif isinstance(default, timedelta):
            found[name] = entry.duration(default)
        elif isinstance(default, int):
            found[name] = entry.integer(default)
    for name in ("token_lifetime", "refresh_token_lifetime"):
        if name in found and found[name] < timedelta(seconds=1):
            section[name].problem("bad_duration", "a token lives at least 1 second")
    retries = section["callback_retries"].integer(usual.callback_retry.retries)
    after = section["callback_retry_after"].duration(usual.callback_retry.after)
    return msgspec.structs.replace(usual, **found, callback_retry=RetryPolicy(retries, after))


def refuse_too_many(root: ValueReader, rules: list[ValueReader], most: Limits) -> None:
    """Report the first rule, reseller or API key above its limit."""
    resellers = root["resellers"].items()
    keys = [key for reseller in resellers for key in reseller["api_keys"].items()]
    counted = (
        ("rules", rules, most.rules),
        ("resellers", resellers, most.resellers),
        ("api_keys", keys, most.api_keys),
    )
    for name, items, count_max in counted:
        if len(items) > count_max:
            items[count_max].problem("too_many", f"there are {len(items)} {name}, more than limits.{name}, {count_max}")


_STATUSES: Mapping[str, str] = {name: status for status, name in STATUS_NAMES.items()}


def assumptions(section: ValueReader) -> Mapping[str, object]:
    """Return the choices by id."""
    chosen: dict[str, object] = {}
    for id_, entry in section.entries():
        codes = {_STATUSES.get(name, name): code.integer(0) for name, code in entry.entries()}
        chosen[id_] = MappingProxyType(codes) if id_ == "payment-status-codes" else entry.text()
    _check_address(section["source-address"])
    return MappingProxyType(chosen)


def _check_address(entry: ValueReader) -> None:
    if not entry.is_given or entry.text() == "rotate":
        return
    try:
        ip_address(entry.text())
    except ValueError:
        entry.problem("bad_address", f"{entry.text()!r} must be an IP address, or rotate")


INTERRUPTED = "FP"
"""The product that staging reports as interrupted at all times (SPEC 7.3)."""


def network(section: ValueReader, products: Collection[str], environment: str) -> Mapping[str, NetworkTimeline]:
    """Return the network timeline of each listed product; in staging, `FP` has a timeline by default."""
    timelines: dict[str, NetworkTimeline] = {}
    if environment == "staging" and INTERRUPTED in products:
        timelines[INTERRUPTED] = ((timedelta(0), NetworkStatus.INTERRUPTION),)
    for code, entry in section.entries():
        entry.refuse_unknown("product", products, at_key=True)
        timelines[code] = _timeline(entry)
    return MappingProxyType(timelines)


def _timeline(entry: ValueReader) -> NetworkTimeline:
    if not entry.is_list:
        return ((timedelta(0), network_status(entry)),)
    latest = timedelta(0)
    timeline: list[tuple[timedelta, NetworkStatus]] = []
    for item in entry.items():
        at = item["at"].duration()
        if at < latest:
            item["at"].problem("timeline", f"{item['at'].text()} is before the item above; 'at' counts from the start")
        latest = max(latest, at)
        timeline.append((at, network_status(item["status"])))
    return tuple(timeline)


def network_status(entry: ValueReader) -> NetworkStatus:
    text = entry.text()
    return next((status for status in NetworkStatus if status == text), NetworkStatus.HEALTHY)
