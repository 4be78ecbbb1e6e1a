"""The OpenAPI documents of `contracts/` as they are written, and as `make docs` renders them to be served."""

import json
import re
from functools import cache
from typing import Any

from simulator.contract.files import data_dir, yaml_document

OPENAPI = "openapi"  # the reseller API
CONTROL = "control"  # the control API under /_sim
PROXY = "proxy"  # the control API of the proxy
METHODS = ("get", "put", "post", "delete", "patch")


@cache
def load(document: str) -> dict[str, Any]:
    """`contracts/DOCUMENT.yaml` with unresolved references. Do not modify the result."""
    loaded: dict[str, Any] = yaml_document(document)
    return loaded


@cache
def path_pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of the paths of a template. A parameter is a group, a segment that is not empty."""
    parts = re.split(r"(\{[^}]*\})", template)
    return re.compile("".join(f"(?P<{part[1:-1]}>[^/]+)" if part[:1] == "{" else re.escape(part) for part in parts))


@cache
def bundled(document: str = OPENAPI) -> dict[str, Any]:
    """Return `contracts/served/DOCUMENT.json`: the document with its schemas and examples. Do not modify the result."""
    whole: dict[str, Any] = json.loads((data_dir("contracts") / "served" / f"{document}.json").read_bytes())
    return whole


def postman_collection(document: str) -> str:
    """Return the Postman collection of a document (`OPENAPI`, `CONTROL`), which people import."""
    return (data_dir("contracts") / "served" / f"{document}.postman_collection.json").read_text("utf-8")
