"""Render docs/scenario-reference.md: every key of `contracts/scenario.schema.json` with its type and meaning."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from simulator.scenario.reading.schema_check import schema
from tools.tables import cell, markdown

Part = Mapping[str, Any]
EXAMPLES_MAX = 3  # an editor offers them all

_FIRST_LINE = "<!-- Generated from contracts/scenario.schema.json by `make docs`; change it there. -->"
_INTRODUCTION = f"""\
{_FIRST_LINE}

# Scenario reference

Look up every key of a scenario file.
[scenarios.md](scenarios.md) is the introduction. Keys in bold are required; unknown keys are errors. `*` stands for a
name of your own, `[]` for each item of a list.
"""
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}


def as_markdown() -> str:
    """Return the content of `docs/scenario-reference.md`."""
    definitions: dict[str, Part] = schema()["definitions"]
    objects = [name for name, one in definitions.items() if _has_keys(one)]
    values = [name for name in definitions if name not in objects]
    parts = [_INTRODUCTION, "## The file\n", _table(schema())]
    for name in objects:
        parts += [f"## {name}\n", _opening(definitions[name]), _table(definitions[name])]
    rows = (
        (f'<a id="{name}"></a>{name}', cell(_takes(definitions[name])), cell(_meaning(definitions[name])))
        for name in values
    )
    parts += ["## Values\n", markdown([("value", "takes", "means"), *rows])]
    return "\n".join(parts) + "\n"


def _has_keys(one: Part) -> bool:
    return bool(list(_rows(one, "")))


def _opening(one: Part) -> str:
    form = f" It takes {one['x-must-be']}." if "x-must-be" in one else ""
    items = f" Its items are: {_takes(one['items'])}." if "$ref" in one.get("items", {}) else ""
    return f"{one['description']}{form}{items}\n"


def _table(one: Part) -> str:
    rows = ((name, cell(_takes(part)), cell(_meaning(part))) for name, part in _rows(one, ""))
    return markdown([("key", "takes", "means"), *rows]) + "\n"


def _rows(one: Part, prefix: str) -> Iterator[tuple[str, Part]]:
    """Yield every key, followed by the keys of inline objects."""
    required = one.get("required", one.get("else", {}).get("required", ()))  # unless it removes an inherited one
    for name, part in one.get("properties", {}).items():
        key = f"`{prefix}{name}`"
        yield f"**{key}**" if name in required else key, part
        yield from _rows(part, f"{prefix}{name}.")
    if isinstance(one.get("items"), dict):
        yield from _rows(one["items"], prefix.removesuffix(".") + "[].")
    if isinstance(one.get("additionalProperties"), dict):
        yield from _rows(one["additionalProperties"], f"{prefix}*.")


def _takes(part: Part) -> str:
    """Describe the valid values in a few words."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "enum" in part:
        return ", ".join(f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in part["enum"])
    if "x-must-be" in part:
        return str(part["x-must-be"])
    types = part.get("type", ())
    return " or ".join(_kind(one, part) for one in ([types] if isinstance(types, str) else types)) or "any value"


def _kind(type_: str, part: Part) -> str:
    if type_ == "array":
        return f"list of {_takes(part['items'])}"
    if type_ == "object" and isinstance(part.get("additionalProperties"), dict):
        return f"by name: {_takes(part['additionalProperties'])}"
    return _KINDS[type_]


def _meaning(part: Part) -> str:
    return str(part["description"]) + _bounds(part) + _examples(part)


def _examples(part: Part) -> str:
    """Return the schema's `examples` as YAML on one line."""
    found = [
        yaml.safe_dump(value, default_flow_style=True, width=math.inf, sort_keys=False)
        for value in part.get("examples", ())[:EXAMPLES_MAX]
    ]
    texts = [f"`{text.removesuffix('...' + chr(10)).strip()}`" for text in found]
    return f" For example: {', or '.join(texts)}." if texts else ""


def _bounds(part: Part) -> str:
    low, high = part.get("minimum", part.get("minItems")), part.get("maximum", part.get("maxItems"))
    if low is None and high is None:
        return ""
    things = " items" if "maxItems" in part or "minItems" in part else ""
    if high is None:
        return f" From {low}{things}." if low > 1 else ""
    return f" {'From ' + str(low) + ' to' if low else 'At most'} {high}{things}."
