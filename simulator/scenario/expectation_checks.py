"""Rejects expectations of methods, paths, statuses, codes and types that neither the service nor a rule has."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from simulator.contract.endpoints import statuses
from simulator.domain.model.transactions import STATUS_CODES, Status
from simulator.domain.model.webhooks import BALANCE_ADDED
from simulator.scenario.lint.conditions import lint_conditions, subject_of
from simulator.scenario.lint.rule_matches import is_path_of_service, unknown_methods, unknown_paths
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader, text_of
from simulator.scenario.sections.matchers import value_test
from simulator.scenario.sections.rule_sections import listed_values, values_of
from simulator.scenario.sections.timelines import STATUSES
from simulator.wire.payment_answers import STATUS_NAMES

_CHANGES = ("created", "updated", "deleted")
_CATALOG_EVENTS = (f"{name}.{change}" for name in ("product", "option", "category", "group") for change in _CHANGES)

# Matcher members with a fixed set of values.
_KNOWN_VALUES: Mapping[tuple[str, str], Collection[str]] = {
    ("payments", "status"): tuple(STATUS_NAMES.values()),
    ("callbacks", "status"): tuple(name for name, status in STATUSES.items() if status is not Status.ACCEPTED),
    ("callbacks", "state"): ("pending", "delivered", "failed", "dropped"),
    ("webhooks", "state"): ("pending", "success", "failed"),
    ("webhooks", "type"): (BALANCE_ADDED, *_CATALOG_EVENTS),
}

UNKNOWN_PATH = "404"
CLOSED = "0"  # the status of a connection that was closed without an answer
OTHER_METHODS = ("HEAD", "OPTIONS", "")

# Parts of a document without any answers, which may be large.
_WITHOUT_ANSWERS = ("catalog", "resellers", "expect", "limits", "network", "assume")


def refuse_impossible(root: ValueReader) -> None:
    """Report impossible values in all expectations of calls, payments, callbacks and webhooks of a document."""
    items = [item for item in root["expect"].items() if item.is_valid]
    scripted = list(_mappings(root)) if items else []
    assumed = root["assume"]["payment-status-codes"]
    codes = {str(assumed[name].integer(STATUS_CODES[status])) for status, name in STATUS_NAMES.items()}
    codes |= _named(scripted, "statusCode")
    for item in items:
        if item["calls"].is_mapping:
            _refuse_calls(item["calls"], scripted)
        for kind in ("payments", "callbacks"):
            _refuse(item[kind]["statusCode"], codes, "impossible", f"statusCode of {kind}")
        for (kind, member), values in _KNOWN_VALUES.items():
            _refuse(item[kind][member], values, "unknown_value", f"{member} of {kind}")
        for kind in ("calls", "payments", "callbacks", "webhooks"):
            if item[kind].is_mapping and item.is_valid:
                lint_conditions(subject_of(item[kind]))


def _refuse_calls(calls: ValueReader, scripted: list[Mapping[str, Any]]) -> None:
    path, status = calls["path"], calls["status"]
    unknown_methods(values_of(calls["method"]), OTHER_METHODS)
    is_known = UNKNOWN_PATH not in [value.text() for value in listed_values(status)]
    if path.is_given and is_known and not unknown_paths(values_of(path)) and not is_path_of_service(path.plain):
        path.problem("unknown_path", "this matches no path of the service")
    documented = {one for each in statuses().values() for one in each}
    written = filter(str.isdecimal, _named(scripted, "status"))  # without the statuses of payments
    _refuse(status, {CLOSED, *documented, *written}, "impossible", "answer with status")


def _mappings(root: ValueReader) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in the rules of a document, which may put a status or a code into an answer."""
    waiting = [part.plain for key, part in root.entries() if key not in _WITHOUT_ANSWERS]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value


def _named(scripted: list[Mapping[str, Any]], name: str) -> set[str]:
    return {text_of(rule[name]) for rule in scripted if isinstance(rule.get(name), str | int)}


def _refuse(entry: ValueReader, known: Collection[str], code: str, what: str) -> None:
    """Report unknown values, and a matcher, such as a prefix or a minimum, that no known value passes."""
    if not entry.is_given or not entry.is_valid:
        return
    for value in values_of(entry):
        text = value.text()
        if value.is_given and text not in known:
            listed = f"; there are {', '.join(sorted(known))}"
            hint = _range_of(text) or suggestion(text, known) or listed
            value.problem(code, f"there is no {what} {shown(text)}{hint}")
    if entry.is_valid and not any(map(value_test(entry.plain), known)):
        entry.problem("impossible", f"there is no such {what}")


def _range_of(text: str) -> str:
    """Return a hint how to write 4xx."""
    first = text[:1]
    return f"; write {{ min: {first}00, max: {first}99 }}" if re.fullmatch("[1-5]xx", text, re.IGNORECASE) else ""
