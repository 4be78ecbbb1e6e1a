"""Signatures of outgoing webhooks, which SPEC 6.3 leaves open: how they are made and verified."""

import hmac
import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from simulator.domain.model.webhooks import Signature

STANDARD_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")

SignatureHeaders = tuple[tuple[str, str], ...]


def signed(scheme: Signature, secret: str, event_id: str, at: datetime, body: bytes) -> SignatureHeaders:
    """Return the headers that authenticate `body`. `secret` is 64 hexadecimal digits, `at` the receiver's present."""
    if scheme.header:
        return ((scheme.header, signature_of(scheme, secret, "", "", body)),)
    stamp = str(int(at.timestamp()))
    values = (event_id, stamp, signature_of(scheme, secret, event_id, stamp, body))
    return tuple(zip(STANDARD_HEADERS, values, strict=True))


def signature_of(scheme: Signature, secret: str, event_id: str, stamp: str, body: bytes) -> str:
    """Return the value of the signature's header. A plain HMAC covers only the body. `stamp` is in Unix seconds."""
    if scheme.header:
        key = bytes.fromhex(secret) if scheme.key == "bytes" else secret.encode()
        return scheme.prefix + hmac.digest(key, body, "sha256").hex()
    text = b".".join((event_id.encode(), stamp.encode(), body))
    return f"v1,{b64encode(hmac.digest(bytes.fromhex(secret), text, 'sha256')).decode()}"


TOLERANCE_S: Final = 300
VERSION: Final = "v1,"
_is_stamp = re.compile("[0-9]{1,15}").fullmatch


def headers_of(scheme: Signature) -> tuple[str, ...]:
    """Return the names of the headers that sign, in lower case."""
    return (scheme.header.lower(),) if scheme.header else STANDARD_HEADERS


def lacking(scheme: Signature, headers: Mapping[str, str]) -> str:
    """Return as a sentence why these headers cannot be a signature; empty when they may be a signature."""
    missing = [name for name in headers_of(scheme) if not headers.get(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        is_unsigned = len(missing) == len(headers_of(scheme))
        return f"{', '.join(missing)} {verb} missing{': it is not signed' if is_unsigned else ''}"
    if scheme.header:
        wanted = f"{scheme.prefix}, then hexadecimal digits" if scheme.prefix else "hexadecimal digits"
        is_whole = headers[scheme.header.lower()].startswith(scheme.prefix)
        return "" if is_whole else f"{scheme.header.lower()} must be {wanted}"
    if not _is_stamp(headers[STANDARD_HEADERS[1]]):
        return "webhook-timestamp is not a Unix time in seconds"
    is_known = any(part.startswith(VERSION) for part in headers[STANDARD_HEADERS[2]].split())
    return "" if is_known else f"webhook-signature has no signature that begins with {VERSION}"


def is_signed_with(scheme: Signature, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether this secret, 64 hexadecimal digits, signed exactly these headers and this body. No signature
    header may be missing."""
    if scheme.header:
        given = [headers[scheme.header.lower()]]
        expected = signature_of(scheme, secret, "", "", body)
    else:
        id_, stamp, signatures = (headers[name] for name in STANDARD_HEADERS)
        given = signatures.split()
        expected = signature_of(scheme, secret, id_, stamp, body)
    return any(hmac.compare_digest(part.encode(), expected.encode()) for part in given)


def staleness(scheme: Signature, headers: Mapping[str, str], present: datetime) -> str:
    """Return how far the timestamp is from the receiver's present if that is too far, as the end of a sentence; else
    empty."""
    if scheme.header:
        return ""
    age_s = round(present.timestamp()) - int(headers[STANDARD_HEADERS[1]])
    if abs(age_s) <= TOLERANCE_S:
        return ""
    return f"webhook-timestamp is {abs(age_s)} s {'old' if age_s > 0 else 'ahead'}; accept {TOLERANCE_S} s at most"
