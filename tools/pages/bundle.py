"""Render `contracts/served`: each OpenAPI document as one object with its schemas, for servers and code generators."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeGuard

from simulator.contract.files import data_dir
from simulator.contract.openapi import CONTROL, METHODS, load
from simulator.contract.schemas import SCENARIO, Schema, at_pointer, schema

_ANNOTATIONS = {"description", "title", "deprecated", "default", "examples", "x-must-be"}
"""Keywords that describe a value without restricting it."""


def as_json(document: str) -> str:
    """Return the bundle of a document as a file."""
    return json.dumps(bundle(document), indent=1, ensure_ascii=False) + "\n"


@cache
def bundle(document: str) -> dict[str, Any]:
    """Return the document as one self-contained JSON object, with the schema files in its components. Do not modify it.

    Each part that a reference names becomes a component, since code generators follow no reference into another schema:
    each schema file, and each of its definitions. A single property that is referred to is copied, and so is what a
    reference with conditions beside it names, since code generators read the reference alone; with properties beside it
    it becomes an `allOf`, so that neither hides the other's. A choice between an object and other types is copied too,
    since a generator names what is within it after the component, twice in a class with two such members. A
    `discriminator` gets the `mapping` of values to components, which a schema file has no names for.

    Generators also know no link with an object as its body, which becomes `x-request-body`, and no map of references to
    lists, whose values are copied; `with_types` gives each schema one type.

    A schema with `x-published` is published as that: the server checks some members in two steps, the first by this
    schema and the second as it reads a scenario file, so its messages match those for a file. Values that a payment
    refuses by a status code of its own, such as an extra that is no text, are published as they should be sent.
    """
    components: dict[str, Schema] = {}
    waiting: set[_Part] = set()
    done: set[_Part] = set()
    whole: dict[str, Any] = _rebased(load(document), "", waiting)
    while waiting:
        part = waiting.pop()
        if part not in done:
            done.add(part)
            assert part.component not in components, f"two parts are called {part.component}"
            components[part.component] = _rebased(part.schema, part.file, waiting)
    schemas = {"schemas": {name: components[name] for name in sorted(components)}}
    whole |= {"components": schemas | whole.get("components", {})}
    if document == CONTROL:
        _add_request_ids(whole)
    add_examples(whole, document)
    return whole


def _add_request_ids(whole: dict[str, Any]) -> None:
    """Put the header that every answer under /_sim has into each response."""
    responses = [*whole["components"]["responses"].values()]
    for operation in _operations({"paths": {path: item for path, item in whole["paths"].items() if "/_sim" in path}}):
        responses += [response for response in operation["responses"].values() if "$ref" not in response]
    for response in responses:
        response.setdefault("headers", {})["X-Sim-Request-Id"] = {"$ref": "#/components/headers/X-Sim-Request-Id"}


_OF_FILES = ("$schema", "$id", "$defs", "definitions")


def _definitions_of(file: str) -> str:
    """The schema of scenarios uses draft 7, which has another name for them."""
    return "definitions" if file == SCENARIO else "$defs"


class _Part(NamedTuple):
    """A component of the bundle: a schema file, or one of its definitions."""

    file: str
    definition: str = ""
    is_object: bool = False

    @property
    def component(self) -> str:
        """Return its name: `PaymentResult` of payment-result.json, `CatalogProduct` of `product` in
        catalog-answer.json."""
        if self.is_object:
            return f"{_Part(self.file, self.definition).component}Object"
        words = self.file.removesuffix(".schema").split("-")
        if self.definition:
            subject = words[:-1] if words[-1] in ("answer", "query", "request") else words
            words = [*subject, *self.definition.split("_")]
        return "".join(word.capitalize() for word in words)

    @property
    def is_choice(self) -> bool:
        """Return whether it is a definition that admits objects and something else."""
        return bool(self.definition) and not self.is_object and bool(other_types(self.schema))

    @property
    def reference(self) -> Schema:
        """Return a reference to the schema."""
        return {"$ref": f"#/components/schemas/{self.component}"}

    @property
    def schema(self) -> Schema:
        """Return the schema, without the keywords of a file."""
        source = schema(self.file)
        if self.definition:
            found: Schema = source[_definitions_of(self.file)][self.definition]
            return of_type(found, "object") if self.is_object else found
        return {key: value for key, value in source.items() if key not in _OF_FILES}


def _choice(part: _Part, waiting: set[_Part]) -> Schema:
    """A part that may be an object or something else. Its object is a component, since it may refer to the whole."""
    alternatives = [_rebased(of_type(part.schema, one), part.file, waiting) for one in other_types(part.schema)]
    named = _Part(part.file, part.definition, is_object=True)
    waiting.add(named)
    whole = {key: part.schema[key] for key in OF_ANY_TYPE if key in part.schema}
    return whole | {"anyOf": [*alternatives, named.reference]}


def _rebased(part: Any, within: str, waiting: set[_Part]) -> Any:
    """Return a copy whose references point into the bundle. The referenced parts are added to `waiting`."""
    if isinstance(part, list):
        return [_rebased(each, within, waiting) for each in part]
    if not isinstance(part, dict):
        return part
    if "x-published" in part:
        return _rebased(part["x-published"], within, waiting)
    source = with_types(part)
    if _leads_to_list(values := part.get("additionalProperties"), within):
        source = source | {"additionalProperties": _part(values["$ref"], within).schema | _beside(values)}
    copy = {key: _rebased(value, within, waiting) for key, value in source.items()}
    if isinstance(ref := part.get("$ref"), str):
        del copy["$ref"]
        if "properties" in copy:
            return {"allOf": [_resolved(ref, within, waiting, copied=False)]} | copy
        named = _resolved(ref, within, waiting, copied=not copy.keys() <= _ANNOTATIONS)
        twice = named.keys() & copy.keys() - _ANNOTATIONS
        assert not twice, f"{ref} and what stands beside it both say {twice}"
        return named | copy
    if _is_link(part):
        copy["x-request-body"] = copy.pop("requestBody")
    if isinstance(part.get("discriminator"), dict):
        copy["discriminator"] = part["discriminator"] | {"mapping": _mapping(part, copy, within)}
    return copy


def _part(ref: str, within: str) -> _Part:
    """Return the part that a reference in the file `within` names."""
    file, _, pointer = ref.partition("#")
    name = file.removeprefix("../").removeprefix("schemas/").removesuffix(".json") if file else within
    kind, _, rest = pointer.removeprefix("/").partition("/")
    return _Part(name, rest if kind == _definitions_of(name) else "")


def _leads_to_list(values: Any, within: str) -> TypeGuard[Schema]:
    """Return whether the values of a map are a list of a component, which generators take for a list of anything."""
    if not isinstance(values, dict) or "$ref" not in values:
        return False
    part = _part(values["$ref"], within)
    return part.file == within and part.schema.get("type") == "array"


def _beside(part: Schema) -> Schema:
    return {key: value for key, value in part.items() if key != "$ref"}


def _is_link(part: Schema) -> bool:
    """Return whether it is a link with a body of more than one expression."""
    return "operationId" in part and "responses" not in part and isinstance(part.get("requestBody"), dict)


def _mapping(part: Schema, copy: Schema, within: str) -> dict[str, str]:
    """Return the component of each value of the member that discriminates the alternatives of `part`, which are
    definitions of the file `within`."""
    member = part["discriminator"]["propertyName"]
    found = [at_pointer(schema(within), each["$ref"].removeprefix("#")) for each in part["oneOf"]]
    values = [one["properties"][member]["const"] for one in found]
    return {value: each["$ref"] for value, each in zip(values, copy["oneOf"], strict=True)}


def _resolved(ref: str, within: str, waiting: set[_Part], *, copied: bool) -> dict[str, Any]:
    """Return a reference to a component, or a copy of what it names."""
    if ref.startswith("#") and not within:
        return {"$ref": ref}
    part, pointer = _part(ref, within), ref.partition("#")[2]
    is_property = pointer.startswith("/properties/")
    if copied or is_property:
        named = at_pointer(schema(part.file), pointer) if is_property else part.schema
        copy: dict[str, Any] = _rebased(named, part.file, waiting)
        return copy
    published = part.schema.get("x-published")
    if published and set(published) == {"$ref"}:
        return _resolved(published["$ref"], part.file, waiting, copied=False)
    if part.is_choice:
        return _choice(part, waiting)
    waiting.add(part)
    return part.reference


# Schemas in a form that code generators understand: a named schema for each type. They accept the same values.

OF_ANY_TYPE = ("description", "default", "examples", "x-must-be")
"""Keywords that apply to values of every type."""

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
    """Return the types that a schema admits besides objects; empty if it admits only objects or no objects."""
    types = source.get("type", [])
    return [one for one in types if one != "object"] if isinstance(types, list) and "object" in types else []


def of_type(source: Schema, type_: str) -> Schema:
    """Return the part of a schema that applies to values of this type."""
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


# Examples of requests and responses, as they were played: `contracts/examples.json`


def add_examples(whole: dict[str, Any], document: str) -> None:
    """Put the examples of a document into its bundle, if it has any: of parameters, bodies, and responses."""
    played = _played().get(document, {"operations": {}, "responses": {}, "parameters": {}})
    for operation in _operations(whole):
        _add_to_operation(operation, played["operations"].get(operation["operationId"], {}))
    for kind in ("responses", "parameters"):
        for name, example in played[kind].items():
            _add_to_content(whole["components"][kind][name], example)


def _add_to_operation(operation: dict[str, Any], example: Mapping[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter.get("name") in example.get("parameters", {}):
            _add_to_content(parameter, example["parameters"][parameter["name"]])
    for type_, media in operation.get("requestBody", {}).get("content", {}).items():
        name = "yaml" if type_ == "application/yaml" else "body"
        if name in example and type_ != "application/octet-stream":
            media["example"] = example[name]
    for status, response in operation["responses"].items():
        if status in example.get("responses", {}):
            _add_to_content(response, example["responses"][status])


def _add_to_content(part: dict[str, Any], example: Any) -> None:
    """To a parameter itself, or to the content that a parameter or response has.

    The example of an optional parameter goes to its schema, unless the contract itself has an example: pages that send
    requests fill in a parameter's own example, and what a story sent with a rule of its own makes such a request fail.
    """
    if "content" not in part and part.get("required"):
        part["example"] = example
    elif "content" not in part and "example" not in part:
        part["schema"].setdefault("examples", [example])
    for media in part.get("content", {}).values():
        media["example"] = example


def _operations(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for item in whole["paths"].values():
        for operation in (item[method] for method in METHODS if method in item):
            yield operation
            for callback in operation.get("callbacks", {}).values():
                yield from _operations({"paths": callback})


@cache
def _played() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data_dir("contracts") / "examples.json").read_bytes())
    return found
