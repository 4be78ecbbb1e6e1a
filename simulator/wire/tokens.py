"""The token endpoints (SPEC 4.2, 4.3): paths, the answer in PascalCase, and the `Deprecation` header."""

from typing import Any

import msgspec

PATH = "/v2/token"
REFRESH_PATH = "/v2/token/refresh"
PATHS = (PATH, REFRESH_PATH)

# 2026-09-16, the first API version in which the catalog replaces the legacy endpoints.
DEPRECATED_SINCE_S = 1789516800


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """Issued tokens; `refresh` is None when the caller keeps its own."""

    access: str
    id: str
    refresh: str | None
    expires_in_s: int


def authentication_result(issued: Issued, shape: object = "both") -> dict[str, Any]:
    """`flat`: the five members. `wrapped`: inside `AuthenticationResult`. `both`: both combined."""
    result: dict[str, Any] = {
        "AccessToken": issued.access,
        "ExpiresIn": issued.expires_in_s,
        "TokenType": "Bearer",
        "RefreshToken": issued.refresh,
        "IdToken": issued.id,
    }
    if shape == "flat":
        return result
    wrapped = {"AuthenticationResult": result}
    return wrapped if shape == "wrapped" else wrapped | result


def deprecation(form: object = "rfc9745") -> bytes:
    """The value of `Deprecation`: a structured date, or `true` as in the drafts before RFC 9745."""
    return b"true" if form == "draft" else b"@%d" % DEPRECATED_SINCE_S
