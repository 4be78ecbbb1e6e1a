"""Verifies signed webhooks (SPEC 6.3): Standard Webhooks with the secret in hexadecimal."""

import time
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest, digest

from reseller_sim.arguments import checked

TOLERANCE_S = 300
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a signature is right, which is its truth value, and if not why."""

    verified: bool
    reason: str

    def __bool__(self) -> bool:
        return self.verified

    def __str__(self) -> str:
        return "verified" if self.verified else f"not verified: {self.reason}"


@checked
def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes | bytearray, *, now: float | None = None
) -> Verdict:
    """Judge a webhook by the 64 hexadecimal digits that the service showed as its secret; `now` in Unix seconds.

    Raises `ValueError` for a secret that is not hexadecimal.
    """
    key = key_of(secret)
    sent = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in HEADERS if not sent.get(name)]
    if missing:
        return Verdict(False, f"it has no {', '.join(missing)}")
    event, stamp, signatures = (sent[name] for name in HEADERS)
    if not (stamp.isascii() and stamp.isdigit()):
        return Verdict(False, f"webhook-timestamp is not Unix seconds: {stamp!r}")
    wanted = digest(key, b".".join((event.encode(), stamp.encode(), body)), "sha256")
    if not any(_is(wanted, one) for one in signatures.split()):
        return Verdict(False, "the signature is not that of this id, timestamp, body and secret")
    age = (time.time() if now is None else now) - int(stamp)
    if abs(age) > TOLERANCE_S:
        return Verdict(False, f"webhook-timestamp is {abs(age):.0f} s {'old' if age > 0 else 'ahead'}; 300 are allowed")
    return Verdict(True, "")


def key_of(secret: str) -> bytes:
    """The key that a webhook's secret stands for. Raises `ValueError`."""
    try:
        key = bytes.fromhex(secret)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("a webhook secret is hexadecimal; give it as PUT /v2/balance-webhook showed it")
    return key


def _is(wanted: bytes, signature: str) -> bool:
    version, _, text = signature.partition(",")
    try:
        return version == "v1" and compare_digest(b64decode(text, validate=True), wanted)
    except ValueError:
        return False
