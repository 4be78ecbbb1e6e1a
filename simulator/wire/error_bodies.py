"""Error bodies (SPEC 7.1)."""

from collections.abc import Mapping
from typing import Any


def parameters(message: str, errors: Mapping[str, list[str]]) -> dict[str, Any]:
    """`{message, errors: {field: [text]}}`: validation errors, and unknown paths with no field."""
    return {"message": message, "errors": dict(errors)}


def coded(code: str, message: str) -> dict[str, Any]:
    """`{error, message}`: authentication failures and the simulator's own refusals."""
    return {"error": code, "message": message}


def catalog_unauthorized(code: str, message: str) -> dict[str, Any]:
    """Return the catalog's 401: both documented shapes combined, `status_code` as a string."""
    return {"error": code, "message": message, "metadata": {"status_code": "401"}}
