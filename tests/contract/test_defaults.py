"""A default is something that may be sent: generated clients send it with whatever else they send."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.schemas import SCENARIO, compiled, names, resolved, schema

CONDITIONAL = ("then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas")
Part = dict[str, Any]


def refused_defaults(name: str) -> Iterator[str]:
    """Members with a default that is refused beside another member, or may be: places in a schema, and why."""
    for where, part in parts(schema(name), name):
        for member, wanted in part.get("properties", {}).items():
            default = resolved(name, wanted).get("default") if isinstance(wanted, dict) else None
            if default is None:
                continue
            for keyword in CONDITIONAL:
                for other in conditions(part.get(keyword), member):
                    if not compiled(other).is_valid(default):
                        yield f"{where}.{member}: {keyword}"
            if part.get("maxProperties", len(part["properties"])) < len(part["properties"]):
                yield f"{where}.{member}: maxProperties"
            if any(member in one.get("required", ()) for one in alternatives(part)):
                yield f"{where}.{member}: required in an alternative"


def parts(part: Any, where: str) -> Iterator[tuple[str, Part]]:
    """A schema, and all schemas within it."""
    if isinstance(part, dict):
        yield where, part
        for key, one in part.items():
            yield from parts(one, f"{where}/{key}")
    elif isinstance(part, list):
        for number, one in enumerate(part):
            yield from parts(one, f"{where}/{number}")


def conditions(part: Any, member: str) -> Iterator[Any]:
    """What the schemas within a condition want of a member."""
    for _, one in parts(part, ""):
        if member in one.get("properties", {}):
            yield one["properties"][member]


def alternatives(part: Part) -> list[Part]:
    return [part.get("not", {}), *part.get("oneOf", ())]


@pytest.mark.parametrize("name", [*names(), SCENARIO])
def test_no_default_is_refused_beside_another_member(name: str) -> None:
    assert list(refused_defaults(name)) == []


def test_a_default_that_is_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = schema("sandbox-request")
    properties = whole["properties"] | {"audit": whole["properties"]["audit"] | {"default": True}}
    changed = {"sandbox-request": whole | {"properties": properties}}
    monkeypatch.setattr(f"{__name__}.schema", lambda name: changed[name])
    assert list(refused_defaults("sandbox-request")) == ["sandbox-request.audit: then"]
