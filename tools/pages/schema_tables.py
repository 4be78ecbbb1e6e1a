"""Render tables of the fields of `contracts/schemas/`: name, type, meaning."""

from collections.abc import Iterator
from typing import Any

from simulator.contract.schemas import Schema, at_pointer, schema
from tools.tables import cell, markdown


def fields_table(name: str) -> str:
    """Return the table of a schema's fields, inline objects included.

    `catalog-answer#product` names a definition of a schema. A field whose type is a definition names it, since the
    definition has its own table.
    """
    file = name.partition("#")[0]
    whole = _merged(_named(name))
    rows = ((shown, cell(_takes(part, file)), cell(_meaning(part, file))) for shown, part in _rows(whole, "", file))
    return markdown([("field", "type", "meaning"), *rows])


def definitions_of(name: str) -> Iterator[str]:
    """Yield the names of the objects that fields of a schema refer to, each as `fields_table` takes it."""
    file = name.partition("#")[0]
    waiting: list[Any] = [{key: part for key, part in _named(name).items() if key != "$defs"}]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            target, _, pointer = str(part.get("$ref", "")).partition("#")
            if target or pointer:
                other, definition = target.removesuffix(".json") or file, pointer.removeprefix("/$defs/")
                found = f"{other}#{definition}" if definition else other
                if "/" not in definition and _named(found).get("properties"):
                    yield found
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _named(name: str) -> Schema:
    file, _, definition = name.partition("#")
    return schema(file)["$defs"][definition] if definition else schema(file)


def _merged(whole: Schema) -> Schema:
    """Return a schema with the fields of the schemas that it extends."""
    extended = [
        _merged(_named(part["$ref"].replace(".json", "").replace("#/$defs/", "#")))
        for part in whole.get("allOf", ())
        if "$ref" in part
    ]
    fields: dict[str, Schema] = {}
    for part in [*extended, whole]:
        for name, field in part.get("properties", {}).items():
            fields[name] = fields.get(name, {}) | field
    required = [name for part in [*extended, whole] for name in part.get("required", ())]
    return whole | {"properties": fields, "required": required}


def _rows(whole: Schema, prefix: str, file: str) -> Iterator[tuple[str, Schema]]:
    """Yield every field, followed by the fields of objects and lists in it."""
    required = whole.get("required", ())
    for name, part in whole.get("properties", {}).items():
        shown = f"`{prefix}{name}`"
        yield f"**{shown}**" if name in required else shown, part
        for inner in _inline(part):
            yield from _rows(inner, f"{prefix}{name}.", file)
    if isinstance(whole.get("items"), dict):
        yield from _rows(whole["items"], prefix.removesuffix(".") + "[].", file)
    if isinstance(whole.get("additionalProperties"), dict):
        yield from _rows(whole["additionalProperties"], f"{prefix}*.", file)


def _inline(part: Schema) -> list[Schema]:
    """Return the part itself, or its alternatives."""
    return list(part.get("anyOf", [part]))


def _resolved(part: Schema, file: str) -> tuple[str, Schema]:
    """Return the name that a reference has, and its content merged with the keywords next to it. A part without a
    reference has no name."""
    reference = str(part.get("$ref", ""))
    if not reference:
        return "", part
    target, _, pointer = reference.partition("#")
    other = target.removesuffix(".json") or file
    name = pointer.rpartition("/")[2] or other
    return name, at_pointer(schema(other), pointer) | part


def _takes(part: Schema, file: str) -> str:
    """Describe the values of a field in a few words."""
    name, content = _resolved(part, file)
    if name and "properties" in content:
        return name.replace("-", " ").replace("_", " ")
    if "const" in content:
        return _literal(content["const"])
    if "enum" in content:
        return ", ".join(_literal(value) for value in content["enum"])
    if "anyOf" in content:
        return " or ".join(dict.fromkeys(_takes(each, file) for each in content["anyOf"]))
    types = content.get("type", ())
    kinds = [types] if isinstance(types, str) else types
    if "x-must-be" in content:
        return str(content["x-must-be"]) + (" or null" if "null" in kinds else "")
    return " or ".join(_kind(one, content, file) for one in kinds) or "any"


def _kind(type_: str, part: Schema, file: str) -> str:
    if type_ == "array":
        return f"list of {_takes(part['items'], file)}"
    if type_ == "object" and isinstance(part.get("additionalProperties"), dict):
        return f"object, each value: {_takes(part['additionalProperties'], file)}"
    return type_


def _literal(value: object) -> str:
    return "empty" if value == "" else "null" if value is None else f"`{value}`"


def _meaning(part: Schema, file: str) -> str:
    _, content = _resolved(part, file)
    return str(content.get("description", "")) + "".join(f" {one}." for one in _bounds(content))


def _bounds(part: Schema) -> Iterator[str]:
    if "maxLength" in part and str(part["maxLength"]) not in part.get("x-must-be", ""):
        yield f"At most {part['maxLength']} characters"
    if "maxItems" in part:
        yield f"At most {part['maxItems']} items"
    if "minimum" in part and "maximum" in part:
        yield f"From {part['minimum']} to {part['maximum']}"
