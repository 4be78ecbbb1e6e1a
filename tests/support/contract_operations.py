"""The operations of a bundled document and of its callbacks."""

from typing import Any

from simulator.contract.openapi import bundled

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def operations(document: str) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Path, method, operation and path item; callbacks without their path."""
    whole = bundled(document)
    found = [(path, *each) for path, item in whole["paths"].items() for each in operations_of(item)]
    named = [callback for _, _, operation, _ in found for callback in operation.get("callbacks", {}).values()]
    items = [item for callback in named for item in callback.values()]
    return found + [("", *each) for item in items for each in operations_of(item)]


def operations_of(item: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    return [(method, item[method], item) for method in item if method in METHODS]
