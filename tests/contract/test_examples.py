"""The examples of the documents: one for every body, valid by its schema; a stray member in any of them is found."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from tests.support.contract_operations import operations
from tests.support.contract_responses import EVENT_STREAM, FILE, response_problems
from tests.support.played import Exchange
from tests.support.stories import STORIES, play

DOCUMENTS = (OPENAPI, CONTROL)
JSON = "application/json"
STRAY = "stray_member"

# No story plays an internal error, since none is known, or several servers.
NOT_PLAYED = {"Unexpected", "Unavailable"}

# Members whose own members the contract does not name: parameters, codes of products, what a client or sender chose.
OPEN_OBJECTS = {"errors", "params", "extras", "query", "json", "products", "chosen", "CustomField"}


def places(document: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield the parts that may have an example: place, part with a schema, and whether an example is required."""
    whole = bundled(document)
    for _, _, operation, _ in operations(document):
        name = operation["operationId"]
        for parameter in operation.get("parameters", ()):
            if "$ref" not in parameter:
                yield f"{name} {parameter['name']}", parameter.get("content", {}).get(JSON, parameter), False
        for type_, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{name} {type_}", media, type_ != FILE
        for status, response in operation["responses"].items():
            for type_, media in response.get("content", {}).items():
                yield f"{name} {status} {type_}", media, type_ != FILE
    for name, response in whole["components"]["responses"].items():
        yield name, response["content"][JSON], name not in NOT_PLAYED
    for name, parameter in whole["components"]["parameters"].items():
        yield name, parameter, name in ("Sandbox", "Limit", "Cursor", "JobId", "SimRule", "WebhookSignature")


def examples(part: dict[str, Any]) -> list[Any]:
    """Return its own examples and the examples of its schema, where optional parameters have theirs."""
    own = [part["example"]] if "example" in part else []
    return [*own, *part["schema"].get("examples", ())]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_body_has_an_example(document: str) -> None:
    found = list(places(document))
    assert [where for where, part, is_wanted in found if is_wanted and not examples(part)] == []
    assert sum(examples(part) != [] for _, part, _ in found) > {OPENAPI: 85, CONTROL: 80}[document]


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_is_valid_by_its_schema(document: str) -> None:
    components = json.loads(json.dumps(bundled(document)["components"]))
    wrong: dict[str, str] = {}
    for where, part, _ in places(document):
        checker = jsonschema_rs.Draft202012Validator(part["schema"] | {"components": components})
        for example in examples(part):
            for error in checker.iter_errors(example):
                wrong[where] = error.message
    assert wrong == {}


def played() -> Iterator[Exchange]:
    """One exchange of each operation and status that the stories have, those without a body left out."""
    seen: dict[tuple[str, str, str, int], Exchange] = {}
    for story, _ in STORIES:
        play(story, lambda one: seen.setdefault((one.document, one.template, one.method, one.status), one))
    yield from (one for one in seen.values() if isinstance(one.answer, dict) and not one.template.endswith(".json"))


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all objects in a value; of each list only the first item counts."""
    if isinstance(value, dict):
        yield path
        for name, member in value.items():
            yield from objects(member, (*path, name))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def with_stray(value: Any, path: tuple[str | int, ...]) -> Any:
    changed = copy.deepcopy(value)
    part = changed
    for token in path:
        part = part[token]
    part[STRAY] = "x"
    return changed


@pytest.mark.slow
def test_a_stray_member_is_found_in_any_object_of_any_answer() -> None:
    missed, found = [], 0
    for one in played():
        path = one.template.replace("{sandbox}", "default").replace("{", "").replace("}", "")
        for place in objects(one.answer):
            if {str(token) for token in place} & {"json", "rule", "document"} or (place and place[-1] in OPEN_OBJECTS):
                continue
            body = json.dumps(with_stray(one.answer, place)).encode()
            type_ = EVENT_STREAM if path.endswith("/events") else JSON
            body = b"data: %b\n\n" % body if type_ is EVENT_STREAM else body
            problems = response_problems(one.document, one.method.upper(), path, one.status, type_, body)
            if any(STRAY in each or "additional" in each.lower() for each in problems):
                found += 1
            else:
                missed.append(f"{one.method} {one.template} {one.status} {place}: {problems}")
    assert missed == []
    assert found > 200
