"""The published schemas: rules and scenarios typed, arrays with items, values with types, all as validated."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from simulator.contract.schemas import compiled
from simulator.scenario.library import names, scenario_from_object
from simulator.scenario.reading.schema_check import schema as scenario_schema
from tools.pages.bundle import of_type, other_types, with_types

DOCUMENTS = (OPENAPI, CONTROL)
SECTIONS = {"payments": "Payment", "voids": "Void", "disputes": "Dispute", "bills": "Bill", "faults": "Fault"}
OF_ONE = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else")
OF_SEVERAL = ("anyOf", "oneOf", "allOf")
BY_NAME = ("properties", "$defs", "definitions", "patternProperties")


def components() -> dict[str, Any]:
    found: dict[str, Any] = bundled(CONTROL)["components"]["schemas"]
    return found


def judges(component: str) -> jsonschema_rs.Draft202012Validator:
    whole = {"$ref": f"#/components/schemas/{component}", "components": bundled(CONTROL)["components"]}
    return jsonschema_rs.Draft202012Validator(whole)


def schema_parts(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and every schema in it, each with its JSON pointer."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for key in OF_ONE:
        yield from schema_parts(schema.get(key), f"{pointer}/{key}")
    for key in OF_SEVERAL:
        for index, part in enumerate(schema.get(key, ())):
            yield from schema_parts(part, f"{pointer}/{key}/{index}")
    for key in BY_NAME:
        for name, part in schema.get(key, {}).items():
            yield from schema_parts(part, f"{pointer}/{key}/{name}")


def all_schemas(document: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in bundled(document)["components"]["schemas"].items():
        for pointer, part in schema_parts(schema):
            yield f"{name}{pointer}", part


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_array_says_what_its_items_are(document: str) -> None:
    arrays = [(place, part) for place, part in all_schemas(document) if "array" in str(part.get("type", ""))]
    assert arrays
    assert [place for place, part in arrays if "items" not in part] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_enumeration_has_the_type_of_its_values(document: str) -> None:
    assert [place for place, part in all_schemas(document) if "enum" in part and "type" not in part] == []


def test_rules_are_typed_by_the_scenario_schema() -> None:
    assert {each["$ref"] for each in components()["RuleRequest"]["oneOf"]} == {
        f"#/components/schemas/RuleOf{section.capitalize()}" for section in SECTIONS
    }
    for section, kind in SECTIONS.items():
        members = components()[f"RuleOf{section.capitalize()}"]["properties"]
        assert members["section"]["const"] == section
        assert members["rule"]["$ref"] == f"#/components/schemas/Scenario{kind}Rule"


def test_scenarios_and_changes_are_typed_by_the_scenario_schema() -> None:
    choice = components()["SandboxRequest"]["properties"]["scenario"]["anyOf"]
    assert {"$ref": "#/components/schemas/Scenario"} in choice
    bodies = {
        "post /_sim/sandboxes/{sandbox}/resellers": "ScenarioReseller",
        "patch /_sim/sandboxes/{sandbox}/catalog/products/{code}": "ScenarioProductChanges",
        "patch /_sim/sandboxes/{sandbox}/catalog/categories/{id}": "ScenarioCategoryChanges",
        "patch /_sim/sandboxes/{sandbox}/catalog/groups/{id}": "ScenarioGroupChanges",
    }
    for endpoint, component in bodies.items():
        method, path = endpoint.split()
        body = bundled(CONTROL)["paths"][path][method]["requestBody"]
        assert body["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{component}"}


def test_a_rule_is_published_with_its_section() -> None:
    checker = judges("RuleRequest")
    succeeds = {"then": [{"status": "Succesful"}]}
    assert checker.is_valid({"section": "payments", "rule": succeeds})
    assert not checker.is_valid({"section": "voids", "rule": succeeds})
    assert not checker.is_valid({"section": "payments", "rule": {"when": {}}})


@pytest.mark.parametrize("name", names())
def test_each_bundled_scenario_is_one_by_the_published_schema(name: str) -> None:
    checker = judges("Scenario")
    assert checker.is_valid({"extends": name})
    assert not checker.is_valid({"extends": name, "payment": []})
    scenario_from_object({"extends": name})


def test_every_definition_of_scenarios_is_published() -> None:
    published = {name for name in components() if name.startswith("Scenario")}
    for name, definition in scenario_schema()["definitions"].items():
        word = "".join(word.capitalize() for word in name.split("_"))
        if name == "timeline":  # the list that the values of a map are: copied there, for generators
            continue
        # One that may be an object or something else is copied where it is used, but for its object.
        assert f"Scenario{word}{'Object' if other_types(definition) else ''}" in published


def test_a_schema_of_several_types_is_taken_apart() -> None:
    source = {"description": "x", "type": ["string", "array", "object"], "pattern": "a", "minItems": 1, "items": {}}
    assert other_types(source) == ["string", "array"]
    assert of_type(source, "string") == {"description": "x", "type": "string", "pattern": "a"}
    assert of_type(source, "array") == {"description": "x", "type": "array", "items": {}, "minItems": 1}
    assert other_types({"type": ["string", "null"]}) == other_types({"type": "object"}) == []


@pytest.mark.parametrize(
    ("values", "typed"),
    [
        (["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (["a", None], {"type": ["string", "null"], "enum": ["a", None]}),
        ([True], {"type": "boolean", "not": {"const": False}}),
        (
            [True, "often"],
            {"anyOf": [{"type": "boolean", "not": {"const": False}}, {"type": "string", "enum": ["often"]}]},
        ),
    ],
)
def test_an_enumeration_gets_the_type_of_its_values(values: list[Any], typed: dict[str, Any]) -> None:
    assert with_types({"enum": values}) == typed


def _published(document: str, operation: str, member: str) -> dict[str, Any]:
    """Return the document's schema of a member of an operation's body, or of a parameter."""
    whole = bundled(document)
    (one,) = (
        each
        for path in whole["paths"].values()
        for each in path.values()
        if isinstance(each, dict) and each.get("operationId") == operation
    )
    for parameter in one.get("parameters", ()):
        if parameter.get("name") == member:
            return dict(parameter["schema"])
    body = one["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in body:
        body = whole["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    return dict(body["properties"][member])


@pytest.mark.parametrize(
    ("document", "operation", "member", "valid", "invalid"),
    [
        (CONTROL, "setClock", "rate", [0.01, 100_000], [0, 0.001, 100_001]),
        (
            CONTROL,
            "setClock",
            "now",
            ["2027-01-10T23:59:00+08:00", "2027-01-10T15:59Z"],
            ["2027-01-10", "1989-01-01T00:00Z"],
        ),
        (
            CONTROL,
            "advanceClock",
            "to",
            ["2027-01-10T15:59:00Z", "2200-01-01T00:00Z"],
            ["2027-01-10T15:59:00", "soon", "2200-01-02T00:00Z"],
        ),
        (CONTROL, "addDeposit", "amount", [1, 0.07, 10.5, "0.01", "500.00"], [0, "0.00", 0.001, "1.001", 1e15, "-1"]),
        (
            *(OPENAPI, "putBalanceWebhook", "url", ["https://shop.example/a?b=@", "http://[::1]:8080", "inbox:events"]),
            ["https://a\\b", "https://me@shop.example", "inbox:", "inbox:.a", "inbox:a b", "ftp://a"],
        ),
        (OPENAPI, "setCallbackUrl", "url", ["http://127.0.0.1:9000/cb"], ["http://a\\", "inbox:-", "http://"]),
        (OPENAPI, "listDeliveries", "from", ["2026-11-22", "2026-11-22T10:00:00Z", ""], ["22.11.2026", "2026-13-01"]),
    ],
    ids=str,
)
def test_a_document_says_which_values_are_refused(
    document: str, operation: str, member: str, valid: list[Any], invalid: list[Any]
) -> None:
    says = compiled(_published(document, operation, member))
    assert [value for value in valid if not says.is_valid(value)] == []
    assert [value for value in invalid if says.is_valid(value)] == []
