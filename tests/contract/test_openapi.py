"""The OpenAPI documents: well-formed, connected, and nothing in them twice."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from simulator.contract import schemas
from simulator.contract.files import data_dir
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled, load
from simulator.contract.schemas import at_pointer, schema
from tests.support.contract_operations import METHODS, operations, operations_of
from tests.support.control_queries import PROXY_QUERIES, QUERIES
from tools.pages.bundle import NULL_ALONE, with_types

DOCUMENTS = (OPENAPI, CONTROL, PROXY)
COMPONENT_KEY = re.compile(r"[a-zA-Z0-9._-]+")

# Shapes that no document names, since they are only parts of others.
PARTS = {"text", "instant", "money", "payment-result"}

# Their parameters are in the document; some are written once for several lists.
OF_LISTS = {*QUERIES.values(), *PROXY_QUERIES.values()}


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from walk(each)


def resolved(whole: dict[str, Any], part: dict[str, Any]) -> Any:
    return at_pointer(whole, part["$ref"].removeprefix("#")) if "$ref" in part else part


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_has_the_parts_that_openapi_requires(document: str) -> None:
    whole = bundled(document)
    assert re.fullmatch(r"3\.1\.\d+", whole["openapi"])
    assert {"title", "version"} <= set(whole["info"])
    assert set(whole) <= {"openapi", "info", "servers", "security", "tags", "paths", "components"}
    assert all(server["url"] for server in whole["servers"])
    assert all(path.startswith("/") for path in whole["paths"])
    kinds = {"schemas", "responses", "parameters", "headers", "securitySchemes"}
    assert set(whole["components"]) <= kinds
    assert all(COMPONENT_KEY.fullmatch(key) for kind in kinds for key in whole["components"].get(kind, {}))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_tag_has_a_name_and_a_whole_sentence(document: str) -> None:
    for tag in bundled(document)["tags"]:
        assert set(tag) == {"name", "description"}, tag
        assert tag["description"].endswith("."), tag


@pytest.mark.parametrize("path", sorted(data_dir("contracts").glob("*.yaml")), ids=lambda path: path.name)
def test_a_comma_without_quotes_makes_no_member(path: Path) -> None:
    """YAML reads `{ text: One, two. }` as a member `two.` that is null."""
    members = {key for part in walk(yaml.safe_load(path.read_text("utf-8"))) for key in part if part[key] is None}
    assert members <= {"knob", "default", "example", "value"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_operation_is_whole(document: str) -> None:
    whole = bundled(document)
    tags = {tag["name"] for tag in whole["tags"]}
    schemes = set(whole["components"]["securitySchemes"])
    for path, method, operation, item in operations(document):
        where = f"{method} {path}"
        assert set(item) <= METHODS | {"parameters", "summary", "description"}, where
        assert operation["summary"], where
        assert set(operation["tags"]) <= tags, where
        assert operation["responses"], where
        assert all(set(need) <= schemes for need in operation.get("security", whole["security"])), where
        for status, response in operation["responses"].items():
            assert re.fullmatch(r"[1-5](\d\d|XX)", status), where
            assert resolved(whole, response)["description"], f"{where} {status}"
        of_har = {"type", "size"}  # which has something else under this name: its schema, its example
        for content in (each for each in walk(operation) if "content" in each and not of_har & set(each["content"])):
            others = {"application/x-www-form-urlencoded", "application/yaml"}
            others |= {"application/octet-stream"} if operation["operationId"] == "createSandbox" else set()
            whole_of_it = {"text/plain"} if path.endswith((".curl", "/metrics")) else {"application/json"}
            of_files = [{"application/octet-stream"}] if path.endswith("/tape") else []
            assert set(content["content"]) - others in (whole_of_it, {"text/event-stream"}, *of_files), where


@pytest.mark.parametrize("document", DOCUMENTS)
def test_operation_ids_are_unique(document: str) -> None:
    ids = Counter(operation["operationId"] for _, _, operation, _ in operations(document))
    assert max(ids.values()) == 1


@pytest.mark.parametrize("document", DOCUMENTS)
def test_parameters_are_complete_and_include_every_parameter_of_the_path(document: str) -> None:
    whole = bundled(document)
    for path, method, operation, item in operations(document):
        declared = [resolved(whole, each) for each in [*item.get("parameters", []), *operation.get("parameters", [])]]
        keys = [(each["in"], each["name"]) for each in declared]
        assert len(set(keys)) == len(keys), f"{method} {path}"
        assert {name for place, name in keys if place == "path"} == set(re.findall(r"\{(.*?)\}", path))
        for each in declared:
            assert each["in"] in ("query", "header", "path")
            assert each["description"], each["name"]
            assert ("schema" in each) != ("content" in each), each["name"]
            assert each["in"] != "path" or each["required"] is True, each["name"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_reference_of_a_bundle_leads_into_the_bundle(document: str) -> None:
    whole = bundled(document)
    refs = {part["$ref"] for part in walk(whole) if isinstance(part.get("$ref"), str)}
    assert refs
    for ref in refs:
        assert ref.startswith("#/"), ref
        assert isinstance(at_pointer(whole, ref.removeprefix("#")), dict), ref
        assert ref.count("/") == 3, f"{ref} points into the inside of a component, where code generators do not look"


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_bundle_is_json_and_its_schemas_validate(document: str) -> None:
    whole = json.loads(json.dumps(bundled(document)))
    for name, part in whole["components"]["schemas"].items():
        assert not {"$id", "$schema"} & set(part)
        jsonschema_rs.meta.validate(part)
        pointer = {"$ref": f"#/components/schemas/{name}", "components": whole["components"]}
        jsonschema_rs.Draft202012Validator(pointer)


def test_a_bundled_schema_judges_like_its_file() -> None:
    components = bundled()["components"]
    topup = jsonschema_rs.Draft202012Validator({"$ref": "#/components/schemas/TopupRequest", "components": components})
    body = {"refid": "r", "product": "P", "account": "1", "amount": 1}
    assert topup.is_valid(body)
    assert not topup.is_valid(body | {"refid": "a\0b"})
    assert not topup.is_valid(body | {"refid": "x" * 51})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_shape_is_written_in_a_document(document: str) -> None:
    """Schemas with members are in a schema file."""
    assert not [part for part in walk(load(document)) if "properties" in part or part.get("type") == "object"]


def test_every_schema_file_is_used() -> None:
    text = "".join((data_dir("contracts") / f"{document}.yaml").read_text("utf-8") for document in DOCUMENTS)
    used = set(re.findall(r"schemas/([a-z-]+)\.json", text))
    assert set(schemas.names()) - used - OF_LISTS == PARTS
    assert used <= set(schemas.names())


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_component_is_used(document: str) -> None:
    written = load(document)
    refs = {part["$ref"] for part in walk(bundled(document)) if isinstance(part.get("$ref"), str)}
    for kind in ("parameters", "headers", "responses"):
        for name in set(written["components"].get(kind, {})):
            assert f"#/components/{kind}/{name}" in refs, f"{document}: {kind}/{name}"


@pytest.mark.parametrize(("document", "queries"), [(CONTROL, QUERIES), (PROXY, PROXY_QUERIES)])
def test_a_query_under_sim_has_the_parameters_of_its_schema(document: str, queries: dict[Any, str]) -> None:
    whole = bundled(document)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path, method, operation, _ in operations(document):
        declared = [resolved(whole, each) for each in operation.get("parameters", [])]
        if query := {each["name"]: bare(whole, each["schema"]) for each in declared if each["in"] == "query"}:
            found[method, path] = query
    wanted = {endpoint: members(whole, name) for endpoint, name in queries.items()}
    if document == CONTROL:
        wanted["post", "/_sim/sandboxes"] |= members(whole, "sandbox-tape-query")
    assert found == wanted


def members(whole: dict[str, Any], name: str) -> dict[str, Any]:
    """The parameters of a schema by their names."""
    return {key: bare(whole, schemas.resolved(name, part)) for key, part in schema(name)["properties"].items()}


def bare(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema without its words and examples."""
    words = ("description", "x-must-be", "examples")
    return {key: value for key, value in resolved(whole, part).items() if key not in words}


