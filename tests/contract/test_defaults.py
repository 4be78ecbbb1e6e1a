"""A default is a valid value: generated clients send it with every request."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.schemas import SCENARIO, compiled, names, resolved, schema
from simulator.runtime.sandboxes import is_sandbox_id
from tests.support.broken_receivers import silent
from tests.support.proxies import parts as parts_of
from tests.support.proxies import proxied

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
    """Yield the schemas of a member within a condition."""
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


def parameters(document: str, path: str, method: str) -> Iterator[Part]:
    """Yield the parameters of an operation, including components."""
    whole = bundled(document)
    for one in (*whole["paths"][path].get("parameters", ()), *whole["paths"][path][method].get("parameters", ())):
        yield whole["components"]["parameters"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one


def operations(document: str) -> list[tuple[str, str]]:
    """All paths and methods."""
    methods = ("get", "post", "put", "patch", "delete")
    return [(path, each) for path, item in bundled(document)["paths"].items() for each in methods if each in item]


@pytest.mark.parametrize("document", [OPENAPI, CONTROL, PROXY])
def test_a_parameter_allows_its_default(document: str) -> None:
    for path, method in operations(document):
        for one in parameters(document, path, method):
            wanted = one.get("schema", {})
            if "default" in wanted:
                checked = wanted | {"components": bundled(document)["components"]}
                assert compiled(checked).is_valid(wanted["default"]), (path, method, one["name"])


def test_the_proxy_takes_the_defaults_of_its_parameters_together() -> None:
    async def main() -> int:
        sent = 0
        async with proxied(silent) as one:
            for path, method in operations(PROXY):
                asked = {each["name"]: each["schema"]["default"] for each in parameters(PROXY, path, method)
                         if each["in"] == "query" and "default" in each["schema"]}  # fmt: skip
                if asked:
                    target = quote(path.replace("{sandbox}", "default").replace("{trxid}", "T1"), safe="/")
                    line = f"{method.upper()} {target}?{urlencode(asked)} HTTP/1.1"
                    answer = await one.raw(f"{line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
                    assert parts_of(answer)[0] in (200, 404), answer
                    sent += 1
        return sent

    assert asyncio.run(main()) >= 4


def test_the_ids_that_a_sandbox_may_have_match_the_contract() -> None:
    wanted = compiled(schema("sandbox-request")["properties"]["id"])
    for text in ("a", "a-b_9", "a" * 64, "a" * 65, "", "a.b", ".", "-a", "_a", "9", "a b", "\u0430", "a\n"):
        assert wanted.is_valid(text) == is_sandbox_id(text), text
