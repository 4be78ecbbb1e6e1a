"""The schema files of `contracts/schemas`, by name and by URI, and compiled validators."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from simulator.contract.files import data_dir

if TYPE_CHECKING:
    import jsonschema_rs

BASE_URI = "https://reseller-sim.invalid/"

SCENARIO = "scenario.schema"
"""The schema of scenario files, which uses draft 7 and is not in the folder of the other schemas."""

Schema = dict[str, Any]


@cache
def names() -> tuple[str, ...]:
    """Return every schema's name, sorted."""
    return tuple(sorted(path.stem for path in (data_dir("contracts") / "schemas").glob("*.json")))


@cache
def schema(name: str) -> Schema:
    """Return a schema as loaded. Do not modify it. Raises `KeyError` for an unknown name."""
    path = data_dir("contracts") / ("" if name == SCENARIO else "schemas") / f"{name}.json"
    if not path.is_file():
        raise KeyError(f"contracts/schemas has no {name}.json")
    loaded: Schema = json.loads(path.read_bytes())
    return loaded


def schema_at(uri: str) -> Any:
    """Resolve a URI below `BASE_URI`, with a JSON pointer as its fragment."""
    document, _, pointer = uri.partition("#")
    return at_pointer(schema(_name_of(document)), pointer)


def at_pointer(document: Any, pointer: str) -> Any:
    """Resolve a JSON pointer such as `/a/0`. Raises `LookupError`."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def resolved_in(document: Any, part: Any) -> Any:
    """Resolve a reference into the document; members beside it win. Return anything else unchanged."""
    while isinstance(part, dict) and "$ref" in part:
        found = at_pointer(document, part["$ref"].removeprefix("#"))
        part = found | {key: value for key, value in part.items() if key != "$ref"}
    return part


def resolved(name: str, part: Schema) -> Schema:
    """Return a part of the schema `name`, with its reference replaced by the schema that it names; its own keywords
    take precedence."""
    if "$ref" not in part:
        return part
    file, _, pointer = part["$ref"].partition("#")
    name = _name_of(file) or name
    own = {key: value for key, value in part.items() if key != "$ref"}
    return resolved(name, at_pointer(schema(name), pointer)) | own


def compiled(source: Schema) -> "jsonschema_rs.Draft202012Validator":
    """Return a validator for a schema whose references are relative to `BASE_URI` or to its own `$id`."""
    import jsonschema_rs  # imported lazily: it takes 60 ms

    # Formats make a validator a fifth slower, even for a schema without formats.
    has_formats = _names_format(source, set())
    return jsonschema_rs.Draft202012Validator(
        source,
        base_uri=None if "$id" in source else BASE_URI,
        retriever=lambda uri: schema(_name_of(uri)),
        formats={"ip-network": _is_ip_network} if has_formats else None,
        validate_formats=has_formats,
        pattern_options=jsonschema_rs.RegexOptions(),  # the engine that runs in linear time
    )


def _name_of(uri: str) -> str:
    """Return the schema that a URI leads to, or a reference in a schema or in a document of `contracts/`."""
    return uri.partition("#")[0].rpartition("/")[2].removesuffix(".json")


def _names_format(part: Any, seen: set[str]) -> bool:
    """Return whether a part of a schema, or a file that it refers to, has a `format`."""
    if isinstance(part, list):
        return any(_names_format(each, seen) for each in part)
    if not isinstance(part, dict):
        return False
    if isinstance(part.get("format"), str) or any(_names_format(each, seen) for each in part.values()):
        return True
    file = _name_of(part["$ref"]) if isinstance(part.get("$ref"), str) else ""
    if not file or file in seen:
        return False
    seen.add(file)
    return _names_format(schema(file), seen)


def _is_ip_network(text: str) -> bool:
    from ipaddress import ip_network

    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def published(part: Any) -> Any:
    """Return a part of a schema without the keywords that only our validator knows."""
    if isinstance(part, dict):
        return {key: published(value) for key, value in part.items() if not key.startswith("x-")}
    return [published(each) for each in part] if isinstance(part, list) else part
