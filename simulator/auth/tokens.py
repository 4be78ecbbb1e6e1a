"""Tokens for a username and password (SPEC 4.2, 4.3, 5.4): JSON Web Tokens, signed with HS256 only.

A token is valid in one sandbox: the key and the audience are that sandbox's. Its claim of use prevents that a
token is used as another kind. PyJWT's own clock checks are off: validity is tested at the `now` that is passed in.

`iat` and `exp` are whole seconds, since not every library reads a fraction, and differ by the lifetime. A token is
valid from the microsecond of issue: `issued_us` is the offset from `iat`, and equally from `exp` to the end.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from simulator.auth.signature import Denied
from simulator.short_text import shortened

ALGORITHM = "HS256"
ISSUER = "reseller-sim"
REFUSED = "invalid_token"

_CLAIMS = ["iss", "aud", "sub", "reseller", "token_use", "iat", "exp", "issued_us"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND_US = 1_000_000
_UNREADABLE = (
    "this is not a JSON Web Token of this service: three Base64url parts joined by dots, the first two of them JSON; "
    "was it cut or changed? An API key is sent as X-Api-Key"
)


class Use(StrEnum):
    """The purpose of a token. The value is its claim `token_use`."""

    ACCESS = "access"
    ID = "id"
    REFRESH = "refresh"


class Realm(msgspec.Struct, frozen=True):
    """Where tokens are valid: the sandbox, and its 32-byte signing key."""

    sandbox: str
    key: bytes


class TokenHolder(msgspec.Struct, frozen=True):
    """The holder of a token."""

    username: str
    reseller: str


def issue(realm: Realm, use: Use, holder: TokenHolder, now: datetime, lifetime: timedelta) -> str:
    """Return a token valid from `now` for `lifetime`, in whole seconds; equal arguments give equal bytes."""
    import jwt  # takes longer to import than the server to start

    issued_s, issued_us = divmod(_unix_us(now), _SECOND_US)
    claims = {
        "iss": ISSUER,
        "aud": realm.sandbox,
        "sub": holder.username,
        "reseller": holder.reseller,
        "token_use": use.value,
        "iat": issued_s,
        "exp": issued_s + int(lifetime.total_seconds()),
        "issued_us": issued_us,
    }
    return jwt.encode(claims, realm.key, algorithm=ALGORITHM)


def verify(realm: Realm, token: str, use: Use, now: datetime) -> TokenHolder | Denied:
    """Return the holder, if the token is valid here and now for this use; else a refusal that says what is wrong."""
    import jwt

    checks = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": _CLAIMS}
    try:
        claims = jwt.decode(
            token,
            realm.key,
            algorithms=[ALGORITHM],
            audience=realm.sandbox,
            issuer=ISSUER,
            options=checks,  # type: ignore[arg-type]  # a dict of these keys
        )
    except (jwt.PyJWTError, RecursionError, UnicodeError) as bad:
        return Denied(REFUSED, _explain(bad, token, realm))
    reason = _misused(claims, use) or _untimely(claims, _unix_us(now))
    return Denied(REFUSED, reason) if reason else TokenHolder(claims["sub"], str(claims["reseller"]))


def claimed(token: str) -> dict[str, Any]:
    """Return a token's unverified claims; empty when it cannot be decoded. Never use them to authenticate."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, RecursionError, UnicodeError):
        return {}
    return claims


def _misused(claims: dict[str, Any], use: Use) -> str:
    if claims["token_use"] == use.value:
        return ""
    sent = next((f"the {other.title()}Token" for other in Use if other == claims["token_use"]), "another token")
    return f"this is {sent}; send the {use.title()}Token"


def _untimely(claims: dict[str, Any], now_us: int) -> str:
    begins_s, ends_s, issued_us = claims["iat"], claims["exp"], claims["issued_us"]
    if not all(type(moment) is int for moment in (begins_s, ends_s, issued_us)):
        return "iat, exp and issued_us must be whole numbers"
    early_us = begins_s * _SECOND_US + issued_us - now_us
    if early_us > 0:
        return f"the token becomes valid in {early_us / _SECOND_US:.10g} s by the sandbox's clock"
    late_us = now_us - ends_s * _SECOND_US - issued_us
    if late_us >= 0:
        when = f"{late_us / _SECOND_US:.10g} s ago" if late_us else "just now"
        return f"the token expired {when} by the sandbox's clock"
    return ""


def _unix_us(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def _explain(bad: Exception, token: str, realm: Realm) -> str:
    import jwt

    match bad:
        case jwt.InvalidAlgorithmError():
            return f"the token is not signed with {ALGORITHM}"
        case jwt.InvalidSignatureError():
            audience = claimed(token).get("aud")
            if isinstance(audience, str) and audience != realm.sandbox:
                other = shortened(audience)
                return (
                    f"the token belongs to the sandbox {other!r}, and this is {realm.sandbox!r}: use the other address"
                )
            return "the signature is not this sandbox's: the token was changed, or signed with another key"
        case jwt.InvalidAudienceError() | jwt.InvalidIssuerError() | jwt.MissingRequiredClaimError():
            return "the claims of the token are not those of this sandbox"
        case _:
            return _UNREADABLE
