"""Signed requests as raw bytes (SPEC 5.1), made without the simulator's code, which is what they test."""

import base64
import hashlib
import hmac
import itertools
import secrets
import time

_PREFIX = secrets.token_hex(8)
_SERIAL = itertools.count()


def nonce() -> str:
    """A nonce that no other call in any process returns, 28 characters of `[0-9a-f]`."""
    return f"{_PREFIX}{next(_SERIAL):012x}"


def canonical_query(query: str) -> str:
    """The query as it is signed: sorted by key, parameters without `=` or without a value left out."""
    kept = [part for part in query.split("&") if part.partition("=")[2]]
    return "&".join(sorted(kept, key=lambda part: part.partition("=")[0]))


def signed(
    method: str,
    path: str,
    query: str,
    body: bytes,
    key: str,
    secret: str,
    host: str,
    *,
    at_s: float | None = None,
) -> bytes:
    """One whole HTTP/1.1 request, signed with a fresh nonce, now or at a Unix time.

    `query` has no `?` and is sent as given; `secret` is Base64; `host` is `name:port`. A body is sent as JSON.
    """
    stamp, once = str(int(time.time() if at_s is None else at_s)), nonce()
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    text = f"v1:{stamp}:{once}:{method.upper()}:{canonical_query(query)}:{digest}"
    mac = base64.b64encode(hmac.digest(base64.b64decode(secret), text.encode(), "sha256")).decode()
    target = f"{path}?{query}" if query else path
    head = (
        f"{method.upper()} {target} HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {key}\r\nX-Timestamp: {stamp}\r\n"
        f"X-Nonce: {once}\r\nX-Signature: v1={mac}\r\n"
    )
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body
