"""What a request of a collection says: the contract's example, or a value that its schema admits.

`{{name}}` stands for a variable of the collection. A parameter or member that a run knows better than any example does,
such as a refid that must be new or the product that is sold, is such a variable, whatever the contract's example says.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# By the name of a parameter or member, in whichever request it stands.
KNOWN: Mapping[str, Any] = {
    "refid": "{{refid}}",
    "trxid": "{{trxid}}",
    "job_ids": ["{{jobId}}"],
    "date": "{{today}}",
    "product": "{{product}}",
    "product_code": "{{product}}",
    "field_id": "{{field_id}}",
    "account": "{{account}}",
    "account_number": "{{account}}",
    "amount": "{{amount}}",
    "url": "{{callback_url}}",
    "method": "{{callback_method}}",
    "username": "{{username}}",
    "password": "{{password}}",
    "refresh_token": "{{refresh_token}}",
}
# Members that must be new in each request whose body requires them.
_NEW: Mapping[str, Any] = {"refid": "{{new_refid}}"}
# Names of parameters in a path that say nothing without the segment before them.
_UNSPECIFIC = ("code", "id", "n", "name")

_Object = Mapping[str, Any]


def resolved(document: _Object, part: Any) -> Any:
    """What a reference into the document names, under the members beside it; anything else as it is."""
    while isinstance(part, Mapping) and "$ref" in part:
        found: Any = document
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        part = {**found, **{key: value for key, value in part.items() if key != "$ref"}}
    return part


def parameter(document: _Object, described: _Object) -> str:
    """The value of a parameter of a query or header, as text."""
    name = described["name"]
    value = KNOWN[name] if name in KNOWN else _example(document, described)
    if value is None:
        value = _sample(document, described.get("schema", {}))
    return str(value).lower() if isinstance(value, bool) else str(value)


def body(document: _Object, content: _Object) -> Any:
    """A body of this content of a media type: its example with what a run knows, or the members that are required."""
    shape = resolved(document, content.get("schema", {}))
    value = _example(document, content)
    value = _sample(document, shape) if value is None else value
    if not isinstance(value, Mapping):
        return value
    known = {**KNOWN, **{name: _NEW[name] for name in shape.get("required", ()) if name in _NEW}}
    return {name: known.get(name, member) for name, member in value.items()}


def path(template: str) -> str:
    """A path whose parameters are variables; `/resellers/{code}` has `{{reseller_code}}`."""
    return re.sub(r"([^/]+)/\{(\w+)\}", lambda found: f"{found[1]}/{{{{{_variable(found[1], found[2])}}}}}", template)


def _variable(segment: str, name: str) -> str:
    if name not in _UNSPECIFIC:
        return name
    singular = re.sub(r"ies$", "y", segment).removesuffix("s")
    return f"{singular.replace('-', '_')}_{name}"


def _example(document: _Object, described: _Object) -> Any:
    """The first example of a parameter, a content or a schema; None when there is none."""
    if "example" in described:
        return described["example"]
    match described.get("examples"):
        case [first, *_]:
            return first
        case Mapping() as named if named:
            return resolved(document, next(iter(named.values()))).get("value")
    shape = described.get("schema")
    return _example(document, resolved(document, shape)) if shape is not None else None


def _sample(document: _Object, schema: _Object) -> Any:
    """A value that the schema admits as far as its keywords say so simply; of objects, the required members."""
    schema = resolved(document, schema)
    if (value := _example(document, schema)) is not None:
        return value
    for choice in ([schema.get("const")], schema.get("enum", ()), [schema.get("default")]):
        if choice and choice[0] is not None:
            return choice[0]
    if "properties" in schema or "required" in schema:
        return _members(document, schema)
    for variants in (schema.get("anyOf"), schema.get("oneOf"), schema.get("allOf")):
        if variants:
            return _sample(document, variants[0])
    return _of_type(document, schema)


def _members(document: _Object, schema: _Object) -> dict[str, Any]:
    branches: Sequence[_Object] = schema.get("anyOf") or schema.get("oneOf") or ({},)
    wanted = {*schema.get("required", ()), *resolved(document, branches[0]).get("required", ())}
    members = schema.get("properties", {})
    return {
        name: KNOWN[name] if name in KNOWN else _sample(document, members.get(name, {}))
        for name in [*(name for name in members if name in wanted), *sorted(wanted - set(members))]
    }


def _of_type(document: _Object, schema: _Object) -> Any:
    kind = schema.get("type", "string")
    match kind if isinstance(kind, str) else kind[0]:
        case "object":
            return {}
        case "array":
            return [_sample(document, schema.get("items", {}))]
        case "boolean":
            return True
        case "number" | "integer":
            return schema.get("minimum", 1)
    return "1" if "pattern" in schema else "text"
