"""The canonical string of SPEC 5.1: `v1:<timestamp>:<nonce>:<METHOD>:<query>:<bodyHash>`.

The query is the raw text as sent, split at `&` and sorted by key, without parameters that have no `=`. SPEC leaves open
how repeated keys are ordered and whether empty values are included, so one request may have several canonical strings;
the register's choices select the accepted strings.

The command line signs with it, so it imports nothing that is slow to import, such as the signature check does.
"""

import hmac
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

EMPTY_BODY_HASH = b2a_base64(sha256(b"").digest(), newline=False)


class QueryRules(NamedTuple):
    """The choices of the register: `repeated_keys` is `either`, `as_sent` or `sorted`; `empty_values` is `either`,
    `with` or `without`."""

    repeated_keys: str = "either"
    empty_values: str = "either"

    @classmethod
    def of(cls, assume: Mapping[str, object]) -> "QueryRules":
        """Return the choices of a scenario, where SPEC 5.1 leaves them."""
        return cls(str(assume.get("repeated-query-keys", "either")), str(assume.get("empty-query-values", "either")))


def body_hash(body: bytes) -> bytes:
    """Base64 of SHA-256 of the exact body."""
    return b2a_base64(sha256(body).digest(), newline=False) if body else EMPTY_BODY_HASH


def canonical_string(timestamp: bytes, nonce: bytes, method: bytes, query: bytes, hashed: bytes) -> bytes:
    """Return the string to sign, from a canonical query."""
    return b":".join((b"v1", timestamp, nonce, method, query, hashed))


def hmac_sha256(secret: bytes, text: bytes) -> bytes:
    """HMAC-SHA256."""
    return hmac.digest(secret, text, "sha256")


def signature(secret: bytes, canonical: bytes) -> str:
    """Return the value of X-Signature: `v1=` and the Base64 of the HMAC-SHA256. `secret` is decoded."""
    return "v1=" + b2a_base64(hmac_sha256(secret, canonical), newline=False).decode()


def decoded(text: bytes) -> bytes | None:
    """Decode standard Base64 with padding (RFC 4648 4). None for any non-canonical spelling: if a signature had several
    spellings, one request could be replayed as several."""
    try:
        raw = a2b_base64(text)  # ignores invalid characters, so that the comparison below detects them
    except Error:
        return None
    return raw if b2a_base64(raw, newline=False) == text else None


def canonical_query(raw: bytes) -> bytes:
    """Return the literal form of SPEC: sorted by key, equal keys in the order sent, empty values included."""
    return canonical_queries(raw, QueryRules("as_sent", "with"))[0]


def canonical_queries(raw: bytes, rules: QueryRules) -> list[bytes]:
    """Return every form of a raw query that `rules` accept, the most literal first, without duplicates."""
    if not raw:
        return [b""]
    full = [part for part in raw.split(b"&") if b"=" in part]
    lean = [part for part in full if not is_empty(part)]
    if len(lean) == len(full):
        return _orders(full, rules.repeated_keys)
    chosen = {"either": [full, lean], "with": [full], "without": [lean]}[rules.empty_values]
    return list(dict.fromkeys(form for parts in chosen for form in _orders(parts, rules.repeated_keys)))


def _orders(parts: list[bytes], repeated_keys: str) -> list[bytes]:
    if len(parts) < 2 or len(set(map(key_of, parts))) == len(parts):
        return [b"&".join(by_key(parts))]
    as_sent, by_value = b"&".join(by_key(parts)), b"&".join(by_key_and_value(parts))
    forms = {"either": [as_sent, by_value], "as_sent": [as_sent], "sorted": [by_value]}[repeated_keys]
    return list(dict.fromkeys(forms))


def by_key(parts: list[bytes]) -> list[bytes]:
    """Sort by key; equal keys stay as they are."""
    return sorted(parts, key=key_of)


def by_key_and_value(parts: list[bytes]) -> list[bytes]:
    """Sort by key, equal keys by value."""
    return sorted(parts, key=lambda part: (key_of(part), part))


def key_of(part: bytes) -> bytes:
    """Return what stands before the first `=` of a parameter."""
    return part.partition(b"=")[0]


def is_empty(part: bytes) -> bool:
    """Return whether a parameter has a single `=`, at its end."""
    return part.endswith(b"=") and part.index(b"=") == len(part) - 1
