"""Verifies webhooks: the scheme of Standard Webhooks, with a hexadecimal secret."""

import time
from base64 import b64encode
from collections.abc import Mapping
from hmac import compare_digest, digest

TOLERANCE_S = 300
DIGITS_MAX = 12  # of Unix seconds; whoever sends more is not the service


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the service sent these bytes within the last five minutes."""
    event, sent, signatures = (headers.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature"))
    if not (sent.isascii() and sent.isdigit() and len(sent) <= DIGITS_MAX):
        return False
    if abs(time.time() - int(sent)) > TOLERANCE_S:
        return False
    signed = digest(bytes.fromhex(secret), f"{event}.{sent}.".encode() + body, "sha256")
    expected = b"v1," + b64encode(signed)
    return any(compare_digest(expected, one.encode()) for one in signatures.split(" "))
