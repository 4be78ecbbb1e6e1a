"""Walks over the schemas within a schema, and over nothing else that looks like one."""

from collections.abc import Iterator
from typing import Any

_OF_ONE = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else")
_OF_SEVERAL = ("anyOf", "oneOf", "allOf")
_BY_NAME = ("properties", "$defs", "definitions", "patternProperties")


def schema_parts(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and every schema in it, each with its JSON pointer."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for key in _OF_ONE:
        yield from schema_parts(schema.get(key), f"{pointer}/{key}")
    for key in _OF_SEVERAL:
        for index, part in enumerate(schema.get(key, ())):
            yield from schema_parts(part, f"{pointer}/{key}/{index}")
    for key in _BY_NAME:
        for name, part in schema.get(key, {}).items():
            yield from schema_parts(part, f"{pointer}/{key}/{name}")
