"""The OpenAPI documents of `contracts/`: loaded, and bundled into one object with their schemas."""

from functools import cache
from typing import Any, NamedTuple

from simulator.contract.files import data_dir
from simulator.contract.schemas import Schema, at_pointer, schema

OPENAPI = "openapi"  # the reseller API
CONTROL = "control"  # the control API under /_sim

_ANNOTATIONS = {"description", "title", "deprecated", "default", "examples"}
"""Keywords that say something about a value and want nothing of it."""


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
    """The document as one self-contained JSON object, with the schema files in its components. Do not modify it.

    What a reference names is a component of its own, since code generators follow no reference into another schema:
    each schema file, and each of its `$defs`. A single property that is referred to is copied, and so is what a
    reference with conditions beside it names, since code generators read the reference alone; with properties beside it
    it becomes an `allOf`, so that neither hides the other's.
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
    return whole | {"components": schemas | whole.get("components", {})}


class _Part(NamedTuple):
    """A component of the bundle: a schema file, or one of its definitions."""

    file: str
    definition: str = ""

    @property
    def component(self) -> str:
        """Its name: `PaymentResult` of payment-result.json, `CatalogProduct` of `product` in catalog-answer.json."""
        words = self.file.split("-")
        if self.definition:
            subject = words[:-1] if words[-1] in ("answer", "query", "request") else words
            words = [*subject, *self.definition.split("_")]
        return "".join(word.capitalize() for word in words)

    @property
    def schema(self) -> Schema:
        """What stands there, without what only a file has."""
        source = schema(self.file)
        if self.definition:
            return source["$defs"][self.definition]  # type: ignore[no-any-return]
        return {key: value for key, value in source.items() if key not in ("$schema", "$id", "$defs")}


def _rebased(part: Any, within: str, waiting: set[_Part]) -> Any:
    """A copy whose references point into the bundle; adds the parts that it references to `waiting`."""
    if isinstance(part, list):
        return [_rebased(each, within, waiting) for each in part]
    if not isinstance(part, dict):
        return part
    copy = {key: _rebased(value, within, waiting) for key, value in part.items()}
    if isinstance(ref := part.get("$ref"), str):
        del copy["$ref"]
        if "properties" in copy:
            return {"allOf": [_resolved(ref, within, waiting, copied=False)]} | copy
        named = _resolved(ref, within, waiting, copied=not copy.keys() <= _ANNOTATIONS)
        twice = named.keys() & copy.keys() - _ANNOTATIONS
        assert not twice, f"{ref} and what stands beside it both say {twice}"
        return named | copy
    return copy


def _resolved(ref: str, within: str, waiting: set[_Part], *, copied: bool) -> dict[str, Any]:
    """A reference to a component, or a copy of what it names."""
    file, _, pointer = ref.partition("#")
    if not file and not within:
        return {"$ref": ref}
    name = file.removeprefix("schemas/").removesuffix(".json") if file else within
    kind, _, rest = pointer.removeprefix("/").partition("/")
    part = _Part(name, rest if kind == "$defs" else "")
    if copied or kind == "properties":
        named = at_pointer(schema(name), pointer) if kind == "properties" else part.schema
        copy: dict[str, Any] = _rebased(named, name, waiting)
        return copy
    waiting.add(part)
    return {"$ref": f"#/components/schemas/{part.component}"}
