"""Refuses expectations of what can never happen: paths, methods, statuses, errors and types that there are not. They
would never be met, or always.

What the rules of the file script is possible: a fault's status, the error in its body, a bill rule's own error.
"""

import json
from collections.abc import Collection, Iterator, Mapping

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.contract.schemas import schema
from simulator.contract.statuses import statuses
from simulator.domain.model.bills import BillError
from simulator.domain.model.outcomes import BILLS_PATH
from simulator.domain.model.transactions import Reason
from simulator.domain.model.webhooks import BALANCE_ADDED, ReplayRefused
from simulator.scenario.lint.reach import may_have
from simulator.scenario.lint.values import METHOD, PATH, Kind, Values, values
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, shown
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.matchers import text_test
from simulator.scenario.sections.rules import listed_values, values_of

CATALOG_TYPES = tuple(
    f"{resource}.{change}"
    for resource in ("product", "option", "category", "group")
    for change in ("created", "updated", "deleted")
)
EVENT_TYPES = (BALANCE_ADDED, *CATALOG_TYPES)

WRONG_METHOD, UNKNOWN_PATH = "405", "404"
CLOSED = "0"  # the status of a connection that was closed without an answer
OTHER_METHODS = ("HEAD", "OPTIONS")
LISTED_MAX = 8

# Errors that one part of the service has; every other one may come from any endpoint.
_ERRORS_OF: Mapping[str, frozenset[str]] = {
    "/v2/topup": frozenset({*(reason.value for reason in Reason), "api_key_required"}),
    BILLS_PATH: frozenset(error.value for error in BillError),
    "/v2/balance-webhook/deliveries": frozenset(one.value for one in ReplayRefused),
    "/v2/transactions/": frozenset({"unknown_transaction"}),
    "/v2/token": frozenset({"invalid_credentials"}),
}
_ERRORS_OF_ALL = frozenset(
    {
        "integration_timeout", "ip_blocked", "ip_not_allowed", "nonce_service_unavailable", "sandbox_reset",
        "scripted_fault", "unexpected", "unknown_rule",
    }
)  # fmt: skip

# Parts of a document without any answers, which may be large.
_WITHOUT_ANSWERS = ("catalog", "resellers", "expect", "limits", "network", "assume")


def refuse_impossible(root: Reader) -> None:
    """Report what no call and no webhook can have, of all expectations of a document."""
    scripted: list[_Scripted] = []
    for item in root["expect"].items():
        if item["calls"].is_mapping and item["calls"].is_valid:
            scripted = scripted or [_Scripted(root)]
            _refuse_calls(item["calls"], scripted[0])
        if item["webhooks"].is_mapping:
            for value in values_of(item["webhooks"]["type"]):
                _refuse_unknown(value, EVENT_TYPES, "type of webhooks")
            _refuse_empty(item["webhooks"]["type"], EVENT_TYPES, "webhook has such a type")


class _Scripted:
    """The statuses and errors that rules of the document write into answers."""

    def __init__(self, root: Reader) -> None:
        self.statuses: set[str] = set()
        self.errors: set[str] = set()
        for key, part in root.entries():
            if key not in _WITHOUT_ANSWERS and part.node is not None:
                for name, node in _members(part.node):
                    self._add(name, node.value)

    def _add(self, name: str, value: object) -> None:
        if name == "status" and isinstance(value, int):
            self.statuses.add(str(value))
        elif name == "error" and isinstance(value, str):
            self.errors.add(value)
        elif name == "body" and isinstance(value, str):
            self.errors |= _error_in(value)


