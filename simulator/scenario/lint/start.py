"""Lint of a sandbox's initial state: short secrets, foreign currencies, blocked addresses, a schedule that changes
nothing, and network statuses that a staging never reports (SPEC 7.3)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.http_client.targets import reason_to_refuse
from simulator.scenario.reading.value_reader import ValueReader, secret_bytes
from simulator.scenario.sections.limits import INTERRUPTED
from simulator.scenario.sections.product_forms import MYR

Values = Mapping[str, Any]

# The identifying member of each kind of item.
SUBJECTS: Mapping[str, str] = {"settings": "reseller", "network": "product", "api_key": "key"}


def lint_schedule(root: ValueReader) -> None:
    """Report values in the schedule that equal the initial values, and that no other item changes."""
    for kind, subject in SUBJECTS.items():
        entries = [item[kind] for item in root["schedule"].items() if item[kind].is_given and item[kind].is_valid]
        changes = Counter((entry[subject].text(), key) for entry in entries for key, _ in entry.entries())
        for entry in entries:
            start = _start(root, kind, entry)
            for key, value in entry.entries():
                is_changed = changes[entry[subject].text(), key] > 1
                if key in start and key not in (subject, "reseller") and value.plain == start[key] and not is_changed:
                    text = f"{key!r} is so from the start, and nothing changes it"
                    value.problem("no_change", text, at_key=True)


def _start(root: ValueReader, kind: str, entry: ValueReader) -> Values:
    """Return the initial values of the item's subject by key, defaults included."""
    if kind == "network":
        found = root["network"][entry["product"].text()]
        return {} if found.is_list else {"status": found.text("Healthy")}
    resellers = root["resellers"].items()
    reseller = next((one for one in resellers if one["code"].text() == entry["reseller"].text()), None)
    if reseller is None:
        return {}
    if kind == "settings":
        written = reseller["settings"].plain if reseller["settings"].is_mapping else {}
        return {"require_api_key_for_topup": False, "ip_allowlist": [], **written}
    key = next((one for one in reseller["api_keys"].items() if one["key"].text() == entry["key"].text()), None)
    return {"state": "active", **key.plain} if key is not None else {}


def lint_network(root: ValueReader) -> None:
    """Report healthy statuses of the product that a staging always reports as interrupted."""
    if root["environment"].text("staging") != "staging":
        return
    planned, scheduled = root["network"][INTERRUPTED], [item["network"] for item in root["schedule"].items()]
    changes = [one["status"] for one in scheduled if one["product"].text() == INTERRUPTED]
    statuses = [item["status"] for item in planned.items()] if planned.is_list else [planned]
    for status in (*statuses, *changes):
        if status.text() == "Healthy":
            text = f"staging reports an interruption of {INTERRUPTED} at all times; `environment: production` need not"
            status.problem("always_interrupted", text)


FACTOR_MAX = 2
"""The largest usual factor of a price; a larger one is probably a number of percent."""


def lint_adjustments(root: ValueReader) -> None:
    """Report the adjustments whose currency is foreign to the prices of their product, or whose factor is probably a
    number of percent."""
    currencies = {item["code"].text(): item["currency"].text(MYR) for item in root["catalog"]["products"].items()}
    for code, adjustment in _adjustments(root):
        currency, known = adjustment["currency"], currencies.get(code, MYR)
        if adjustment["type"].text() == "percentage":
            _lint_factor(adjustment["value"])
        if currency.is_given and currency.text() not in ("", known):
            text = f"prices of {code} are in {known}: an adjustment in {currency.text()} is added without conversion"
            hint = f"; write {known}" if currency.text().upper() == known else ""
            currency.problem("foreign_currency", text + hint)


def _lint_factor(factor: ValueReader) -> None:
    value = factor.amount()
    if value > FACTOR_MAX:
        text = f"a percentage is a factor, which multiplies the price by {value}; 1.03 adds 3 %"
        factor.problem("odd_factor", text)


def lint_codes(root: ValueReader) -> None:
    """Report the resellers whose code differs from another one's only by capital letters."""
    seen: dict[str, str] = {}
    for item in root["resellers"].items():
        code = item["code"]
        other = seen.setdefault(code.text().casefold(), code.text())
        if other != code.text():
            text = f"{code.text()!r} is another reseller than {other!r}, which differs in capitals"
            code.problem("similar_code", text)


def _adjustments(root: ValueReader) -> Iterator[tuple[str, ValueReader]]:
    """Yield the code of each product with its price adjustment."""
    for item in root["catalog"]["products"].items():
        yield item["code"].text(), item["price_adjustment"]
    for reseller in root["resellers"].items():
        for code, overlay in reseller["catalog"].entries():
            yield code, overlay["price_adjustment"]
    for planned in root["schedule"].items():
        yield planned["product"]["code"].text(), planned["product"]["set"]["price_adjustment"]


SECRET_BYTES_MIN = 16


def lint_secrets(root: ValueReader) -> None:
    """Report secrets of keys that are shorter than the service's."""
    for item in root["resellers"].items():
        for key in item["api_keys"].items():
            _lint_secret(key["secret"])
    for item in root["schedule"].items():
        _lint_secret(item["api_key"]["secret"])


def _lint_secret(secret: ValueReader) -> None:
    try:
        found = secret_bytes(secret.text())
    except ValueError:
        return
    if secret.text() and len(found) < SECRET_BYTES_MIN:
        text = f"a secret of {len(found)} bytes is too short; the service's have 32, use {SECRET_BYTES_MIN} at least"
        secret.problem("short_secret", text)


def lint_targets(root: ValueReader) -> None:
    """Report the addresses that are never called."""
    for url in _urls(root):
        if url.text() and (reason := reason_to_refuse(url.text())):
            url.problem("never_called", f"nothing is sent there: {reason}")


def _urls(root: ValueReader) -> Iterator[ValueReader]:
    """Yield each target of callbacks, balance webhooks and catalog events."""
    for reseller in root["resellers"].items():
        yield reseller["callback"]["url"]
        yield reseller["balance_webhook"]["url"]
    yield root["webhooks"]["catalog"]["url"]
    for planned in root["schedule"].items():
        yield planned["settings"]["callback"]["url"]
        yield planned["webhook"]["url"]
