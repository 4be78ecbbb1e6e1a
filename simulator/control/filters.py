"""Filters of the journal, positive and negative; a filter that cannot match is refused with a sentence."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from math import isfinite
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from simulator.auth.signature import MESSAGES
from simulator.contract.query import parameters
from simulator.contract.schemas import Schema, resolved
from simulator.control.http import InvalidInput, PageRequest, validated
from simulator.domain.model.bills import BillError
from simulator.domain.model.likeness import nearest
from simulator.domain.model.transactions import Reason
from simulator.domain.model.webhooks import ReplayRefused
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.shortened import one_line

Record = TypeVar("Record")

NOT = "_not"
STATUS_BOUNDS = ("status_min", "status_max")
METHODS: Final = frozenset(
    {
        "ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH",
        "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK",
        "UNLOCK", "UNSUBSCRIBE",
    }
)  # fmt: skip
"""The methods that the HTTP parser accepts; requests with other methods never reach the journal."""

OWN_ERRORS: Final = frozenset(
    {
        "api_key_required", "integration_timeout", "invalid_credentials", "ip_blocked", "ip_not_allowed",
        "nonce_service_unavailable", "sandbox_reset", "unexpected", "unknown_rule", "unknown_sandbox",
        "unknown_transaction", "Invalid request",
    }
)  # fmt: skip
ERRORS: Final = OWN_ERRORS.union(MESSAGES, *(map(str, each) for each in (Reason, ReplayRefused, BillError)))
"""The codes of all refusals, except for the texts with which rules of `bills` refuse."""

SHOWN_CHARS_MAX = 60
_TRXID: Final = re.compile("[0-9]{22}")
_CLASS: Final = re.compile("([1-5])[xX*]{1,2}")
_BOUND: Final = re.compile("(<|>)=?([0-9]{3})")
_OTHERS: Final = re.compile("!=?([0-9]{3})")
_RANGE: Final = re.compile("([0-9]{3})(?:-|[.]{2,3})([0-9]{3})")
_ONE_STATUS: Final = "must be one status from 100 to 599, or 0 for requests without a response"
_RANGES: Final = "for several write status_min and status_max, for all others status_not"


def filtered(
    read: Mapping[str, Callable[[Record], Any]], query: Mapping[str, Any], records: Iterable[Record]
) -> Iterable[Record]:
    """Yield the records that match a query; `read` has the values that each filter compares, as texts."""
    for test in _tests(read, query):  # nested, since a test of all filters takes four times as long for each record
        records = filter(test, records)
    return records


def matcher(read: Mapping[str, Callable[[Record], Any]], query: Mapping[str, Any]) -> Callable[[Record], bool]:
    """Return a function that tests whether a record matches the query."""
    tests = _tests(read, query)
    return lambda one: all(test(one) for test in tests)


def _tests(read: Mapping[str, Callable[[Record], Any]], query: Mapping[str, Any]) -> list[Callable[[Record], bool]]:
    tests = [_equals(value, query[name]) for name, value in read.items() if name in query]
    tests += [_differs(value, query[name + NOT]) for name, value in read.items() if name + NOT in query]
    if any(bound in query for bound in STATUS_BOUNDS):
        tests.append(_between(read["status"], *(query.get(bound) for bound in STATUS_BOUNDS)))
    return tests


def _equals(value: Callable[[Record], Any], wanted: Any) -> Callable[[Record], bool]:
    return lambda one: bool(value(one) == wanted)


def _differs(value: Callable[[Record], Any], unwanted: Any) -> Callable[[Record], bool]:
    return lambda one: bool(value(one) != unwanted)


def _between(value: Callable[[Record], int], low: int | None, high: int | None) -> Callable[[Record], bool]:
    least, most = low or 0, 599 if high is None else high
    return lambda one: least <= value(one) <= most


def refuse_impossible(request: Request, names: Iterable[str]) -> None:
    """Raise `InvalidInput` for a filter that no request can match in any sandbox."""
    sent: dict[str, str] = {}
    wanted = {*chain.from_iterable((name, name + NOT) for name in names), *STATUS_BOUNDS}
    for name, text in request.query_params.multi_items():
        if name not in wanted:
            continue
        if sent.setdefault(name, text) != text:
            more = f"; {_RANGES}" if name.startswith("status") else ""
            raise InvalidInput(f"{name} was sent twice, and only one value can be compared{more}", name)
        problem = _problem(name, name.removesuffix(NOT), text)
        if problem:
            raise InvalidInput(f"{name} {problem}", name)


def _problem(name: str, of: str, text: str) -> str:
    if of.startswith("status"):
        return _status_problem(name, text)
    if not text:
        return ""
    if of in _PROBLEMS and text.startswith("!") and not name.endswith(NOT):
        return f"is not negated by '!'; write {of}{NOT}={_shown(text[1:])}"
    return _PROBLEMS[of](text) if of in _PROBLEMS else ""


def _status_problem(name: str, text: str) -> str:
    if text.isascii() and text.isdigit() and len(text) <= len("599"):
        is_status = int(text) <= 599 and (int(text) >= 100 or int(text) == 0 or name in STATUS_BOUNDS)
        return "" if is_status else _ONE_STATUS
    if meant := status_filters(text):
        query = "&".join(f"{each}={value}" for each, value in meant.items())
        return f"{_ONE_STATUS}; instead of {text} write {query}"
    if text.startswith("!"):
        return f"{_ONE_STATUS}; instead of {_shown(text)} write status_not={_shown(text[1:])}"
    return f"{_ONE_STATUS}; {_RANGES}"


def status_filters(text: str) -> dict[str, int]:
    """Return the filters for a group of statuses: 2xx, 500-599, >=400, !404; no filters for other texts."""
    if found := _CLASS.fullmatch(text):
        return {"status_min": int(found[1] + "00"), "status_max": int(found[1] + "99")}
    if found := _RANGE.fullmatch(text):
        return {"status_min": int(found[1]), "status_max": int(found[2])}
    if found := _BOUND.fullmatch(text):
        is_low, bound = found[1] == ">", int(found[2])
        own = 0 if "=" in text else 1 if is_low else -1
        return {"status_min" if is_low else "status_max": bound + own}
    return {"status_not": int(found[1])} if (found := _OTHERS.fullmatch(text)) else {}


def _method_problem(text: str) -> str:
    if text in METHODS:
        return ""
    return f"must be a method of HTTP in capitals such as GET{_hint(text, METHODS)}"


def _path_problem(text: str) -> str:
    if not text.startswith("/"):
        return "must be a path that begins with /, such as /v2/topup"
    if "?" in text or "#" in text:
        return f"is compared without the query; write {_shown(re.split('[?#]', text)[0])}"
    if text == "/_sim" or text.startswith("/_sim/"):
        return "must be a path of the reseller API: the journal has no requests of the control API"
    return ""


def _trxid_problem(text: str) -> str:
    return "" if _TRXID.fullmatch(text) else "must be a trxid, which has 22 digits; refid= finds by refid"


_PROBLEMS: Final[Mapping[str, Callable[[str], str]]] = {
    "method": _method_problem,
    "path": _path_problem,
    "trxid": _trxid_problem,
}


def refuse_contradictions(query: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise `InvalidInput` for filters that can match separately, but not together."""
    for name in names:
        if name in query and query[name] == query.get(name + NOT):
            raise InvalidInput(f"{name} and {name}{NOT} have the same value, so no request can match", name + NOT)
    low, high = (query.get(bound, default) for bound, default in zip(STATUS_BOUNDS, (0, 599), strict=True))
    if low > high:
        raise InvalidInput(f"status_min is above status_max: no status is from {low} to {high}", "status_min")
    if not low <= query.get("status", low) <= high:
        raise InvalidInput(f"status is not from {low} to {high}, so no request can match", "status")
    if low == high == query.get("status" + NOT):
        raise InvalidInput(f"status{NOT} is the only status from {low} to {high}", "status" + NOT)


