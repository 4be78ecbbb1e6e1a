"""Decodes query strings as percent-encoded UTF-8 and validates them against the contract's schemas."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import unquote_to_bytes

from simulator.contract.schemas import Schema, schema
from simulator.contract.validator import validator
from simulator.short_text import shortened

PARAMETERS_MAX = 1000
TOO_MANY_PARAMETERS = f"has more than {PARAMETERS_MAX} parameters"

_MALFORMED = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def decode_query(raw: bytes) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the parameters of a raw query, and the problems of its encoding: texts by parameter.

    `+` is a space, a parameter without `=` is empty. A repeated parameter becomes a list: the schema rejects it unless
    it allows several values, and an unknown parameter is ignored anyway. More than `PARAMETERS_MAX`
    parameters are not decoded, and reported as a problem of the parameter `query`.
    """
    if has_too_many(raw):
        return {}, {"query": [TOO_MANY_PARAMETERS]}
    values: dict[str, Any] = {}
    problems: dict[str, list[str]] = {}
    for part in raw.split(b"&") if raw else ():
        if not part:
            continue
        raw_name, _, raw_value = part.partition(b"=")
        try:
            name, value = _decoded(raw_name), _decoded(raw_value)
        except ValueError as bad:
            problems[shortened(raw_name)] = [str(bad)]
            continue
        if name not in values:
            values[name] = value
        elif type(sent := values[name]) is list:
            sent.append(value)
        else:
            values[name] = [sent, value]
    return values, problems


def has_too_many(raw: bytes) -> bool:
    """Return whether a raw query or form has more than `PARAMETERS_MAX` parameters, including empty parameters."""
    return raw.count(b"&") >= PARAMETERS_MAX


def read_query(raw: bytes, name: str) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the parameters of a raw query without blank optional parameters, and their violations of the schema
    `contracts/schemas/NAME.json`: texts by parameter."""
    values, problems = decode_query(raw) if raw else ({}, {})
    if problems:
        return values, problems
    for sent in values.values():  # a loop: any() takes three times as long
        if not sent or sent.isspace() if isinstance(sent, str) else not all(map(str.strip, sent)):
            values = _without_blanks(values, schema(name).get("required", ()))
            break
    problems = validator(name).problems(values)
    return values, with_repeats(name, values, problems) if problems else problems


@cache
def parameters(name: str) -> Mapping[str, Schema]:
    """Return the parameters of a query's schema by name; none when `name` is empty."""
    found: Mapping[str, Schema] = schema(name)["properties"] if name else {}
    return found


@cache
def parameter_names(name: str) -> frozenset[str]:
    """Return their names alone."""
    return frozenset(parameters(name))


def admits_several(wanted: Schema) -> bool:
    """Return whether a parameter with this schema may be repeated."""
    return any(each.get("type") == "array" for each in (wanted, *wanted.get("anyOf", ())))


def sent_times(values: Sequence[str]) -> str:
    """Return the problem of a parameter that must not be repeated and was sent with each of these values."""
    return f"was sent {len(values)} times"


def _without_blanks(values: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """Remove blank values of optional parameters. A blank required parameter becomes empty, which every schema
    rejects."""
    kept: dict[str, Any] = {}
    for name, sent in values.items():
        filled = [each for each in ([sent] if isinstance(sent, str) else sent) if each.strip()]
        if name in required:
            kept[name] = sent if filled else ""
        elif filled:
            kept[name] = filled[0] if len(filled) == 1 else filled
    return kept


def with_repeats(name: str, values: Mapping[str, Any], problems: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the problems of a query or form; of a parameter that is to be sent once how often it was, and nothing
    else."""
    known = parameters(name)
    return {
        each: [sent_times(sent)]
        if isinstance(sent := values.get(each), list) and not admits_several(known.get(each, {}))
        else texts
        for each, texts in problems.items()
    }


def flag(fields: Mapping[str, str], name: str) -> bool | None:
    """Return a boolean, or None when it was not sent."""
    sent = fields.get(name)
    return None if sent is None else sent.lower() == "true"


def whole(fields: Mapping[str, str], name: str, default: int) -> int:
    """Return a whole number, or `default` when it was not sent."""
    sent = fields.get(name)
    return default if sent is None else int(sent)


def _decoded(text: bytes) -> str:
    """Percent-decode. Raises `ValueError`, worded for people."""
    if b"%" in text and _MALFORMED.search(text):
        raise ValueError("has a % that two hexadecimal digits must follow")
    try:
        plain = text.replace(b"+", b" ")
        return (unquote_to_bytes(plain) if b"%" in plain else plain).decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 when its percent-encoding is decoded") from None
