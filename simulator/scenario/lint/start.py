"""Lint of a sandbox's initial state: short secrets, foreign currencies, blocked addresses, a schedule that changes
nothing, network statuses that the staging never reports (SPEC 7.3)."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.http_client.targets import reason_to_refuse
from simulator.scenario.reading.reader import Reader, secret_bytes
from simulator.scenario.sections.limits import INTERRUPTED
from simulator.scenario.sections.pricing import MYR
from simulator.scenario.sections.rules import RULE_READERS
from simulator.scenario.sections.schedule import added_rules

Values = Mapping[str, Any]

# The identifying member of each kind of item.
SUBJECTS: Mapping[str, str] = {"settings": "reseller", "network": "product", "api_key": "key"}


def lint_schedule(root: Reader, source: str) -> None:
    """Report the items of `source` that change nothing, and rules that are removed more often than they exist."""
    items = root["schedule"].items()
    for kind, subject in SUBJECTS.items():
        wanted = [item[kind] for item in items if item[kind].is_given and item[kind].is_valid]
        for entry in [item[kind] for item in items if item.is_valid and item[kind].is_given]:
            others = [other for other in wanted if other[subject].text() == entry[subject].text()]
            if entry.position.source == source:
                _lint_values(entry, others, _start(root, kind, entry), subject)
    _lint_removals(root, items, source)


def _lint_values(entry: Reader, others: list[Reader], start: Values, subject: str) -> None:
    """Report values that equal the initial values, and that no other item changes."""
    for key, value in entry.entries():
        if key in (subject, "reseller") or key not in start or value.node is None:
            continue
        is_changed = any(other[key].is_given and other.path != entry.path for other in others)
        if value.node.plain() == start[key] and not is_changed:
            value.problem("no_change", f"{key!r} is so from the start, and nothing changes it", at_key=True)


def _start(root: Reader, kind: str, entry: Reader) -> Values:
    """Return the initial values of the item's subject by key, defaults included."""
    if kind == "network":
        found = root["network"][entry["product"].text()]
        return {} if found.is_list else {"status": found.text("Healthy")}
    resellers = root["resellers"].items()
    reseller = next((one for one in resellers if one["code"].text() == entry["reseller"].text()), None)
    if reseller is None:
        return {}
    if kind == "settings":
        return {"require_api_key_for_topup": False, "ip_allowlist": []} | _plain(reseller["settings"])
    key = next((one for one in reseller["api_keys"].items() if one["key"].text() == entry["key"].text()), None)
    return {"state": "active"} | _plain(key) if key is not None else {}


def _plain(entry: Reader) -> dict[str, Any]:
    return {key: one.node.plain() for key, one in entry.entries() if one.node is not None}


def _lint_removals(root: Reader, items: list[Reader], source: str) -> None:
    """Report surplus removals. A rule exists once at the start, and once more whenever the schedule adds it."""
    for item in items:
        removed = item["rule"]["remove"]
        label = removed.text()
        same = [other for other in items if label and other["rule"]["remove"].text() == label]
        if not same or same[-1].path != item.path or removed.position.source != source:
            continue
        times = sum(rule[key].text() == label for rule in _rules(root, items) for key in ("name", "id"))
        if len(same) > max(1, times):  # a rule without a name and an id is identified by its place
            text = f"rule {label!r} is removed {len(same)} times, more often than it is there"
            removed.problem("no_change", text)


def _rules(root: Reader, items: list[Reader]) -> Iterator[Reader]:
    for section in RULE_READERS:
        yield from root[section].items()
    yield from (rule for item in items for _, rule in added_rules(item))


def lint_adjustments(root: Reader, source: str) -> None:
    """Report the adjustments of `source` whose currency is foreign to the prices of their product."""
    currencies = {item["code"].text(): item["currency"].text(MYR) for item in root["catalog"]["products"].items()}
    for code, adjustment in _adjustments(root):
        currency, known = adjustment["currency"], currencies.get(code, MYR)
        if currency.is_given and currency.text() not in ("", known) and currency.position.source == source:
            text = f"prices of {code} are in {known}: an adjustment in {currency.text()} is added without conversion"
            currency.problem("foreign_currency", text)


def _adjustments(root: Reader) -> Iterator[tuple[str, Reader]]:
    """Yield the code of each product with its price adjustment."""
    for item in root["catalog"]["products"].items():
        yield item["code"].text(), item["price_adjustment"]
    for reseller in root["resellers"].items():
        for code, overlay in reseller["catalog"].entries():
            yield code, overlay["price_adjustment"]
    for planned in root["schedule"].items():
        yield planned["product"]["code"].text(), planned["product"]["set"]["price_adjustment"]


def lint_network(root: Reader, source: str) -> None:
    """Report healthy statuses of `source` for the product that a staging always reports as interrupted."""
    if root["environment"].text("staging") != "staging":
        return
    for status in _statuses(root):
        if status.text() == "Healthy" and status.position.source == source:
            text = f"staging reports an interruption of {INTERRUPTED} at all times; `environment: production` need not"
            status.problem("always_interrupted", text)
    for item in root["network"][INTERRUPTED].items()[:1]:
        if item["at"].duration() and item["at"].position.source == source:
            text = f"{INTERRUPTED} is healthy before this, but staging reports an interruption at all times"
            item["at"].problem("always_interrupted", f"{text}; begin at 0s")


def _statuses(root: Reader) -> Iterator[Reader]:
    planned = root["network"][INTERRUPTED]
    if planned.is_list:
        yield from (item["status"] for item in planned.items())
    else:
        yield planned
    for item in root["schedule"].items():
        if item["network"]["product"].text() == INTERRUPTED:
            yield item["network"]["status"]


SECRET_BYTES_MIN = 16


def lint_secrets(root: Reader) -> None:
    """Report secrets of keys that are shorter than the service's."""
    for item in root["resellers"].items():
        for key in item["api_keys"].items():
            _lint_secret(key["secret"])
    for item in root["schedule"].items():
        _lint_secret(item["api_key"]["secret"])


def _lint_secret(secret: Reader) -> None:
    try:
        found = secret_bytes(secret.text())
    except ValueError:
        return
    if secret.text() and len(found) < SECRET_BYTES_MIN:
        text = f"a secret of {len(found)} bytes is too short; the service's have 32, use {SECRET_BYTES_MIN} at least"
        secret.problem("short_secret", text)


def lint_targets(root: Reader, source: str) -> None:
    """Report the addresses of `source` that are never called."""
    for url in _urls(root):
        if url.text() and url.position.source == source and (reason := reason_to_refuse(url.text())):
            url.problem("never_called", f"nothing is sent there: {reason}")


def _urls(root: Reader) -> Iterator[Reader]:
    """Yield each target of callbacks, balance webhooks and catalog events."""
    for reseller in root["resellers"].items():
        yield reseller["callback"]["url"]
        yield reseller["balance_webhook"]["url"]
    yield root["webhooks"]["catalog"]["url"]
    for planned in root["schedule"].items():
        yield planned["settings"]["callback"]["url"]
        yield planned["webhook"]["url"]
