"""Rejects expectations of methods, paths, statuses, codes, errors and types that neither the service nor a rule has."""

import json
from collections.abc import Collection, Iterator, Mapping

from simulator.contract.endpoints import statuses
from simulator.contract.schemas import schema
from simulator.domain.model.bills import BillError
from simulator.domain.model.transactions import STATUS_CODES, Reason
from simulator.domain.model.webhooks import BALANCE_ADDED, ReplayRefused
from simulator.scenario.lint.conditions import conditions_of
from simulator.scenario.lint.matchers import lint_matchers
from simulator.scenario.lint.reach import reach
from simulator.scenario.lint.requests import unknown_methods, unknown_paths
from simulator.scenario.lint.values import PATH, values
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, shown
from simulator.scenario.reading.reader import Reader, text_of
from simulator.scenario.sections.matchers import text_test
from simulator.scenario.sections.rules import listed_values, values_of
from simulator.wire.payments import STATUS_NAMES

_CHANGES = ("created", "updated", "deleted")
EVENT_TYPES = (
    BALANCE_ADDED,
    *(f"{name}.{change}" for name in ("product", "option", "category", "group") for change in _CHANGES),
)
UNKNOWN_PATH = "404"
CLOSED = "0"  # the status of a connection that was closed without an answer
OTHER_METHODS = ("HEAD", "OPTIONS", "")
LISTED_MAX = 24
_ERRORS = frozenset(
    {
        "", "api_key_required", "integration_timeout", "invalid_credentials", "ip_blocked", "ip_not_allowed",
        "nonce_service_unavailable", "sandbox_reset", "scripted_fault", "unexpected", "unknown_rule",
        "unknown_transaction", *(one.value for kind in (Reason, BillError, ReplayRefused) for one in kind),
    }
)  # fmt: skip

# Parts of a document without any answers, which may be large.
_WITHOUT_ANSWERS = ("catalog", "resellers", "expect", "limits", "network", "assume")


def refuse_impossible(root: Reader) -> None:
    """Report impossible values in all expectations of calls, payments, callbacks and webhooks of a document."""
    items = [item for item in root["expect"].items() if item.is_valid]
    scripted = list(_scripted(root)) if items else []
    assumed = root["assume"]["payment-status-codes"]
    codes = {str(assumed[name].integer(STATUS_CODES[status])) for status, name in STATUS_NAMES.items()}
    codes |= _named(scripted, "statusCode")
    for item in items:
        if item["calls"].is_mapping:
            _refuse_calls(item["calls"], scripted)
        for kind in ("payments", "callbacks"):
            _refuse(item[kind]["statusCode"], codes, "impossible", f"one of the {kind} with statusCode")
        _refuse(item["webhooks"]["type"], EVENT_TYPES, "unknown_value", "type of webhooks")
        for kind in ("calls", "payments", "callbacks", "webhooks"):
            if item[kind].is_mapping and item.is_valid:
                lint_matchers(conditions_of(item[kind]))


def _refuse_calls(calls: Reader, scripted: list[Mapping[str, Node]]) -> None:
    path, status = calls["path"], calls["status"]
    unknown_methods(values_of(calls["method"]), OTHER_METHODS)
    if path.node is not None and all(value.text() != UNKNOWN_PATH for value in listed_values(status)):
        named = [value for value in values_of(path) if value.is_given]
        if not unknown_paths(named) and not reach(path=values(PATH, path.node.plain())).possible:
            path.problem("unknown_path", "the service has no path that this matches")
    documented = {one for each in statuses().values() for one in each}
    _refuse(status, {CLOSED, *documented, *_named(scripted, "status")}, "impossible", "answer with status")
    errors = {*schema("auth-error")["properties"]["error"]["enum"], *_ERRORS, *_named(scripted, "error")}
    errors |= {one for text in _named(scripted, "body") for one in _error_in(text)}
    _refuse(calls["error"], errors, "unknown_value", "error")


def _scripted(root: Reader) -> Iterator[Mapping[str, Node]]:
    """Yield every mapping in the rules of a document, which may put a status, a code or an error into an answer."""
    waiting = [part.node for key, part in root.entries() if key not in _WITHOUT_ANSWERS and part.node is not None]
    while waiting:
        value = waiting.pop().value
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _named(scripted: list[Mapping[str, Node]], name: str) -> set[str]:
    return {text_of(one[name].value) for one in scripted if name in one and isinstance(one[name].value, str | int)}


def _error_in(body: str) -> set[str]:
    """Return the error in a body that is written as text."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return set()
    error = found.get("error") if isinstance(found, dict) else None
    return {error} if isinstance(error, str) else set()


def _refuse(entry: Reader, known: Collection[str], code: str, what: str) -> None:
    """Report unknown values, and a matcher, such as a prefix or a minimum, that no known value passes."""
    if entry.node is None or not entry.is_valid:
        return
    for value in values_of(entry):
        text = value.text()
        if value.is_given and text not in known:
            listed = f"; there are {', '.join(sorted(filter(None, known)))}" if len(known) <= LISTED_MAX else ""
            value.problem(code, f"there is no {what} {shown(text)}{suggestion(text, known) or listed}")
    if entry.is_valid and not any(map(text_test(entry.node.plain()), known)):
        entry.problem("impossible", f"there is no such {what}")
