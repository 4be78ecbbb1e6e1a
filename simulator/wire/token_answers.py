"""The token endpoints (SPEC 4.2, 4.3): paths, the answer in PascalCase, and the `Deprecation` header."""

from datetime import UTC, datetime, time
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from simulator.domain.queries import NEW_VERSION

PATH = "/v2/token"
REFRESH_PATH = "/v2/token/refresh"
PATHS = (PATH, REFRESH_PATH)

HARMLESS_MEMBERS: Final = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})
MEMBERS: Final = HARMLESS_MEMBERS | {
    "password",
    "refresh_token",
    "AuthenticationResult",
    "AccessToken",
    "RefreshToken",
    "IdToken",
}
"""The names of members in requests and answers there. Only values of harmless members may be shown; an unknown member
may be a password in the wrong place."""

DEPRECATED_SINCE_S = int(datetime.combine(NEW_VERSION, time(), UTC).timestamp())


def is_token_path(path: str) -> bool:
    """Return whether this is a token endpoint, including other spellings of its path, which are answered with 404."""
    return path in PATHS or "/" + "/".join(filter(None, unquote(path).split("/"))) in PATHS


class IssuedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Issued tokens; `refresh` is None when the caller keeps its own."""

    access: str
    id: str
    refresh: str | None
    expires_in_s: int


def authentication_result(issued: IssuedTokens, shape: object = "both") -> dict[str, Any]:
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
    """Return the value of `Deprecation`: a structured date, or `true` as in the drafts before RFC 9745."""
    return b"true" if form == "draft" else b"@%d" % DEPRECATED_SINCE_S
