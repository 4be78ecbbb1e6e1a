"""Queries of lists: their parameters, pages, waits, and the positive and negative filters of the journal."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from simulator.contract.query import parameters
from simulator.contract.schemas import resolved
from simulator.control.access import refuse_revoked
from simulator.control.http import DIGITS_MAX, InvalidInput, validated
from simulator.domain.errors import Unknown
from simulator.domain.model.likeness import nearest
from simulator.runtime.journal import BoundedLog, NumberedRecord
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.wait_limits import Notifier
from simulator.short_text import QUOTED_CHARS_MAX, one_line

Record = TypeVar("Record")
Numbered = TypeVar("Numbered", bound=NumberedRecord)

NOT = "_not"


def matcher(read: Mapping[str, Callable[[Record], Any]], query: Mapping[str, Any]) -> Callable[[Record], bool]:
    """Return a function that tests whether a record matches the query; `read` has the values that each filter
    compares."""
    tests = [_compares(value, query[name], True) for name, value in read.items() if name in query]
    tests += [_compares(value, query[name + NOT], False) for name, value in read.items() if name + NOT in query]
    if "status_min" in query or "status_max" in query:
        status, low, high = read["status"], query.get("status_min", 0), query.get("status_max", 599)
        tests.append(lambda exchange: low <= status(exchange) <= high)
    return lambda exchange: all(test(exchange) for test in tests)


def _compares(value: Callable[[Record], Any], wanted: Any, is_equal: bool) -> Callable[[Record], bool]:
    return lambda exchange: (value(exchange) == wanted) is is_equal


def _hint(wrong: str, known: Iterable[str]) -> str:
    likely = nearest(wrong, sorted(known))
    return f"; did you mean {one_line(likely, QUOTED_CHARS_MAX)}?" if likely else ""


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
    known = {name: resolved(schema, part) for name, part in parameters(schema).items()}
    refuse_other_parameters(request, *known)
    for name in request.query_params:
        if len(set(request.query_params.getlist(name))) > 1:
            raise InvalidInput(f"{name} was sent twice with different values; send it once", name)
    sent = {name: _typed(text, known[name]["type"]) for name, text in request.query_params.items()}
    defaults = {name: part["default"] for name, part in known.items() if "default" in part}
    return defaults | validated(sent, schema)


def bytes_of(request: Request, name: str) -> bytes | None:
    """Return a parameter of the query as raw bytes in any encoding; None when it is absent."""
    raw = request.scope["query_string"].decode("latin-1")
    found = dict(parse_qsl(raw, keep_blank_values=True, encoding="latin-1"))
    return found[name].encode("latin-1") if name in found else None


def _typed(text: str, wanted: str) -> Any:
    """Return the value of a text of this JSON type, or the text itself, which the schema then refuses."""
    if wanted == "integer":
        return int(text) if _is_whole(text) else text
    try:
        number = float(text) if wanted == "number" else inf
    except ValueError:
        return text
    return number if abs(number) < inf else text


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX


def list_query(request: Request, live: LiveSandbox, schema: str) -> dict[str, Any]:
    """Return the query of a list of a sandbox's records. Raises `InvalidInput`, also for a reseller or a rule that
    neither the sandbox nor its journal has."""
    query = query_of(request, schema)
    if query.get("wait_for"):  # they may be added while the request waits
        return query
    state, code = live.core.state, query.get("reseller")
    if code and code not in (known := state.resellers):
        named = f"; it has {', '.join(known)}" if 0 < len(known) <= 5 else ""
        raise InvalidInput(f"reseller must be a reseller of this sandbox{_hint(code, known) or named}", "reseller")
    for name in ("rule", "fault"):
        label = query.get(name, "")
        is_known = not label or state.has_rule(label) or state.times_chosen(label) > 0
        if not is_known and all(getattr(exchange, name) != label for exchange in live.journal):
            hint = _hint(label, set(state.rule_names()))
            raise InvalidInput(f"{name} must be a rule that this sandbox has, or had{hint}", name)
    return query


def numbered_record(request: Request, log: BoundedLog[Numbered]) -> Numbered:
    """Return the record of a journal whose number is in the path. Raises `Unknown`."""
    number = request.path_params["n"]
    found = log.find(int(number)) if _is_whole(number) else None
    if found is None:
        raise Unknown("unknown_request", "the journal has no such request, or has evicted it")
    return found


async def waited(
    request: Request,
    live: LiveSandbox,
    query: Mapping[str, Any],
    counter: Callable[[], Callable[[], int]],
    *notifiers: Notifier,
) -> bool:
    """Wait until `wait_for` records of a sandbox match, or the timeout passes; return whether they did. `counter`
    returns the function that counts them. Without `wait_for` do not wait. Raises `Unauthorized` when the token was
    revoked meanwhile."""
    wait_for = query["wait_for"]
    if not wait_for:
        return True
    count = counter()
    complete = await live.wait_until(lambda: count() >= wait_for, query["timeout"], *notifiers)
    refuse_revoked(request)
    return complete
