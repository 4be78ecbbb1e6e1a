"""A second, independent implementation of SPEC 5.1, for tests."""

import base64
import hashlib
import hmac
from dataclasses import dataclass

KEY = "test-key"
SECRET = b"0123456789abcdef0123456789abcdef"
SECRET_TEXT = base64.b64encode(SECRET).decode()
NOW = 1_800_000_000
NONCE = "nonce-0123456789"


@dataclass(frozen=True)
class KeyRecord:
    """A server's record of a key."""

    state: str
    secret_bytes: bytes = SECRET


KEYS = {
    KEY: KeyRecord("active"),
    "gone": KeyRecord("revoked"),
    "bare": KeyRecord("no_secret", b""),
    "dark": KeyRecord("undecryptable"),
}


def sign(
    method: str = "GET",
    query: str = "",
    body: bytes = b"",
    *,
    timestamp: str = str(NOW),
    nonce: str = NONCE,
    secret: bytes = SECRET,
) -> str:
    """The value of X-Signature."""
    pairs = sorted((part for part in query.split("&") if "=" in part), key=lambda part: part.split("=")[0])
    hashed = base64.b64encode(hashlib.sha256(body).digest()).decode()
    text = ":".join(["v1", timestamp, nonce, method, "&".join(pairs), hashed])
    return "v1=" + base64.b64encode(hmac.new(secret, text.encode(), "sha256").digest()).decode()


def headers(signature: str, **changes: str | None) -> dict[bytes, bytes]:
    """The four headers, some changed or, for None, absent."""
    made: dict[str, str | None] = {
        "x-api-key": KEY,
        "x-timestamp": str(NOW),
        "x-nonce": NONCE,
        "x-signature": signature,
    }
    made |= {name.replace("_", "-"): value for name, value in changes.items()}
    return {name.encode(): value.encode() for name, value in made.items() if value is not None}
