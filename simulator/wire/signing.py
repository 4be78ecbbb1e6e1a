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
        return ((scheme.header, signature_of(scheme, secret, "", "", body)),)
    stamp = str(int(at.timestamp()))
    values = (event_id, stamp, signature_of(scheme, secret, event_id, stamp, body))
    return tuple(zip(STANDARD_HEADERS, values, strict=True))


def signature_of(scheme: Signature, secret: str, event_id: str, stamp: str, body: bytes) -> str:
    """The value of the header that has the signature; a plain HMAC is of the body alone. `stamp` is in Unix seconds."""
    if scheme.header:
        key = bytes.fromhex(secret) if scheme.key == "bytes" else secret.encode()
        return scheme.prefix + hmac.digest(key, body, "sha256").hex()
    text = b".".join((event_id.encode(), stamp.encode(), body))
    return f"v1,{b64encode(hmac.digest(bytes.fromhex(secret), text, 'sha256')).decode()}"
