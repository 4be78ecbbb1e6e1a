"""Queries of lists: their parameters, pages, waits, and the positive and negative filters of the journal."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from simulator.contract.query import parameters
from simulator.contract.schemas import Schema, resolved
from simulator.control.http import DIGITS_MAX, InvalidInput, PageRequest, validated
from simulator.domain.model.likeness import nearest
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.shortened import one_line

Record = TypeVar("Record")

NOT = "_not"
STATUS_BOUNDS = ("status_min", "status_max")
SHOWN_CHARS_MAX = 60


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


def refuse_unknown_reseller(live: LiveSandbox, query: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a reseller that the sandbox does not have. It may be added while a request waits."""
    code, known = query.get("reseller"), live.core.state.resellers
    if code and code not in known and not query.get("wait_for"):
        named = f"; it has {', '.join(known)}" if 0 < len(known) <= 5 else ""
        text = f"reseller must be a reseller of this sandbox{_hint(code, known) or named}"
        raise InvalidInput(text, "reseller")


def refuse_unknown_rule(live: LiveSandbox, query: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a rule that neither the sandbox nor its journal has. It may be added while a request
    waits."""
    state = live.core.state
    for name in ("rule", "fault") if not query.get("wait_for") else ():
        label = query.get(name, "")
        is_known = not label or state.has_rule(label) or state.times_chosen(label) > 0
        if not is_known and all(getattr(one, name) != label for one in live.journal):
            hint = _hint(label, set(state.rule_names()))
            raise InvalidInput(f"{name} must be a rule that this sandbox has, or had{hint}", name)


def _hint(wrong: str, known: Iterable[str]) -> str:
    likely = nearest(wrong, sorted(known))
    return f"; did you mean {_shown(likely)}?" if likely else ""


def _shown(text: str) -> str:
    return one_line(text, SHOWN_CHARS_MAX)


def refuse_other_parameters(request: Request, *known: str) -> None:
    """Raise `InvalidInput` for a query parameter that is not in `known`: a misspelt filter would match everything."""
    unknown = set(request.query_params) - set(known)
    if unknown:
        wrong = min(unknown)
        text = _hint(wrong, known) or (f"; use {', '.join(known)}" if known else "; this endpoint has none")
        raise InvalidInput(f"there is no parameter {wrong!r}{text}", wrong)


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