def _error_in(body: str) -> set[str]:
    """The error in a body that is written as text."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return set()
    error = found.get("error") if isinstance(found, dict) else None
    return {error} if isinstance(error, str) else set()


def _members(node: Node) -> Iterator[tuple[str, Node]]:
    """Every member of every mapping in a value."""
    waiting = [node]
    while waiting:
        value = waiting.pop().value
        if isinstance(value, dict):
            yield from value.items()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _refuse_calls(calls: Reader, scripted: _Scripted) -> None:
    if not _refuse_methods(calls) or not _refuse_paths(calls):
        return
    path, method = _written(calls["path"], PATH), _written(calls["method"], METHOD)
    matched = [one for one in endpoints() if path is None or may_have(one, path)]
    served = [one for one in matched if method is None or method.test(one.method)]
    is_unserved = _is_expected(calls["status"], WRONG_METHOD) or _is_expected(calls["status"], UNKNOWN_PATH)
    if not served and not is_unserved and matched and not _is_other(calls["method"]):
        methods = ", ".join(sorted({one.method for one in matched}))
        text = f"no call can be this: the path takes {methods}; the answer to others has status: {WRONG_METHOD}"
        calls["method"].problem("impossible", text)
        return
    possible = served or matched or endpoints()
    _refuse_statuses(calls["status"], possible, scripted)
    _refuse_errors(calls["error"], possible, scripted)


def _written(entry: Reader, kind: Kind) -> Values | None:
    return values(kind, entry.node.plain()) if entry.node is not None else None


def _is_expected(status: Reader, wanted: str) -> bool:
    """Whether the status is written and may be this one."""
    return any(value.text() == wanted for value in listed_values(status))


def _is_other(method: Reader) -> bool:
    return any(value.text().upper() in OTHER_METHODS for value in listed_values(method))


def _refuse_methods(calls: Reader) -> bool:
    """Whether all methods that are named exist."""
    methods = sorted({one.method for one in endpoints()})
    unknown = [one for one in values_of(calls["method"]) if one.text().upper() not in (*methods, *OTHER_METHODS, "")]
    for value in unknown:
        hint = suggestion(value.text().upper(), methods) or f"; its methods are {', '.join(methods)}"
        value.problem("unknown_method", f"the service has no method {shown(value.text())}{hint}")
    return not unknown


def _refuse_paths(calls: Reader) -> bool:
    """Whether every path that is named, and what is asked of the path, is that of an endpoint."""
    entry, is_valid = calls["path"], True
    if not entry.is_given or entry.node is None or _is_expected(calls["status"], UNKNOWN_PATH):
        return True
    paths = list(dict.fromkeys(one.path for one in endpoints()))
    for value in values_of(entry):
        written = values(PATH, value.text())
        if value.is_given and not any(may_have(one, written) for one in endpoints()):
            value.problem(
                "unknown_path", f"the service has no path {shown(value.text())}{suggestion(value.text(), paths)}"
            )
            is_valid = False
    whole = values(PATH, entry.node.plain())
    if is_valid and not any(may_have(one, whole) for one in endpoints()):
        entry.problem("unknown_path", "the service has no path that this matches")
        return False
    return is_valid


def _refuse_statuses(entry: Reader, possible: Collection[Endpoint], scripted: _Scripted) -> None:
    documented = {status for one in possible for status in statuses()[one]}
    known = {*documented, *scripted.statuses, CLOSED}
    for value in values_of(entry):
        text = value.text()
        if value.is_given and text not in known:
            listed = ", ".join(sorted(documented | scripted.statuses))
            whose = "the service" if len(possible) != 1 else str(next(iter(possible)))
            value.problem("impossible", f"{whose} has no answer with status {shown(text)}, only {listed}")
    _refuse_empty(entry, known, "such call has such a status")


def _refuse_errors(entry: Reader, possible: Collection[Endpoint], scripted: _Scripted) -> None:
    of_one = frozenset().union(*_ERRORS_OF.values())
    shared = {*schema("auth-error")["properties"]["error"]["enum"], *_ERRORS_OF_ALL, *scripted.errors, ""}
    of_these = {code for prefix, codes in _ERRORS_OF.items() for code in codes if _is_of(prefix, possible)}
    for value in values_of(entry):
        text = value.text()
        if not value.is_given or text in shared or text in of_these:
            continue
        if text in of_one:
            where = sorted(prefix for prefix, codes in _ERRORS_OF.items() if text in codes)
            value.problem("impossible", f"{shown(text)} is an error of {' and '.join(where)}, not of this call")
        else:
            _refuse_unknown(value, sorted(shared | of_these), "error")
    _refuse_empty(entry, shared | of_these, "such call has such an error")


def _is_of(prefix: str, possible: Collection[Endpoint]) -> bool:
    return any(one.path.startswith(prefix) for one in possible)


def _refuse_empty(entry: Reader, known: Collection[str], what: str) -> None:
    """Report a matcher, such as a prefix or a minimum, that none of the known values passes."""
    if entry.node is None or not entry.is_valid:
        return
    admits = text_test(entry.node.plain())
    if not any(map(admits, known)):
        entry.problem("impossible", f"no {what}")


def _refuse_unknown(value: Reader, known: Collection[str], what: str) -> None:
    text = value.text()
    if not value.is_given or text in known:
        return
    listed = f"; there are {', '.join(known)}" if len(known) <= 2 * LISTED_MAX else ""
    value.problem("unknown_value", f"there is no {what} {shown(text)}{suggestion(text, known) or listed}")
