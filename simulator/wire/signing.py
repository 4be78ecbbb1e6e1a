"""Signatures of outgoing webhooks (SPEC 6.3 leaves them open): Standard Webhooks, or a plain HMAC in one header."""

import hmac
from base64 import b64encode
from datetime import datetime

from simulator.domain.model.webhooks import Signature

STANDARD_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")

SignatureHeaders = tuple[tuple[str, str], ...]


def signed(scheme: Signature, secret: str, event_id: str, at: datetime, body: bytes) -> SignatureHeaders:
    """The headers that authenticate `body`. `secret` is 64 hexadecimal digits, `at` the receiver's present."""
    if scheme.header:
        key = bytes.fromhex(secret) if scheme.key == "bytes" else secret.encode()
        return ((scheme.header, scheme.prefix + hmac.digest(key, body, "sha256").hex()),)
    stamp = str(int(at.timestamp()))
    signature = hmac.digest(bytes.fromhex(secret), b".".join((event_id.encode(), stamp.encode(), body)), "sha256")
    values = (event_id, stamp, f"v1,{b64encode(signature).decode()}")
    return tuple(zip(STANDARD_HEADERS, values, strict=True))
