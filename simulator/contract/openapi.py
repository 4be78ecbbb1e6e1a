"""The OpenAPI documents of `contracts/`: loaded, and bundled into one object with their schemas."""

from functools import cache
from typing import Any

from simulator.contract.files import data_dir
from simulator.contract.schemas import Schema, schema

OPENAPI = "openapi"  # the reseller API
CONTROL = "control"  # the control API under /_sim


@cache
def load(document: str) -> dict[str, Any]:
    """`contracts/DOCUMENT.yaml` with unresolved references. Do not modify the result."""
    import yaml  # imported lazily

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (data_dir("contracts") / f"{document}.yaml").read_bytes()
    loaded: dict[str, Any] = yaml.load(text, loader)  # noqa: S506  # both are safe loaders
    return loaded


@cache
def bundled(document: str = OPENAPI) -> dict[str, Any]:
    """The document as one self-contained JSON object, with the schema files in its components. Do not modify it."""
    inlined: dict[str, Schema] = {}
    waiting: set[str] = set()
    whole: dict[str, Any] = _rebased(load(document), "", waiting)
    while waiting:
        name = waiting.pop()
        if name not in inlined:
            own = {key: value for key, value in schema(name).items() if key not in ("$schema", "$id")}
            inlined[name] = _rebased(own, name, waiting)
    components = {"schemas": {_component(name): inlined[name] for name in sorted(inlined)}}
    return whole | {"components": components | whole.get("components", {})}


def _rebased(part: Any, within: str, waiting: set[str]) -> Any:
    """A copy whose references point into the bundle; adds the schema files that it references to `waiting`."""
    if isinstance(part, list):
        return [_rebased(each, within, waiting) for each in part]
    if not isinstance(part, dict):
        return part
    copy = {key: _rebased(value, within, waiting) for key, value in part.items()}
    if isinstance(part.get("$ref"), str):
        copy["$ref"] = _rebased_ref(part["$ref"], within, waiting)
    return copy


def _rebased_ref(ref: str, within: str, waiting: set[str]) -> str:
    file, _, pointer = ref.partition("#")
    if not file and not within:
        return ref
    name = file.removeprefix("schemas/").removesuffix(".json") if file else within
    waiting.add(name)
    return f"#/components/schemas/{_component(name)}{pointer}"


def _component(name: str) -> str:
    """The component name for code generators: `payment-result` becomes `PaymentResult`."""
    return "".join(word.capitalize() for word in name.split("-"))
