"""Schemas in the words that code generators understand: types apart from each other, and each with its name.

What such a schema accepts stays the same.
"""

from collections.abc import Mapping
from typing import Any

from simulator.contract.schemas import Schema

OF_ANY_TYPE = ("description", "default", "examples", "x-must-be")
"""What a schema says of a value whatever its type."""

_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": _NUMBER,
    "integer": _NUMBER,
    "array": ("items", "minItems", "maxItems", "uniqueItems"),
    "object": (
        *("properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"),
        *("if", "then", "else"),
    ),
    "boolean": (),
    "null": (),
}

_OF_ONE_TYPE = frozenset[str]().union(*_KEYWORDS.values())
NULL_ALONE: Schema = {"type": ["string", "null"], "not": {"type": "string"}}
"""A member that is always null. Generators that know no type `null` know a text that may be null."""


def other_types(source: Schema) -> list[str]:
    """The types that a schema admits beside objects; none when it admits no objects or nothing else."""
    types = source.get("type", [])
    return [one for one in types if one != "object"] if isinstance(types, list) and "object" in types else []


def of_type(source: Schema, type_: str) -> Schema:
    """What the schema wants of a value of this type."""
    kept = {key: source[key] for key in _KEYWORDS[type_] if key in source}
    unknown = set(source) - {"type", *OF_ANY_TYPE} - _OF_ONE_TYPE
    assert not unknown, f"which types {unknown} is about is not known"
    described = {"description": source["description"]} if "description" in source else {}
    return described | {"type": type_} | kept


def with_types(source: Schema) -> Schema:
    """Return the schema with one type a place: a list of types becomes a choice, an `enum` gets its values' type."""
    if isinstance(members := source.get("properties"), dict):
        source = source | {"properties": {name: _member(member) for name, member in members.items()}}
    types = source.get("type")
    if isinstance(types, list) and len(set(types) - {"null"}) > 1:
        whole = {key: source[key] for key in source if key not in ("type", *_OF_ONE_TYPE)}
        return whole | {"anyOf": [of_type(source, one) for one in types]}
    if "enum" not in source or ("type" in source and types != "boolean"):
        return source
    by_type: dict[str, list[Any]] = {}
    for value in source["enum"]:
        by_type.setdefault(_NAMES[type(value)], []).append(value)
    kept = {key: value for key, value in source.items() if key != "enum"}
    if len(by_type) == 1 or set(by_type) == {"string", "null"}:
        return kept | _enumerated(list(by_type), source["enum"])
    return kept | {"anyOf": [_enumerated([one], values) for one, values in by_type.items()]}


def _member(source: Any) -> Any:
    return source | NULL_ALONE if isinstance(source, dict) and source.get("type") == "null" else source


_NAMES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def _enumerated(types: list[str], values: list[Any]) -> Schema:
    """Generators make no enumeration of true alone."""
    named = {"type": types[0] if len(types) == 1 else types}
    if types == ["boolean"]:
        return named if len(values) > 1 else named | {"not": {"const": not values[0]}}
    return named | {"enum": values}
