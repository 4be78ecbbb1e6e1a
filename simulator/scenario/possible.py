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
from simulator.domain.model.transactions import STATUS_CODES, Reason
from simulator.domain.model.webhooks import BALANCE_ADDED, ReplayRefused
from simulator.scenario.lint.conditions import conditions_of
from simulator.scenario.lint.matchers import lint_matchers
from simulator.scenario.lint.reach import may_have, reach
from simulator.scenario.lint.requests import lint_per, unknown_methods, unknown_paths
from simulator.scenario.lint.values import METHOD, PATH, Kind, Values, values
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, shown
from simulator.scenario.reading.reader import Reader, text_of
from simulator.scenario.sections.matchers import text_test
from simulator.scenario.sections.outcomes import STATUSES
from simulator.scenario.sections.rules import listed_values, values_of
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

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
PAYS = "POST /v2/topup"

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
    items = [item for item in root["expect"].items() if item.is_valid]
    scripted = _Scripted(root) if items else None
    for item in items:
        assert scripted is not None, "made above"
        if item["calls"].is_mapping:
            _refuse_calls(item["calls"], item["per"], scripted)
        for kind in ("payments", "callbacks"):
            if item[kind].is_mapping:
                _refuse_codes(item[kind], kind, scripted)
        if item["webhooks"].is_mapping:
            for value in values_of(item["webhooks"]["type"]):
                _refuse_unknown(value, EVENT_TYPES, "type of webhooks")
            _refuse_empty(item["webhooks"]["type"], EVENT_TYPES, "webhook has such a type")
        for kind in ("calls", "payments", "callbacks", "webhooks"):
            if item[kind].is_mapping and item.is_valid:
                lint_matchers(conditions_of(item[kind]))


class _Scripted:
    """The statuses and errors that rules of the document write into answers, and the codes of payments by status."""

    def __init__(self, root: Reader) -> None:
        self.statuses: set[str] = set()
        self.errors: set[str] = set()
        assumed = root["assume"]["payment-status-codes"]
        self.codes = {
            (status, str(assumed[name].integer(STATUS_CODES[status]))) for status, name in STATUS_NAMES.items()
        }
        for key, part in root.entries():
            if key not in _WITHOUT_ANSWERS and part.node is not None:
                for members in _mappings(part.node):
                    self._add_code(members)
                    for name, node in members.items():
                        self._add(name, node.value)

    def _add_code(self, members: Mapping[str, Node]) -> None:
        """The code of a step of a timeline."""
        if "status" in members and "statusCode" in members:
            status = STATUSES.get(str(members["status"].value))
            self.codes |= {(status, text_of(members["statusCode"].value))} if status else set()

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


def _mappings(node: Node) -> Iterator[Mapping[str, Node]]:
    """Every mapping in a value."""
    waiting = [node]
    while waiting:
        value = waiting.pop().value
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _refuse_codes(about: Reader, kind: str, scripted: _Scripted) -> None:
    """Report status codes that no payment, or callback, has with such a status."""
    entry, status = about["statusCode"], about["status"]
    if not entry.is_given or not entry.is_valid or not status.is_valid:
        return
    names = CALLBACK_STATUS_NAMES if kind == "callbacks" else STATUS_NAMES
    admits = text_test(status.node.plain()) if status.node is not None else bool
    codes = {code for one, code in scripted.codes if admits(names[one])}
    whose = f"{kind} of such a status" if status.is_given else kind
    for value in listed_values(entry):
        if value.text() not in codes:
            text = f"{whose} have no statusCode {shown(value.text())}, only {', '.join(sorted(codes, key=int))}"
            value.problem("impossible", text)
    if entry.is_valid:
        _refuse_empty(entry, codes, f"{whose} have such a statusCode")


def _refuse_calls(calls: Reader, per: Reader, scripted: _Scripted) -> None:
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
    if served and not is_unserved:
        lint_per(per, served, "this")
    _refuse_refids(calls["refid"], served)
    _refuse_statuses(calls["status"], possible, scripted)
    _refuse_errors(calls["error"], possible, scripted)


def _written(entry: Reader, kind: Kind) -> Values | None:
    return values(kind, entry.node.plain()) if entry.node is not None else None


def _is_expected(status: Reader, wanted: str) -> bool:
    """Whether the status is written and may be this one."""
    return any(value.text() == wanted for value in listed_values(status))


def _is_other(method: Reader) -> bool:
    return any(value.text().upper() in OTHER_METHODS for value in listed_values(method))


def _refuse_refids(entry: Reader, served: Collection[Endpoint]) -> None:
    """Report the refid of calls that neither create nor re-query a payment."""
    if entry.node is None or text_test(entry.node.plain())("") or any(str(one) == PAYS for one in served):
        return
    entry.problem("impossible", f"no such call has a refid; only {PAYS} creates or re-queries a payment", at_key=True)


def _refuse_methods(calls: Reader) -> bool:
    """Whether all methods that are named exist."""
    return not unknown_methods(values_of(calls["method"]), (*OTHER_METHODS, ""))


def _refuse_paths(calls: Reader) -> bool:
    """Whether every path that is named, and what is asked of the path, is that of an endpoint."""
    entry = calls["path"]
    if entry.node is None or _is_expected(calls["status"], UNKNOWN_PATH):
        return True
    if unknown_paths(value for value in values_of(entry) if value.is_given):
        return False
    if not reach(path=values(PATH, entry.node.plain())).possible:
        entry.problem("unknown_path", "the service has no path that this matches")
        return False
    return True


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
