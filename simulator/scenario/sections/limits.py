"""Clock and limits of a scenario, network status of products, and choices where the specification is silent."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from ipaddress import ip_address
from types import MappingProxyType

from simulator.domain.model.callbacks import RetryPolicy
from simulator.domain.model.instants import sandbox_time
from simulator.domain.model.network import NetworkStatus, NetworkTimeline
from simulator.domain.model.scenario import ClockStart, Limits
from simulator.scenario.reading import reader
from simulator.scenario.reading.reader import Reader
from simulator.wire.payments import STATUS_NAMES

# `null` as a tolerance: larger than any difference of valid times.
ANY_TIME = timedelta(days=365_000)

# The default maximum of any request (SPEC 8).
INTEGRATION_TIMEOUT = Limits().integration_timeout or timedelta()

LIFETIME_MAX = timedelta(days=3650)


def clock(section: Reader) -> ClockStart:
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
        speed = float(rate.amount(reader.ONE))
        if mode == "xN" and not rate.is_given:
            item.problem("missing_key", "mode xN needs 'rate' beside it, or a number such as x60")
        if mode != "xN" and rate.is_given:
            rate.problem("misplaced", f"a {mode} clock has no rate; the mode xN has", at_key=True)
    return ClockStart(
        mode=mode,
        rate=speed,
        start=section["start"].parsed(sandbox_time, "bad_time"),
        skew=section["skew"].duration(),
        signature=section["signature"].text("wall"),
    )


def _rate(item: Reader, text: str) -> float:
    rate = float(text[1:]) if text[1:].replace(".", "", 1).isdecimal() else 0.0
    if not 0.01 <= rate <= 100_000:
        item.problem("bad_clock", f"{text!r}: a clock runs from x0.01 to x100000")
    return rate


def limits(section: Reader) -> Limits:
    """Return the limits; absent ones keep their defaults."""
    usual = Limits()
    tolerance, integration = section["timestamp_tolerance"], section["integration_timeout"]
    requests = section["requests_per_interval"]
    return Limits(
        requests_per_interval=None if requests.is_null else requests.integer(usual.requests_per_interval or 0),
        rate_limit_interval=section["rate_limit_interval"].duration(usual.rate_limit_interval),
        rate_limit_block=section["rate_limit_block"].duration(usual.rate_limit_block),
        nonce_window=section["nonce_window"].duration(usual.nonce_window),
        nonces=section["nonces"].integer(usual.nonces),
        timestamp_tolerance=ANY_TIME if tolerance.is_null else tolerance.duration(usual.timestamp_tolerance),
        token_lifetime=_lifetime(section["token_lifetime"], usual.token_lifetime),
        refresh_token_lifetime=_lifetime(section["refresh_token_lifetime"], usual.refresh_token_lifetime),
        integration_timeout=None if integration.is_null else integration.duration(INTEGRATION_TIMEOUT),
        settings_delay=section["settings_delay"].duration(usual.settings_delay),
        callback_timeout=section["callback_timeout"].duration(usual.callback_timeout),
        callback_timeout_manual=section["callback_timeout_manual"].duration(usual.callback_timeout_manual),
        callback_retry=RetryPolicy(
            section["callback_retries"].integer(usual.callback_retry.retries),
            section["callback_retry_after"].duration(usual.callback_retry.after),
        ),
        callbacks=section["callbacks"].integer(usual.callbacks),
        callbacks_bytes=section["callbacks_bytes"].integer(usual.callbacks_bytes),
        deliveries=section["deliveries"].integer(usual.deliveries),
        deliveries_bytes=section["deliveries_bytes"].integer(usual.deliveries_bytes),
        notifications=section["notifications"].integer(usual.notifications),
        journal=section["journal"].integer(usual.journal),
        journal_bytes=section["journal_bytes"].integer(usual.journal_bytes),
        tape=section["tape"].integer(usual.tape),
        tape_bytes=section["tape_bytes"].integer(usual.tape_bytes),
        inbox=section["inbox"].integer(usual.inbox),
        inbox_bytes=section["inbox_bytes"].integer(usual.inbox_bytes),
        inboxes=section["inboxes"].integer(usual.inboxes),
        inboxes_bytes=section["inboxes_bytes"].integer(usual.inboxes_bytes),
        rules=section["rules"].integer(usual.rules),
        resellers=section["resellers"].integer(usual.resellers),
        api_keys=section["api_keys"].integer(usual.api_keys),
    )


def _lifetime(item: Reader, usual: timedelta) -> timedelta:
    lifetime = item.duration(usual)
    if not timedelta(seconds=1) <= lifetime <= LIFETIME_MAX:
        item.problem("bad_duration", f"a token lives from 1 second to {LIFETIME_MAX.days} days")
    return lifetime


def refuse_too_many(root: Reader, rules: list[Reader], most: Limits) -> None:
    """Report the first rule, reseller or API key above its limit."""
    resellers = root["resellers"].items()
    keys = [key for one in resellers for key in one["api_keys"].items()]
    counted = (
        ("rules", rules, most.rules),
        ("resellers", resellers, most.resellers),
        ("api_keys", keys, most.api_keys),
    )
    for name, items, count_max in counted:
        if len(items) > count_max:
            items[count_max].problem("too_many", f"there are {len(items)} {name}, more than limits.{name}, {count_max}")


_STATUSES: Mapping[str, str] = {name: status for status, name in STATUS_NAMES.items()}


def assumptions(section: Reader) -> Mapping[str, object]:
    """Return the choices by id."""
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


INTERRUPTED = "FP"
"""The product that staging reports as interrupted at all times (SPEC 7.3)."""


def network(section: Reader, products: Collection[str], environment: str) -> Mapping[str, NetworkTimeline]:
    """Return the network timeline of each listed product; in staging, `FP` has a timeline by default."""
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
    """Return a network status."""
    text = entry.text()
    return next((status for status in NetworkStatus if status == text), NetworkStatus.HEALTHY)
