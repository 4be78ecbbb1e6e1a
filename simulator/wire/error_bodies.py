"""Error bodies (SPEC 7.1)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any


def parameters(message: str, errors: Mapping[str, list[str]]) -> dict[str, Any]:
    """`{message, errors: {field: [text]}}`: validation errors, and unknown paths with no field."""
    return {"message": message, "errors": dict(errors)}


def coded(code: str, message: str) -> dict[str, Any]:
    """`{error, message}`: authentication failures and the simulator's own refusals."""
    return {"error": code, "message": message}


def without_fields(code: str, message: str) -> dict[str, Any]:
    """Return the 401 of the token endpoints: `{message, errors}` with no field."""
    return parameters(message, {})


def catalog_unauthorized(code: str, message: str) -> dict[str, Any]:
    """Return the catalog's 401: both documented shapes combined, `status_code` as a string."""
    return {"error": code, "message": message, "metadata": {"status_code": "401"}}


def timed_out(limit: timedelta) -> dict[str, Any]:
    """Return the body of a 504 after the integration timeout."""
    text = f"The integration did not answer within {limit.total_seconds():g} seconds."
    return coded("integration_timeout", text)
