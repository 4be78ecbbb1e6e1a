"""A collection follows from the contract: every operation, its parameters, examples and descriptions, in an order."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simulator.cli.contract import example_values
from simulator.contract.endpoints import METHODS
from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from simulator.contract.postman import collection as postman
from simulator.contract.postman import plan, samples
from simulator.contract.postman.journeys import JOURNEYS, REMEMBERED
from tests.support.runner import invoke, refusal

DOCUMENTS = (OPENAPI, CONTROL)
COLLECTIONS = {name: plan.plan(name, example_values()) for name in DOCUMENTS}


def operations(name: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Method, path and description of each operation."""
    return {
        item[method]["operationId"]: (method.upper(), path, item[method])
        for path, item in bundled(name)["paths"].items()
        for method in METHODS
        if method in item
    }


def folders(name: str) -> dict[str, plan.Folder]:
    return {folder.name: folder for folder in COLLECTIONS[name].folders}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_is_there_once_beside_the_walkthrough(name: str) -> None:
    held = [one for folder in COLLECTIONS[name].folders[1:] for one in folder.requests]
    assert Counter(one.id for one in held) == Counter([*operations(name)])
    for one in held:
        method, path, described = operations(name)[one.id]
        assert one.method == method
        assert re.fullmatch(re.sub(r"\{\w+\}", r"\\{\\{\\w+\\}\\}", path), one.path), one.path
        assert one.name == described["summary"]
        assert described["description"] in one.description


@pytest.mark.parametrize("name", DOCUMENTS)
def test_folders_are_the_tags_with_what_deletes_at_the_end(name: str) -> None:
    tags = [tag["name"] for tag in bundled(name)["tags"]]
    assert list(folders(name)) == ["Walkthrough", *tags, "Clean-up"]
    assert {one.method for one in folders(name)["Clean-up"].requests} == {"DELETE"}
    for tag in tags:
        for one in folders(name)[tag].requests:
            assert operations(name)[one.id][2]["tags"] == [tag]
            assert one.method != "DELETE"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_required_parameters_are_sent_and_optional_ones_offered(name: str) -> None:
    document = bundled(name)
    for one in (request for folder in COLLECTIONS[name].folders[1:] for request in folder.requests):
        _, path, described = operations(name)[one.id]
        parameters = [
            samples.resolved(document, each)
            for each in [*document["paths"][path].get("parameters", ()), *described.get("parameters", ())]
        ]
        for place, held in (("query", one.query), ("header", one.headers)):
            wanted = {
                each["name"]: each.get("required", False) or "x-sent" in each
                for each in parameters
                if each["in"] == place
            }
            assert {each.name: each.sent for each in held} == wanted


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_variable_has_a_value(name: str) -> None:
    collection = COLLECTIONS[name]
    defined = {*collection.settings, *collection.remembered, *plan.OF_EACH_REQUEST}
    for one in collection.requests:
        text = " ".join([one.path, one.body, *(each.value for each in (*one.query, *one.headers))])
        assert set(re.findall(r"\{\{(\w+)\}\}", text)) <= defined, one.id
    for folder in collection.folders:
        for one in folder.requests:
            for condition in one.checks.values():
                assert set(re.findall(r'recall\("(\w+)"\)', condition)) <= defined


@pytest.mark.parametrize("name", DOCUMENTS)
def test_journeys_and_what_is_remembered_name_operations_that_exist(name: str) -> None:
    named = {step.operation for step in JOURNEYS[name]} | set(REMEMBERED[name])
    assert named <= set(operations(name))


def test_requests_are_authenticated_as_the_contract_says() -> None:
    unsigned = {one.id for one in COLLECTIONS[OPENAPI].requests if one.authentication == plan.NONE}
    assert unsigned == {"createToken", "refreshToken"}
    assert not any(one.authentication == plan.BEARER for one in COLLECTIONS[OPENAPI].requests)
    assert COLLECTIONS[OPENAPI].is_signed
    assert not COLLECTIONS[CONTROL].is_signed
    assert {one.authentication for one in folders(CONTROL)["clock"].requests} == {plan.BEARER}


def test_what_the_caller_or_the_server_did_wrong_is_never_right() -> None:
    for collection in COLLECTIONS.values():
        for folder in collection.folders[1:]:
            for one in folder.requests:
                assert not {401, 403, 405} & set(one.statuses)
                assert max(one.statuses) < 500


def test_a_payment_has_a_refid_of_its_own_and_a_dispute_the_last_payments() -> None:
    by_id = {one.id: one for one in COLLECTIONS[OPENAPI].requests}
    assert json.loads(by_id["createPayment"].body)["refid"] == "{{new_refid}}"
    named = {
        name: value for name, value in json.loads(by_id["disputePayment"].body).items() if name in ("refid", "trxid")
    }
    assert named
    assert all(value == f"{{{{{name}}}}}" for name, value in named.items())


@pytest.mark.parametrize(
    "content",
    [
        {"schema": {}, "example": {"code": "RS9", "amount": 3}},
        {"schema": {}, "examples": {"first": {"value": {"code": "RS9", "amount": 3}}, "second": {"value": {}}}},
        {"schema": {"examples": [{"code": "RS9", "amount": 3}]}},
        {"schema": {"$ref": "#/components/schemas/Thing"}},
    ],
)
def test_a_body_is_the_contracts_example_with_the_members_that_a_run_knows(content: dict[str, Any]) -> None:
    document = {"components": {"schemas": {"Thing": {"example": {"code": "RS9", "amount": 3}}}}}
    assert samples.body(document, content) == {"code": "RS9", "amount": "{{amount}}"}