def refuse_unknown_reseller(live: LiveSandbox, query: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a reseller that the sandbox does not have. It may be added while a request waits."""
    code, known = query.get("reseller"), live.core.state.resellers
    if code and code not in known and not query.get("wait_for"):
        named = f"; it has {', '.join(known)}" if 0 < len(known) <= 5 else ""
        text = f"reseller must be a reseller of this sandbox{_hint(code, known) or named}"
        raise InvalidInput(text, "reseller")


def refuse_unknown_names(live: LiveSandbox, query: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a reseller, rule or error code that neither the sandbox nor its journal has. It may be
    added while a request waits."""
    if query.get("wait_for"):
        return
    refuse_unknown_reseller(live, query)
    state = live.core.state
    for name in ("rule", "fault"):
        label = query.get(name)
        if label and not _has_rule(live, label) and not any(getattr(one, name) == label for one in live.journal):
            known = dict.fromkeys(state.rule_names())
            raise InvalidInput(f"{name} must be a rule that this sandbox has, or had{_hint(label, known)}", name)
    code = query.get("error")
    if code and code not in ERRORS and all(code != one.error for one in live.journal):
        own = _errors_of_rules(live)
        if code not in own:
            raise InvalidInput(f"error must be the code of a refusal{_hint(code, (*ERRORS, *own))}", "error")


def _has_rule(live: LiveSandbox, label: str) -> bool:
    state = live.core.state
    return state.times_chosen(label) > 0 or any(book.named(label) is not None for book in state.books.values())


def _errors_of_rules(live: LiveSandbox) -> set[str]:
    """Return the texts with which rules refuse bills."""
    outcomes = (rule.then.refused for rule, _ in live.core.state.bills.listed())
    return {str(one.error) for one in outcomes if one is not None}


def _hint(wrong: str, known: Iterable[str]) -> str:
    likely = nearest(wrong, sorted(known))
    return f"; did you mean {_shown(likely)}?" if likely else ""


def _shown(text: str) -> str:
    return one_line(text, SHOWN_CHARS_MAX)


DIGITS_MAX = 19


def refuse_other_parameters(request: Request, *known: str) -> None:
    """Raise `InvalidInput` for a query parameter that is not in `known`: a misspelt filter would match everything."""
    unknown = set(request.query_params) - set(known)
    if unknown:
        text = f"use {', '.join(known)}" if known else "this endpoint has none"
        raise InvalidInput(f"there is no parameter {min(unknown)!r}; {text}", min(unknown))


def query_of(request: Request, schema: str) -> dict[str, Any]:
    """Return the parameters of a request, with numbers converted, and with the defaults of absent parameters.

    Raises `InvalidInput`, also for a parameter with two values.
    """
    known = parameters(schema)
    refuse_other_parameters(request, *known)
    _refuse_contradictory(request)
    sent = {name: _typed(text, resolved(schema, known[name])) for name, text in request.query_params.items()}
    return _defaults(schema, known) | validated(sent, schema)


def _refuse_contradictory(request: Request) -> None:
    first: dict[str, str] = {}
    for name, text in request.query_params.multi_items():
        if first.setdefault(name, text) != text:
            raise InvalidInput(f"{name} was sent twice with different values, and only one can be used", name)


def bytes_of(request: Request, name: str) -> bytes | None:
    """Return a parameter of the query as raw bytes in any encoding; None when it is absent."""
    raw = request.scope["query_string"].decode("latin-1")
    found = dict(parse_qsl(raw, keep_blank_values=True, encoding="latin-1"))
    return found[name].encode("latin-1") if name in found else None


def _defaults(schema: str, known: Mapping[str, Schema]) -> dict[str, Any]:
    wanted = {name: resolved(schema, part) for name, part in known.items()}
    return {name: part["default"] for name, part in wanted.items() if "default" in part}


def _typed(text: str, wanted: Schema) -> Any:
    """Return the value of a text, or the text itself, which the schema then refuses."""
    if wanted["type"] == "integer":
        is_whole = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
        return int(text) if is_whole else text
    if wanted["type"] == "number":
        return _number(text)
    return text


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def page_of(query: Mapping[str, Any]) -> PageRequest:
    """Return the page that a query asks for."""
    return PageRequest(query["limit"], int(query.get("cursor", 0)))


def wait_of(query: Mapping[str, Any]) -> tuple[int, float]:
    """Return the number of matches to wait for, and the timeout in seconds."""
    return query["wait_for"], query["timeout"]
