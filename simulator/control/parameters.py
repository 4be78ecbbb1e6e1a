"""The query of a control request, validated against a schema of the contract, and what is read of it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from simulator.contract.query import parameters
from simulator.contract.schemas import Schema, resolved
from simulator.control.http import InvalidInput, PageRequest, validated

DIGITS_MAX = 19


def refuse_other_parameters(request: Request, *known: str) -> None:
    """Raise `InvalidInput` for a query parameter that is not `known`: a misspelt filter would match everything."""
    unknown = set(request.query_params) - set(known)
    if unknown:
        text = f"use {', '.join(known)}" if known else "this endpoint has none"
        raise InvalidInput(f"there is no parameter {min(unknown)!r}; {text}", min(unknown))


def query_of(request: Request, schema: str) -> dict[str, Any]:
    """The parameters of a request, numbers as such, those that are absent with their default if they have one.

    Raises `InvalidInput`, also for a parameter that was sent with two values.
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
    """A parameter of the query as the bytes that were sent, whatever their encoding; None when it is absent."""
    raw = request.scope["query_string"].decode("latin-1")
    found = dict(parse_qsl(raw, keep_blank_values=True, encoding="latin-1"))
    return found[name].encode("latin-1") if name in found else None


def _defaults(schema: str, known: Mapping[str, Schema]) -> dict[str, Any]:
    wanted = {name: resolved(schema, part) for name, part in known.items()}
    return {name: part["default"] for name, part in wanted.items() if "default" in part}


def _typed(text: str, wanted: Schema) -> Any:
    """The value that a text stands for, or the text, which the schema then refuses."""
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
    """The page that a query asks for."""
    return PageRequest(query["limit"], int(query.get("cursor", 0)))


def wait_of(query: Mapping[str, Any]) -> tuple[int, float]:
    """How many a query waits for, and how long (seconds)."""
    return query["wait_for"], query["timeout"]
