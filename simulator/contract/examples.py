"""Examples of requests and responses, as they were played: `contracts/examples.json`."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from simulator.contract.files import data_dir

_METHODS = ("get", "put", "post", "delete", "patch")


def add_examples(whole: dict[str, Any], document: str) -> None:
    """Put the examples of a document into its bundle, if it has any: of parameters, bodies, and responses."""
    played = _played().get(document, {"operations": {}, "responses": {}, "parameters": {}})
    for operation in _operations(whole):
        _add_to_operation(operation, played["operations"].get(operation["operationId"], {}))
    for kind in ("responses", "parameters"):
        for name, example in played[kind].items():
            _add_to_content(whole["components"][kind][name], example)


def _add_to_operation(operation: dict[str, Any], example: Mapping[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter.get("name") in example.get("parameters", {}):
            _add_to_content(parameter, example["parameters"][parameter["name"]])
    for type_, media in operation.get("requestBody", {}).get("content", {}).items():
        name = "yaml" if type_ == "application/yaml" else "body"
        if name in example:
            media["example"] = example[name]
    for status, response in operation["responses"].items():
        if status in example.get("responses", {}):
            _add_to_content(response, example["responses"][status])


def _add_to_content(part: dict[str, Any], example: Any) -> None:
    """To a parameter itself, or to the content that a parameter or response has.

    That of an optional parameter stands in its schema, unless the contract itself has one: pages that send requests
    fill in a parameter's own example, and what a story sent with a rule of its own makes such a request fail.
    """
    if "content" not in part and part.get("required"):
        part["example"] = example
    elif "content" not in part and "example" not in part:
        part["schema"].setdefault("examples", [example])
    for media in part.get("content", {}).values():
        media["example"] = example


def _operations(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for item in whole["paths"].values():
        for operation in (item[method] for method in _METHODS if method in item):
            yield operation
            for callback in operation.get("callbacks", {}).values():
                yield from _operations({"paths": callback})


@cache
def _played() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data_dir("contracts") / "examples.json").read_bytes())
    return found
