"""The schema files of `contracts/schemas`, by name and by URI, and compiled validators."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from simulator.contract.files import data_dir

if TYPE_CHECKING:
    import jsonschema_rs

BASE_URI = "https://reseller-sim.invalid/"
_SCHEMAS_URI = BASE_URI + "schemas/"

SCENARIO = "scenario.schema"
"""The schema of scenario files, which is of draft 7 and stands beside the folder of the others."""

Schema = dict[str, Any]


@cache
def names() -> tuple[str, ...]:
    """Every schema's name, sorted."""
    return tuple(sorted(path.stem for path in (data_dir("contracts") / "schemas").glob("*.json")))


@cache
def schema(name: str) -> Schema:
    """A schema as loaded. Do not modify it. Raises `KeyError` for an unknown name."""
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


def resolved(name: str, part: Schema) -> Schema:
    """A part of the schema `name`, with what it refers to in place of the reference; its own words take precedence."""
    if "$ref" not in part:
        return part
    file, _, pointer = part["$ref"].partition("#")
    name = _name_of(file) or name
    own = {key: value for key, value in part.items() if key != "$ref"}
    return resolved(name, at_pointer(schema(name), pointer)) | own


def compiled(source: Schema) -> "jsonschema_rs.Draft202012Validator":
    """A validator for a schema whose references are relative to `BASE_URI` or to its own `$id`."""
    import jsonschema_rs  # imported lazily: it takes 60 ms

    # Formats make a validator a fifth slower, even where the schema has none.
    has_formats = _names_format(source)
    return jsonschema_rs.Draft202012Validator(
        source,
        base_uri=None if "$id" in source else BASE_URI,
        retriever=lambda uri: schema(_name_of(uri)),
        formats={"ip-network": _is_ip_network} if has_formats else None,
        validate_formats=has_formats,
        pattern_options=jsonschema_rs.RegexOptions(),  # the engine that runs in linear time
    )


def _name_of(uri: str) -> str:
    return uri.partition("#")[0].removeprefix(_SCHEMAS_URI).removeprefix(BASE_URI).removesuffix(".json")


def _names_format(part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(part.get("format"), str) or any(map(_names_format, part.values()))
    return isinstance(part, list) and any(map(_names_format, part))


def _is_ip_network(text: str) -> bool:
    from ipaddress import ip_network

    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True
