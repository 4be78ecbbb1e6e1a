"""Validates a document against `contracts/scenario.schema.json`: each violation becomes a problem with its position."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import jsonschema_rs

from simulator.contract import schemas
from simulator.scenario.reading.hints import keys_of, notation_hint, suggestion, unknown_key
from simulator.scenario.reading.nodes import (
    HALF_LINE_CHARS,
    SECRET_KEYS,
    Document,
    Path,
    ProblemReport,
    shown,
    shown_at,
)
from simulator.scenario.reading.patterns import finder
from simulator.scenario.yaml import flow
from simulator.wire.payment_answers import STATUS_NAMES

_PAYMENT_STATUSES = frozenset(STATUS_NAMES.values())
_STEP_KEYS = ("status", "after", "at", "requery", "sn", "pin", "note", "voucherlink", "expiry")

_KINDS: Mapping[str, str] = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
# The texts that are values of these kinds without their quotes.
_PLAIN: Mapping[str, re.Pattern[str]] = {
    "boolean": re.compile("true|false"),
    "integer": re.compile("-?(0|[1-9][0-9]{0,8})"),
    "null": re.compile("null"),
    "number": re.compile(r"-?(0|[1-9][0-9]{0,8})([.][0-9]{1,9})?"),
}

_RANGES: Mapping[str, str] = {
    "minimum": "must be at least {0.limit}",
    "maximum": "must be at most {0.limit}",
    "exclusiveMinimum": "must be above {0.limit}",
    "minLength": "must have at least {0.limit} characters",
    "maxLength": "must have at most {0.limit} characters",
    "minItems": "must have at least {0.limit} items",
    "maxItems": "must have at most {0.limit} items",
    "minProperties": "must have at least {0.limit} keys",
    "maxProperties": "must have at most {0.limit} keys",
}

# Common names of several definitions.
_SORTS: Mapping[str, str] = {
    "span": "duration",
    "delay": "duration",
    "timestamp_tolerance": "duration",
    "factor": "amount",
    "money": "amount",
    "Outstanding": "amount",
    "due": "duration",
    "header_value": "header",
    "mode": "clock",
    "name": "text",
    "line": "text",
}


def schema() -> dict[str, Any]:
    """Return the schema of scenario files. Do not modify it."""
    return schemas.schema(schemas.SCENARIO)


@cache
def _validator(definition: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(_schema_of(definition), pattern_options=jsonschema_rs.RegexOptions())


def check(document: Document, report: ProblemReport, definition: str = "") -> None:
    """Report every violation of the schema, or of a named definition."""
    data = document.data
    validator = _validator(definition)
    if validator.is_valid(data):
        return
    for error in validator.iter_errors(data):
        path = _keyed(error.instance_path, data)
        rule = _at(_schema_of(definition), error.schema_path[:-1])
        for at_key, where, code, message in _explained(error, path, rule):
            position = document.position(where, of_key=at_key)
            report.add_another(position, where, code, message)
            if report.is_full:
                return


def _keyed(path: list[Any], data: Any) -> Path:
    """Return the path of an error with keys as written: the validator takes keys such as "00" for indexes, and omits
    empty keys."""
    keyed: list[str | int] = []
    for part in path:
        while isinstance(data, dict) and (key := _key(part, data)) not in data:
            keyed.append("")
            data = data[""]
        part = key if isinstance(data, dict) else part
        keyed.append(part)
        data = data[part]
    return tuple(keyed)


def _key(part: str | int, data: dict[str, Any]) -> str | int:
    return next((key for key in data if key.isdecimal() and int(key) == part), part) if isinstance(part, int) else part


def _schema_of(definition: str) -> dict[str, Any]:
    """Return the schema against which paths of errors are resolved."""
    if not definition:
        return schema()
    return {**schema()["definitions"][definition], "definitions": schema()["definitions"]}


def _at(found: Any, path: list[Any]) -> dict[str, Any]:
    for part in path:
        found = found[part]
    assert isinstance(found, dict)
    return found


def _explained(error: Any, path: Path, rule: Mapping[str, Any]) -> Iterator[tuple[bool, Path, str, str]]:
    """Yield (at the key?, path, code, message) for each problem that causes a violation."""
    kind, value = error.kind.name, error.instance
    match kind:
        case "additionalProperties":
            # a payment status where a list of statuses is expected
            if is_step := "status" in value and "refuse" in rule.get("properties", {}):
                yield False, path, "type", _step_message(value)
            for key in error.kind.unexpected:
                if is_step and key in _STEP_KEYS:
                    continue
                text = unknown_key(key, value[key], rule.get("properties", {}))
                yield True, (*path, key), "unknown_key", text
        case "required" if error.kind.property == "status" and "refuse" in value:
            return  # the key `refuse` is reported
        case "required":
            yield False, path, "missing_key", f"{error.kind.property!r} is missing"
        case "type":
            advice = notation_hint(path[-1] if path else "", value, rule.get("x-must-be", ""))
            text = _type_message(path, value, rule, has_advice=bool(advice)) + advice
            yield False, path, "type", text + _section_of_status(path, value, rule)
        case "enum":
            text = _enum_message(value, error.kind.options) + notation_hint(path[-1] if path else "", value)
            yield False, path, "unknown_value", text + _section_of_status(path, value, rule)
        case "pattern":
            wanted = rule["x-must-be"]
            text = f"{shown_at(path, value)} must be {wanted}{notation_hint(path[-1] if path else '', value, wanted)}"
            yield False, path, _pattern_code(error.schema_path), text
        case "minimum" if value % 1 and rule["type"] == "integer":
            return  # the type is reported
        case _:
            is_empty = kind in ("minLength", "minItems", "minProperties") and error.kind.limit == 1
            said = "must not be empty" if is_empty else _RANGES[kind].format(error.kind)
            text = f"{shown_at(path, value)} {said}{notation_hint(path[-1] if path else '', value)}"
            yield False, path, "out_of_range", text


def _section_of_status(path: Path, value: object, rule: Mapping[str, Any]) -> str:
    """Return a hint where the status belongs: a payment status in an HTTP rule, or an HTTP status in a payment rule."""
    if path[-1:] != ("status",) or isinstance(value, bool | list | dict):
        return ""
    if rule.get("type") == "integer" and value in _PAYMENT_STATUSES and path[:1] == ("faults",):
        return "; a fault answers an HTTP status such as 500, and a rule of 'payments' decides how a payment ends"
    if isinstance(value, int) and path[:1] == ("payments",):
        return "; to answer an HTTP status, write a rule of 'faults'"
    return ""


def _type_message(path: Path, value: object, rule: Mapping[str, Any], *, has_advice: bool = False) -> str:
    wanted = rule.get("x-must-be")
    if wanted is None:
        wanted = " or ".join(_KINDS[kind] for kind in _types(rule))
    hint = "" if has_advice else _quotation(value, rule) or _nesting(value, rule)
    return f"must be {wanted}, not {shown_at(path, value)}{hint}"


def _types(rule: Mapping[str, Any]) -> list[str]:
    return rule["type"] if isinstance(rule["type"], list) else [rule["type"]]


def _quotation(value: object, rule: Mapping[str, Any]) -> str:
    """Return a hint about quotes: a text without them that YAML takes for something else, or a number with them."""
    types = _types(rule)
    if "string" in types and isinstance(value, dict) and not any(value.values()):
        return "; text with braces needs quotes"
    if types == ["string"] and _fits_in_quotes(value, rule):
        return "; write it in quotes"
    if isinstance(value, str) and any(kind in _PLAIN and _PLAIN[kind].fullmatch(value) for kind in types):
        return f"; write {value} without quotes"
    return ""


def _nesting(value: object, rule: Mapping[str, Any]) -> str:
    """Return a hint about nesting: wrap a mapping or a single value in a list, unwrap a list, or nest a status."""
    wanted = rule["type"]
    if wanted == "array" and value is None:
        return "; write [] for none"
    if wanted == "array" and isinstance(value, str | int | Decimal) and not keys_of(rule["items"]):
        return f"; write {flow([value])}"
    if "status" in rule.get("properties", {}) and isinstance(value, str | int) and not isinstance(value, bool):
        return f"; write {flow({'status': value})}"
    if isinstance(value, str) and "url" in rule.get("properties", {}):
        url = value if "://" in value or value.startswith("inbox:") else f"http://{value}"
        return f"; write {flow({'url': url})}"
    if isinstance(value, dict) and "array" in wanted and rule["items"].get("type") != "string":
        return f"; write {flow([value])}" if _is_short(value) else "; begin it with '- ', as an item of a list"
    if isinstance(value, list) and "object" in wanted and len(value) == 1 and isinstance(value[0], dict):
        return f"; write {flow(value[0])}" if _is_short(value[0]) else "; leave out the '- ' that begins it"
    if (
        wanted == "object"
        and "x-must-be" not in rule
        and not isinstance(value, list)
        and (known := ", ".join(rule.get("properties", {})))
    ):
        return f"; its keys are {known}"
    return ""


def _is_short(value: dict[str, Any]) -> bool:
    """Return True for a mapping that a message may repeat."""
    plain = not any(isinstance(member, dict | list) for member in value.values())
    return plain and not set(SECRET_KEYS) & set(value) and len(flow(value)) <= HALF_LINE_CHARS


def _step_message(value: dict[str, Any]) -> str:
    if isinstance(value["status"], int):
        return "to answer an HTTP status, write a rule of 'faults'; a payment has a list such as [{ status: Failed }]"
    shown_step = flow([value]) if _is_short(value) else "[{ status: … }]"
    return f"the statuses of a payment are a list: write {shown_step}"


def _fits_in_quotes(value: object, rule: Mapping[str, Any]) -> bool:
    """Return True for a number or a word such as null that would be valid as quoted text."""
    if isinstance(value, list | dict):
        return False
    return "pattern" not in rule or finder(rule["pattern"])(shown(value))


def _enum_message(value: object, options: list[Any]) -> str:
    names = [shown(option).strip("'") for option in options]
    listed = ", ".join(names)
    if any(value == shown(option) for option in options):
        return f"{shown(value)} is text; write {value} without quotes"
    if len(names) == 1:
        return f"must be {listed}, not {shown(value)}"
    likely = suggestion(value, names)
    if likely and len(listed) > HALF_LINE_CHARS:
        return f"{shown(value)} is not one of the {len(names)} values{likely}"
    return f"{shown(value)} is not one of {listed}{likely}"


def _pattern_code(schema_path: list[Any]) -> str:
    """Return `bad_` and the expected kind: the name of the definition, or of the pattern's key."""
    name = str(schema_path[-2])
    return f"bad_{_SORTS.get(name, name)}"
