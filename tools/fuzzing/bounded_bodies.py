"""Smaller request schemas for the coverage phase, which combines all members of a body and would not end otherwise."""

from collections.abc import Mapping
from typing import Any

SCENARIO_TYPED = ("createSandbox", "addRule", "addReseller")
"""The operations that take a scenario, or a large part of a scenario, as their body."""

_CHOICES = ("anyOf", "oneOf", "allOf")
_CONDITIONS = ("if", "then", "else")


def bound_bodies(document: dict[str, Any]) -> None:
    """Bound the JSON bodies of the `SCENARIO_TYPED` operations of a document, in place."""
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and operation.get("operationId") in SCENARIO_TYPED:
                media = operation["requestBody"]["content"]["application/json"]
                media["schema"] = bounded(media["schema"], document["components"]["schemas"])


def bounded(schema: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without references that has only required and scalar members."""
    whole = _resolved(schema, components)
    needed = {*whole.get("required", ()), *whole.get("else", {}).get("required", ())}
    kept = {name: value for name, value in whole.items() if name not in _CONDITIONS}
    for name in _CHOICES:
        if name in whole:
            kept[name] = [bounded(each, components) for each in whole[name]]
    if "items" in whole:
        kept["items"] = bounded(whole["items"], components)
    if "properties" in whole:
        kept["properties"] = {
            name: bounded(part, components)
            for name, part in whole["properties"].items()
            if name in needed or _is_scalar(part, components)
        }
    return kept | ({"required": sorted(needed)} if needed else {})


def _is_scalar(schema: Mapping[str, Any], components: Mapping[str, Any]) -> bool:
    whole = _resolved(schema, components)
    return not any(
        name in whole for name in ("properties", "items", "additionalProperties", "propertyNames", *_CHOICES)
    )


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema that `$ref` leads to, merged with the keywords next to it."""
    own = {name: value for name, value in schema.items() if name != "$ref"}
    if "$ref" not in schema:
        return own
    return _resolved(components[schema["$ref"].rpartition("/")[2]], components) | own
