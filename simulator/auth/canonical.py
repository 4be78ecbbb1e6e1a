"""The canonical string of SPEC 5.1: `v1:<timestamp>:<nonce>:<METHOD>:<query>:<bodyHash>`.

The query is the raw text as sent, split at `&` and sorted by key, without parameters that have no `=`. SPEC leaves open
how repeated keys are ordered and whether empty values are included, so one request may have several canonical strings;
the register's choices select the accepted ones.

The command line signs with it, so it imports nothing that is slow to import, such as the signature check does.
"""

import hmac
from binascii import b2a_base64
from dataclasses import dataclass
from hashlib import sha256

EMPTY_BODY_HASH = b2a_base64(sha256(b"").digest(), newline=False)


@dataclass(frozen=True, slots=True)
class QueryRules:
    """The choices of the register: `repeated_keys` is `either`, `as_sent` or `sorted`; `empty_values` is `either`,
    `with` or `without`."""

    repeated_keys: str = "either"
    empty_values: str = "either"


def body_hash(body: bytes) -> bytes:
    """Base64 of SHA-256 of the exact body."""
    return b2a_base64(sha256(body).digest(), newline=False) if body else EMPTY_BODY_HASH


def canonical_string(timestamp: bytes, nonce: bytes, method: bytes, query: bytes, hashed: bytes) -> bytes:
    """The string to sign, from a canonical query."""
    return b":".join((b"v1", timestamp, nonce, method, query, hashed))


def signature(secret: bytes, canonical: bytes) -> str:
    """The value of X-Signature: `v1=` and the Base64 of the HMAC-SHA256. `secret` is decoded."""
    return "v1=" + b2a_base64(hmac.digest(secret, canonical, "sha256"), newline=False).decode()


def canonical_query(raw: bytes) -> bytes:
    """The literal form of SPEC: sorted by key, equal keys in the order sent, empty values included."""
    return canonical_queries(raw, QueryRules("as_sent", "with"))[0]


def canonical_queries(raw: bytes, rules: QueryRules) -> list[bytes]:
    """Every form of a raw query that `rules` accept, the most literal first, without duplicates."""
    if not raw:
        return [b""]
    pairs = [part.partition(b"=") for part in raw.split(b"&") if b"=" in part]
    full = [(key, part) for key, _, value in pairs for part in [key + b"=" + value]]
    lean = [(key, key + b"=" + value) for key, _, value in pairs if value]
    chosen = {"either": [full, lean], "with": [full], "without": [lean]}[rules.empty_values]
    forms = [form for parts in chosen for form in _orders(parts, rules.repeated_keys)]
    return list(dict.fromkeys(forms))


def _orders(parts: list[tuple[bytes, bytes]], repeated_keys: str) -> list[bytes]:
    as_sent = b"&".join(part for _, part in sorted(parts, key=lambda pair: pair[0]))
    by_value = b"&".join(part for _, part in sorted(parts))
    return {"either": [as_sent, by_value], "as_sent": [as_sent], "sorted": [by_value]}[repeated_keys]
