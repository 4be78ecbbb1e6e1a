"""The two OpenAPI documents as a server serves them, for tools of others that read them as files."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.processes import ask, serving

METHODS = frozenset({"get", "put", "post", "delete", "patch"})
NAMES = ("openapi", "control")
_PATHS = {"openapi": "/openapi.json", "control": "/_sim/openapi.json"}


class Operation(NamedTuple):
    """An operation: its id, its first tag, and its answers of success: the schema by status, None for no body."""

    id: str
    tag: str
    success: dict[str, dict[str, Any] | None]


def fetch(folder: Path) -> None:
    """Write `openapi.json` and `control.json` as a server answers them."""
    with serving("--port", "0", "--json") as server:
        for name, path in _PATHS.items():
            (folder / f"{name}.json").write_bytes(ask(server.ready["url"] + path).body)


def operations(folder: Path, name: str) -> list[Operation]:
    """All operations of a fetched document, counted in nothing but the document."""
    document = json.loads((folder / f"{name}.json").read_bytes())
    found = [item[method] for item in document["paths"].values() for method in METHODS & item.keys()]
    return [Operation(each["operationId"], each["tags"][0], _success(each["responses"])) for each in found]


def _success(responses: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
    """Schemas of 2xx by status."""
    return {
        status: answer.get("content", {}).get("application/json", {}).get("schema")
        for status, answer in responses.items()
        if status.startswith("2")
    }
