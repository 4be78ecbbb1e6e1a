"""Lint of a sandbox's initial state: short secrets, foreign currencies, blocked addresses, network statuses that a
staging never reports (SPEC 7.3), and real delays under a manual clock."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from simulator.domain.model.draw import Spread
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.scenario import Limits
from simulator.http_client.targets import reason_to_refuse
from simulator.scenario.reading.nodes import ProblemReport
from simulator.scenario.reading.scenario_files import OWN_FILE
from simulator.scenario.reading.value_reader import ValueReader, secret_bytes
from simulator.scenario.reading.yaml_parser import load_object
from simulator.scenario.sections.limits import INTERRUPTED
from simulator.scenario.sections.product_forms import MYR
from simulator.scenario.sections.schedule_section import added_rules
from simulator.scenario.sections.scripted_answers import fault
from simulator.scenario.sections.timelines import branches
from simulator.scenario.sections.times import delay


def lint_network(root: ValueReader) -> None:
    """Report healthy statuses of the product that a staging always reports as interrupted."""
    if root["environment"].text("staging") != "staging":
        return
    planned, scheduled = root["network"][INTERRUPTED], [item["network"] for item in root["schedule"].items()]
    changes = [change["status"] for change in scheduled if change["product"].text() == INTERRUPTED]
    statuses = [item["status"] for item in planned.items()] if planned.is_list else [planned]
    for status in (*statuses, *changes):
        if status.text() == "Healthy":
            text = (
                f"staging always reports {INTERRUPTED} as interrupted; another status needs `environment: production`"
            )
            status.problem("always_interrupted", text)


def lint_adjustments(root: ValueReader) -> None:
    """Report the adjustments whose currency is foreign to the prices of their product."""
    currencies = {item["code"].text(): item["currency"].text(MYR) for item in root["catalog"]["products"].items()}
    for code, adjustment in _adjustments(root):
        currency, known = adjustment["currency"], currencies.get(code, MYR)
        if currency.is_given and currency.text() not in ("", known):
            text = f"prices of {code} are in {known}: an adjustment in {currency.text()} is added without conversion"
            hint = f"; write {known}" if currency.text().upper() == known else ""
            currency.problem("foreign_currency", text + hint)


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
        text = f"a secret of {len(found)} bytes is too short; use at least {SECRET_BYTES_MIN} (the service: 32)"
        secret.problem("short_secret", text)


def lint_targets(root: ValueReader) -> None:
    """Report the addresses that are never called."""
    for url in _urls(root):
        if url.text() and (reason := reason_to_refuse(url.text())):
            url.problem("never_called", f"nothing is sent to this address: {reason}")


def _urls(root: ValueReader) -> Iterator[ValueReader]:
    """Yield each target of callbacks, balance webhooks and catalog events."""
    for reseller in root["resellers"].items():
        yield reseller["callback"]["url"]
        yield reseller["balance_webhook"]["url"]
    yield root["webhooks"]["catalog"]["url"]
    for planned in root["schedule"].items():
        yield planned["settings"]["callback"]["url"]
        yield planned["webhook"]["url"]


NONE: Final = timedelta(0)
SHORT: Final = timedelta(seconds=5)
ALTHOUGH: Final = "of real time, although the clock is manual"


def lint_waits(root: ValueReader, limits: Limits) -> None:
    """Report the long waits of a scenario with a manual clock."""
    for item in _faults(root):
        lint_fault_waits(item, limits.integration_timeout)
    for _, inbox in root["inboxes"].entries():
        for reply in [*inbox["during"].items(), *(inbox.items() if inbox.is_list else inbox["replies"].items())]:
            _lint_reply(reply["delay"], limits.callback_timeout_manual)


def _faults(root: ValueReader) -> Iterator[ValueReader]:
    """Yield every fault rule: written and scheduled faults, and faults of magic accounts."""
    yield from root["faults"].items()
    for item in root["schedule"].items():
        yield from (rule for section, rule in added_rules(item) if section == "faults")
    for _, outcome in root["magic"]["outcomes"].entries():
        yield outcome["faults"]


def lint_fault_waits(item: ValueReader, timeout: timedelta | None) -> None:
    """Report the long waits of a fault under a manual clock."""
    for branch in branches(item["then"]):
        if not branch.then.is_valid:
            continue
        entry = branch.then["delay"]
        waited = _waited(fault(branch.then), timeout)
        if waited > SHORT:
            virtual = "[…]" if entry.is_list or entry.is_mapping else entry.text()
            text = f"each request waits {_up_to(entry)}{waited.total_seconds():g} s {ALTHOUGH}"
            entry.problem("real_wait", f"{text}; write {{ virtual: {virtual} }} to answer at once")


def _waited(then: FaultThen, timeout: timedelta | None) -> timedelta:
    """Return the longest wait of a fault."""
    if then.delay is None or then.is_delay_virtual:
        return NONE
    longest = then.delay.p99 if isinstance(then.delay, Spread) else then.delay[1]
    return longest if timeout is None else min(longest, timeout)


def _up_to(entry: ValueReader) -> str:
    return "up to " if entry.is_mapping else ""


def _lint_reply(entry: ValueReader, timeout: timedelta) -> None:
    waits = delay(entry) if entry.is_valid else NONE
    longest = waits.p99 if isinstance(waits, Spread) else waits
    if min(longest, timeout) >= SHORT:
        text = f"each message waits {_up_to(entry)}{min(longest, timeout).total_seconds():g} s {ALTHOUGH}"
        end = "; then the attempt fails, as it does at once with `disconnect: true`" if longest >= timeout else ""
        entry.problem("real_wait", f"{text}{end or '; write a shorter delay'}")


def real_waits(document: Mapping[str, Any], limits: Limits) -> list[str]:
    """Return a sentence about each long wait in the faults and inboxes of a document, for a manual clock."""
    report = ProblemReport()
    sections = {name: document[name] for name in ("faults", "schedule", "magic", "inboxes") if name in document}
    lint_waits(ValueReader.of(load_object(sections, bounds=OWN_FILE).root, report), limits)
    return [f"{problem.path}: {problem.message}" for problem in report.problems()]