@pytest.mark.parametrize("document", [OPENAPI, CONTROL, PROXY])
def test_choices_that_are_no_names_have_names_for_generators(document: str) -> None:
    """Numbers, nothing, and what begins with a digit: without names a client has members such as VALUE_2."""
    choices = [part for part in parts(bundled(document)) if isinstance(part.get("enum"), list)]
    nameless = [
        part
        for part in choices
        if any(not str(value)[:1].isalpha() or type(value) in (int, float) for value in part["enum"])
    ]
    assert nameless
    for part in nameless:
        names = part["x-enum-varnames"]
        assert len(set(names)) == len(part["enum"])
        assert all(re.fullmatch("[A-Z][A-Z_0-9]*", name) for name in names)


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield each object within a document, except conditions, since generators skip them."""
    if isinstance(value, dict):
        yield value
    below = [each for key, each in value.items() if key != "if"] if isinstance(value, dict) else value
    for each in below if isinstance(below, list) else ():
        yield from parts(each)


def test_the_reseller_api_of_this_version_is_complete() -> None:
    found = {(method, path) for path, method, _, _ in operations(OPENAPI) if path}
    assert found == {
        ("post", "/v2/token"),
        ("post", "/v2/token/refresh"),
        ("get", "/v2/product-list"),
        ("get", "/v2/subproducts"),
        ("get", "/v2/catalog"),
        ("get", "/v2/options"),
        ("get", "/v1/interbank/billers"),
        ("post", "/v2/topup"),
        ("post", "/v2/transactions/check"),
        ("post", "/v2/transactions/void"),
        ("get", "/v2/networkstatus"),
        ("get", "/v2/bill-presentment"),
        ("get", "/v2/transactions"),
        ("get", "/v2/balance"),
        ("get", "/v2/balance-statement"),
        ("post", "/v2/low-balance-threshold"),
        ("get", "/v2/callback-url"),
        ("post", "/v2/callback-url"),
        ("get", "/v2/balance-webhook"),
        ("put", "/v2/balance-webhook"),
        ("delete", "/v2/balance-webhook"),
        ("patch", "/v2/balance-webhook/enabled"),
        ("post", "/v2/balance-webhook/rotate-secret"),
        ("get", "/v2/balance-webhook/deliveries"),
        ("get", "/v2/balance-webhook/deliveries/{jobId}"),
        ("post", "/v2/balance-webhook/deliveries/{jobId}/replay"),
        ("post", "/v2/balance-webhook/deliveries/replay-bulk"),
    }


def test_every_request_of_the_reseller_api_wants_the_four_headers_or_a_token_but_those_for_tokens() -> None:
    whole = bundled()
    needed, bearer = whole["security"]
    headers = {whole["components"]["securitySchemes"][name]["name"] for name in needed}
    assert headers == {"X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature"}
    assert list(bearer) == ["Bearer"]
    open_ = {path for path, _, operation, _ in operations(OPENAPI) if path and operation.get("security") == []}
    assert open_ == {"/v2/token", "/v2/token/refresh"}
    assert all("security" not in operation for path, _, operation, _ in operations(OPENAPI) if path not in open_ | {""})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_operation_documents_its_refusals(document: str) -> None:
    guarded = {"401", "403", "405"}
    of_reseller_api = {"400", "401", "403", "404", "405", "503", "504"}
    wanted = {OPENAPI: of_reseller_api, CONTROL: guarded, PROXY: guarded}[document]
    open_to_all = {"503"} if document == OPENAPI else {"401", "403"}  # without a nonce, without the guard
    for path, method, operation, _ in operations(document):
        spared = open_to_all if operation.get("security") == [] else set()
        assert not path or wanted - spared <= set(operation["responses"]), f"{method} {path}"


def test_every_answer_documents_the_headers_that_explain_it() -> None:
    explaining = {"X-Sim-Sandbox", "X-Sim-Request-Id", "X-Sim-Rule", "X-Sim-Diagnosis"}
    shared = bundled()["components"]["responses"]
    for path, method, operation, _ in operations(OPENAPI):
        for status, answer in operation["responses"].items():
            whole = shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
            assert not path or explaining <= whole["headers"].keys(), f"{method} {path} {status}"


def test_every_answer_of_the_control_api_documents_its_request_id() -> None:
    whole = bundled(CONTROL)
    found = dict(whole["components"]["responses"])
    for path, item in whole["paths"].items():
        for method in METHODS & item.keys() if path.startswith("/_sim") else ():
            responses = item[method]["responses"].items()
            found |= {f"{method} {path} {status}": answer for status, answer in responses if "$ref" not in answer}
    assert len(found) > 70
    assert [name for name, answer in found.items() if "X-Sim-Request-Id" not in answer.get("headers", {})] == []


def test_the_callback_is_documented_in_both_forms() -> None:
    callback = bundled()["paths"]["/v2/callback-url"]["post"]["callbacks"]["transactionCallback"][
        "{$request.query.url}"
    ]
    assert callback["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Callback")
    query = {each["name"] for each in callback["get"]["parameters"] if each.get("in") == "query"}
    assert query == {"refid", "status", "price", "message"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_only_descriptions_stand_beside_a_reference_since_generators_read_the_reference_alone(document: str) -> None:
    """Words, examples and a default want nothing of a value."""
    beside = [part for part in walk(bundled(document)["components"]["schemas"]) if isinstance(part.get("$ref"), str)]
    assert len(beside) >= 20
    assert not [part for part in beside if part.keys() - {"$ref", "description", "examples", "default"}]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_schema_has_a_single_type_and_may_also_be_null(document: str) -> None:
    """OpenAPI Generator crashes on other lists of types, and writes what does not compile for a type null alone."""
    schemas = list(walk(bundled(document)["components"]["schemas"]))
    lists = [part["type"] for part in schemas if isinstance(part.get("type"), list)]
    assert [types for types in lists if len({*types} - {"null"}) != 1] == []
    alternatives = [each for part in schemas for each in part.get("anyOf", ())]
    nulls = [part for part in schemas if part.get("type") == "null"]
    assert [part for part in nulls if part not in alternatives] == []


@pytest.mark.parametrize(
    ("source", "served"),
    [
        ({"type": ["string", "null"], "maxLength": 3}, {"type": ["string", "null"], "maxLength": 3}),
        (
            {"type": ["string", "number"], "maxLength": 3, "minimum": 0, "description": "x"},
            {
                "description": "x",
                "anyOf": [
                    {"description": "x", "type": "string", "maxLength": 3},
                    {"description": "x", "type": "number", "minimum": 0},
                ],
            },
        ),
        ({"properties": {"a": {"type": "null"}}}, {"properties": {"a": NULL_ALONE}}),
        ({"type": "boolean", "enum": [True]}, {"type": "boolean", "not": {"const": False}}),
    ],
)
def test_a_schema_is_served_in_the_words_of_generators(source: dict[str, Any], served: dict[str, Any]) -> None:
    assert with_types(source) == served
    judged = [jsonschema_rs.Draft202012Validator(each) for each in (source, served)]
    for value in ("abc", "abcd", 1, -1, True, False, None, {}, {"a": None}, {"a": "x"}, [1]):
        assert judged[0].is_valid(value) == judged[1].is_valid(value), value


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_values_of_a_map_are_no_reference_to_a_list(document: str) -> None:
    whole = bundled(document)
    maps = [part["additionalProperties"] for part in walk(whole) if isinstance(part.get("additionalProperties"), dict)]
    assert len(maps) > 3
    assert not [values for values in maps if resolved(whole, values).get("type") == "array" and "$ref" in values]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_body_of_a_link_is_an_expression_and_an_object_stands_in_an_extension(document: str) -> None:
    """OpenAPI Generator refuses a document with an object there."""
    served, sources = (list(links(whole)) for whole in (bundled(document), load(document)))
    assert not [link for link in served if not isinstance(link.get("requestBody", ""), str)]
    objects = [link["requestBody"] for link in sources if isinstance(link.get("requestBody"), dict)]
    assert [link["x-request-body"] for link in served if "x-request-body" in link] == objects


def links(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in whole["paths"].values():
        for _, operation, _ in operations_of(item):
            for response in operation["responses"].values():
                yield from response.get("links", {}).values()


def test_the_target_of_a_reference_is_copied_beside_conditions() -> None:
    refid = bundled()["components"]["schemas"]["TopupRequest"]["properties"]["refid"]
    assert (refid["type"], refid["maxLength"]) == ("string", 50)
    assert refid["pattern"] == schemas.schema("text")["pattern"]
    assert refid["description"].startswith("The caller's unique reference")


def test_properties_beside_a_reference_hide_none_that_it_names() -> None:
    """A payment in a callback has a status of its own, and all other fields of a payment."""
    for name in ("Callback", "PaymentRefusal"):
        payment = bundled()["components"]["schemas"][name]["properties"]["data"]
        assert payment["allOf"] == [{"$ref": "#/components/schemas/PaymentResult"}]
        assert "status" in payment["properties"]


def test_the_bundle_quotes_the_descriptions_of_its_files() -> None:
    names = bundled()["components"]["schemas"]
    assert {"TopupRequest", "PaymentAnswer", "CatalogAnswer", "CallbackMessage"} <= set(names)
    assert names["OptionsOption"]["properties"]["price"]["$ref"] == "#/components/schemas/Money"
    assert names["OptionsAnswer"]["properties"]["items"]["items"]["$ref"] == "#/components/schemas/OptionsOption"
