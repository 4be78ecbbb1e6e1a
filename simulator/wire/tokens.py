"""The token endpoints (SPEC 4.2, 4.3): paths, the answer in PascalCase, and the `Deprecation` header."""

from datetime import UTC, datetime, time
from typing import Any

import msgspec

from simulator.domain.queries import NEW_VERSION

PATH = "/v2/token"
REFRESH_PATH = "/v2/token/refresh"
PATHS = (PATH, REFRESH_PATH)

DEPRECATED_SINCE_S = int(datetime.combine(NEW_VERSION, time(), UTC).timestamp())


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