def test_a_body_without_an_example_has_the_members_that_its_schema_requires() -> None:
    properties = {
        "kind": {"enum": ["b", "a"]},
        "on": {"type": "boolean"},
        "count": {"type": ["integer", "null"], "minimum": 7},
        "names": {"type": "array", "items": {"type": "string"}},
        "inner": {"type": "object", "properties": {"at": {"const": 1}, "x": {}}, "required": ["at"]},
        "either": {"type": "string"},
        "left": {"type": "string"},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["kind", "on", "count", "names", "inner"],
        "anyOf": [{"required": ["either"]}, {"required": ["left"]}],
    }
    expected = {"kind": "b", "on": True, "count": 7, "names": ["text"], "inner": {"at": 1}, "either": "text"}
    assert samples.body({}, {"schema": schema}) == expected


@pytest.mark.parametrize(
    ("described", "value"),
    [
        ({"name": "flag", "example": True, "schema": {}}, "true"),
        ({"name": "page", "schema": {"examples": ["3"]}}, "3"),
        ({"name": "kind", "schema": {"type": "string", "default": "x"}}, "x"),
        ({"name": "product_code", "example": "ANY", "schema": {}}, "{{product}}"),
    ],
)
def test_a_parameter_has_what_a_run_knows_or_the_contracts_example(described: dict[str, Any], value: str) -> None:
    assert samples.parameter({}, described) == value


def test_a_new_operation_is_there_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    document = bundled(OPENAPI)
    new = document["paths"]["/v2/balance"]["get"] | {"operationId": "getLoan", "tags": ["loans"], "summary": "A loan"}
    paths = document["paths"] | {"/v2/loans/{loan}": {"get": new}}
    monkeypatch.setattr(plan, "bundled", lambda name: document | {"paths": paths})
    made = plan.plan(OPENAPI, example_values())
    loans = next(folder for folder in made.folders if folder.name == "loans")
    assert [(one.id, one.path) for one in loans.requests] == [("getLoan", "/v2/loans/{{loan}}")]
    assert made.remembered["loan"] == plan.NOT_YET


def test_parameters_of_a_path_are_variables_whose_names_say_what_they_are() -> None:
    path = "/resellers/{code}/categories/{id}/api-keys/{key}/deliveries/{job}"
    wanted = "/resellers/{{reseller_code}}/categories/{{category_id}}/api-keys/{{key}}/deliveries/{{job}}"
    assert samples.path(path) == wanted


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_same_contract_gives_the_same_bytes(name: str) -> None:
    bundled.cache_clear()
    first = postman.render(plan.plan(name, example_values()))
    bundled.cache_clear()
    assert postman.render(plan.plan(name, example_values())) == first


@pytest.mark.parametrize("name", DOCUMENTS)
def test_ids_are_unique(name: str) -> None:
    whole = json.loads(postman.render(COLLECTIONS[name]))
    assert whole["info"]["schema"] == postman.SCHEMA
    ids = [item["id"] for folder in whole["item"] for item in (folder, *folder["item"])]
    assert len(ids) == len(set(ids))


def test_the_page_has_every_variable_that_people_set() -> None:
    page = (Path(__file__).parents[3] / "docs" / "collections.md").read_text()
    for collection in COLLECTIONS.values():
        assert [name for name in collection.settings if f"`{name}`" not in page] == []


def test_the_command_line_writes_the_collection(tmp_path: Path) -> None:
    assert json.loads(invoke("openapi", "--as", "postman").stdout)["info"]["name"] == "Reseller API"
    file = tmp_path / "control.json"
    assert invoke("openapi", "--as", "postman", "--control", "--to", str(file)).exit_code == 0
    assert json.loads(file.read_text())["info"]["name"] == "Control API"


def test_the_document_can_be_written_to_a_file(tmp_path: Path) -> None:
    for flags in ((), ("--json",), ("--control", "--json")):
        file = tmp_path / "document"
        assert invoke("openapi", *flags, "--to", str(file)).stdout == ""
        assert file.read_text() == invoke("openapi", *flags).stdout


def test_flags_that_contradict_each_other_are_refused() -> None:
    assert "has a form of its own" in refusal(invoke("openapi", "--as", "postman", "--json"), 2)
    assert "insomnia" in refusal(invoke("openapi", "--as", "insomnia"), 2)


@pytest.mark.parametrize("form", [("--as", "postman"), ("--json",)])
def test_what_cannot_be_written_is_one_line(form: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = refusal(invoke("openapi", *form, "--to", str(tmp_path / "file" / "below")), 3)
    assert "cannot be written" in said


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    kept, link, pipe = tmp_path / "kept", tmp_path / "link", tmp_path / "pipe"
    kept.write_text("mine")
    link.symlink_to(kept)
    os.mkfifo(pipe)
    for path in (link, pipe):
        assert "no regular file" in refusal(invoke("openapi", "--json", "--to", str(path)), 3)
    assert kept.read_text() == "mine"
    assert invoke("openapi", "--json", "--to", str(kept)).exit_code == 0
    assert json.loads(kept.read_text())["openapi"]
