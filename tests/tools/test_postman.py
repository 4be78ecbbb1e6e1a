"""A collection follows from the contract: every operation, its parameters, examples and descriptions, in an order."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simulator.contract.files import yaml_document
from simulator.contract.openapi import CONTROL, METHODS, OPENAPI, bundled
from simulator.contract.schemas import resolved_in
from tools.pages import postman
from tools.pages.bundle import bundle
from tools.pages.postman import body_of, collection, example_values, path_with_variables, value_of

DOCUMENTS = (OPENAPI, CONTROL)
COLLECTIONS = {name: collection(name, example_values()) for name in DOCUMENTS}
Item = dict[str, Any]


def operations(name: str) -> dict[str, tuple[str, str, Item]]:
    """Method, path and description of each operation, by its summary."""
    return {
        item[method]["summary"]: (method.upper(), path, item[method])
        for path, item in bundled(name)["paths"].items()
        for method in METHODS
        if method in item
    }


def folders(name: str) -> dict[str, list[Item]]:
    return {folder["name"]: folder["item"] for folder in COLLECTIONS[name]["item"]}


def plain(name: str) -> list[Item]:
    """The requests after the walkthrough."""
    return [item for folder, items in folders(name).items() if folder != "Walkthrough" for item in items]


def path_of(item: Item) -> str:
    return "/" + "/".join(item["request"]["url"]["path"])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_appears_once_beside_the_walkthrough(name: str) -> None:
    assert Counter(item["name"] for item in plain(name)) == Counter([*operations(name)])
    for item in plain(name):
        method, path, described = operations(name)[item["name"]]
        assert item["request"]["method"] == method
        assert re.fullmatch(re.sub(r"\{\w+\}", r"\\{\\{\\w+\\}\\}", path), path_of(item)), path
        assert described["description"] in item["request"]["description"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_folders_are_the_tags_with_what_deletes_at_the_end(name: str) -> None:
    tags = [tag["name"] for tag in bundled(name)["tags"]]
    assert list(folders(name)) == ["Walkthrough", *tags, "Clean-up"]
    assert {item["request"]["method"] for item in folders(name)["Clean-up"]} == {"DELETE"}
    for tag in tags:
        for item in folders(name)[tag]:
            assert operations(name)[item["name"]][2]["tags"] == [tag]
            assert item["request"]["method"] != "DELETE"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_required_parameters_are_sent_and_optional_ones_offered(name: str) -> None:
    document = bundled(name)
    for item in plain(name):
        _, path, described = operations(name)[item["name"]]
        parameters = [
            resolved_in(document, each)
            for each in [*document["paths"][path].get("parameters", ()), *described.get("parameters", ())]
        ]
        request = item["request"]
        for place, held in (("query", request["url"]["query"]), ("header", request["header"])):
            wanted = {
                each["name"]: each.get("required", False) or "x-sent" in each
                for each in parameters
                if each["in"] == place
            }
            is_sent = {each["key"]: "disabled" not in each for each in held if each["key"] in wanted}
            assert is_sent == wanted
            assert all(each["value"] for each in held if "disabled" not in each)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_variable_has_a_value(name: str) -> None:
    whole = COLLECTIONS[name]
    defined = {*(one["key"] for one in whole["variable"]), *postman.OF_EACH_REQUEST}
    text = json.dumps(whole["item"])
    assert set(re.findall(r"\{\{(\w+)\}\}", text)) <= defined
    assert set(re.findall(r'recall\(\\"(\w+)\\"\)', text)) <= defined


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_walkthrough_and_what_is_remembered_name_operations_that_exist(name: str) -> None:
    own = yaml_document("postman")[name]
    named = {step["operation"] for step in own["walkthrough"]} | set(own["remembered"])
    assert named <= {described["operationId"] for _, _, described in operations(name).values()}


def test_requests_are_authenticated_as_the_contract_says() -> None:
    def is_signed(item: Item) -> bool:
        return any(header["key"] == "X-Api-Key" for header in item["request"]["header"])

    unsigned = {operations(OPENAPI)[item["name"]][2]["operationId"] for item in plain(OPENAPI) if not is_signed(item)}
    assert unsigned == {"createToken", "refreshToken"}
    assert {item["request"]["auth"]["type"] for item in plain(OPENAPI)} == {"noauth"}
    assert {item["request"]["auth"]["type"] for item in folders(CONTROL)["clock"]} == {"bearer"}
    assert [len(COLLECTIONS[name]["event"]) for name in DOCUMENTS] == [1, 0]


def test_errors_of_the_caller_or_of_the_server_are_never_expected() -> None:
    for name in DOCUMENTS:
        for item in plain(name):
            (checked,) = re.findall(r"\[([\d, ]+)\]\.includes\(status\)", str(item["event"]))
            statuses = set(map(int, checked.split(",")))
            assert not {401, 403, 405} & statuses
            assert max(statuses) < 500


def test_a_payment_has_a_refid_of_its_own_and_a_dispute_the_last_payments() -> None:
    by_id = {operations(OPENAPI)[item["name"]][2]["operationId"]: item["request"] for item in plain(OPENAPI)}
    assert json.loads(by_id["createPayment"]["body"]["raw"])["refid"] == "{{new_refid}}"
    disputed = json.loads(by_id["disputePayment"]["body"]["raw"])
    named = {name: value for name, value in disputed.items() if name in ("refid", "trxid")}
    assert named
    assert all(value == f"{{{{{name}}}}}" for name, value in named.items())


def test_a_body_is_the_contracts_example_with_the_members_that_a_run_knows() -> None:
    content = {"schema": {}, "example": {"code": "RS9", "amount": 3, "refid": "r"}}
    assert body_of({}, content) == {"code": "RS9", "amount": "{{amount}}", "refid": "{{refid}}"}
    assert body_of({}, content | {"schema": {"required": ["refid"]}})["refid"] == "{{new_refid}}"
    assert body_of({}, {"schema": {}, "example": [1]}) == [1]


@pytest.mark.parametrize(
    ("described", "value"),
    [
        ({"name": "flag", "example": True, "schema": {}}, "true"),
        ({"name": "page", "schema": {"examples": ["3"]}}, "3"),
        ({"name": "kind", "schema": {"type": "string", "default": "x"}}, "x"),
        ({"name": "kind", "schema": {"enum": ["b", "a"]}}, "b"),
        ({"name": "kind", "schema": {"$ref": "#/components/Kind"}}, "c"),
        ({"name": "other", "schema": {"type": "string"}}, ""),
        ({"name": "product_code", "example": "ANY", "schema": {}}, "{{product}}"),
    ],
)
def test_a_parameter_has_what_a_run_knows_or_the_contracts_example(described: Mapping[str, Any], value: str) -> None:
    assert value_of({"components": {"Kind": {"enum": ["c"]}}}, described) == value


def test_a_new_operation_appears_by_itself_also_without_a_description(monkeypatch: pytest.MonkeyPatch) -> None:
    document = bundled(OPENAPI)
    new = document["paths"]["/v2/balance"]["get"] | {"operationId": "getLoan", "tags": ["loans"], "summary": "A loan"}
    del new["description"]
    paths = document["paths"] | {"/v2/loans/{loan}": {"get": new}}
    monkeypatch.setattr(postman, "bundle", lambda name: document | {"paths": paths})
    made = collection(OPENAPI, example_values())
    loans = next(folder for folder in made["item"] if folder["name"] == "loans")
    assert [(item["name"], path_of(item)) for item in loans["item"]] == [("A loan", "/v2/loans/{{loan}}")]
    assert {"key": "loan", "value": postman.NOT_YET, "type": "string"} in made["variable"]


def test_parameters_of_a_path_are_variables_whose_names_say_what_they_are() -> None:
    path = "/resellers/{code}/categories/{id}/api-keys/{key}/deliveries/{job}"
    wanted = "/resellers/{{reseller_code}}/categories/{{category_id}}/api-keys/{{key}}/deliveries/{{job}}"
    assert path_with_variables(path) == wanted


@pytest.mark.parametrize("name", DOCUMENTS)
def test_equal_contracts_give_equal_bytes(name: str) -> None:
    bundle.cache_clear()
    assert json.dumps(collection(name, example_values())) == json.dumps(COLLECTIONS[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_ids_are_unique(name: str) -> None:
    whole = COLLECTIONS[name]
    assert whole["info"]["schema"] == postman.SCHEMA
    ids = [item["id"] for folder in whole["item"] for item in (folder, *folder["item"])]
    assert len(ids) == len(set(ids))


def test_the_page_has_every_variable_that_people_set() -> None:
    page = (Path(__file__).parents[2] / "docs" / "collections.md").read_text()
    for name in DOCUMENTS:
        remembered = {one for kept in yaml_document("postman")[name]["remembered"].values() for one in kept}
        set_by_people = {one["key"] for one in COLLECTIONS[name]["variable"]} & {"base_url", *example_values()}
        assert [one for one in set_by_people - remembered if f"`{one}`" not in page] == []
