"""Signs requests (SPEC 5.1) for httpx, httpx2, requests and anything else, and verifies signed webhooks (SPEC 6.3)."""

import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest, digest
from typing import Any, TypeVar
from urllib.parse import urlsplit

__tracebackhide__ = True  # pytest shows the line of the test
Request = TypeVar("Request")

TOLERANCE_S = 300
WEBHOOK_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


class HMACAuth:
    """Signs each request with an API key and its secret, in Base64 as the integrator holds it.

    It is a callable, which each client takes: `httpx.Client(auth=HMACAuth(…))`, the asynchronous one and httpx2 alike,
    and `requests.get(…, auth=HMACAuth(…))`. A body is signed as a whole; a stream has to be read first. Raises
    `ValueError` for a secret that is not Base64.
    """

    def __init__(self, api_key: str, api_secret: str) -> None:
        self.api_key = api_key
        try:
            self._secret = b64decode(api_secret, validate=True)
        except ValueError:
            raise ValueError("the secret is not Base64; give it as it was shown when the key was made") from None

    def headers(
        self, method: str, url: str, body: bytes | bytearray | str = b"", *, at: float | None = None
    ) -> dict[str, str]:
        """Return the four headers for a request, with a new nonce; `url` may be complete or a path, with the query as
        it is sent; `at` is the time of signing in Unix seconds, by default the present."""
        sent = body.encode() if isinstance(body, str) else body
        timestamp, nonce = str(int(time.time() if at is None else at)), secrets.token_hex(16)
        query = _canonical_query(urlsplit(url).query)
        hashed = b64encode(sha256(sent).digest()).decode()
        text = f"v1:{timestamp}:{nonce}:{method.upper()}:{query}:{hashed}"
        signature = b64encode(digest(self._secret, text.encode(), "sha256")).decode()
        return {
            "X-Api-Key": self.api_key,
            "X-Timestamp": timestamp,
            "X-Nonce": nonce,
            "X-Signature": f"v1={signature}",
        }

    def __call__(self, request: Request) -> Request:
        """Sign a request of httpx or httpx2, or a prepared one of requests. Raises `TypeError` for a stream."""
        sent: Any = request
        body = sent.body if hasattr(sent, "prepare_body") else sent.content
        if not isinstance(body, bytes | str | None):
            raise TypeError(f"a body is signed as a whole: read the {type(body).__name__} before, and send its bytes")
        sent.headers.update(self.headers(sent.method, str(sent.url), body or b""))
        return request


def _canonical_query(query: str) -> str:
    """Return the parameters sorted by key, equal keys in their order, without parameters that have no `=`."""
    parameters = [part for part in query.split("&") if "=" in part]
    return "&".join(sorted(parameters, key=lambda part: part.partition("=")[0]))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a signature is right, which is its truth value, and if not why."""

    verified: bool
    reason: str

    def __bool__(self) -> bool:
        return self.verified

    def __str__(self) -> str:
        return "verified" if self.verified else f"not verified: {self.reason}"


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes | bytearray | str, *, now: float | None = None
) -> Verdict:
    """Judge a webhook by the 64 hexadecimal digits that the service showed as its secret; `now` in Unix seconds."""
    key = key_of(secret)
    sent = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in WEBHOOK_HEADERS if not sent.get(name)]
    if missing:
        return Verdict(False, f"it has no {', '.join(missing)}")
    event, stamp, signatures = (sent[name] for name in WEBHOOK_HEADERS)
    if not (stamp.isascii() and stamp.isdigit()):
        return Verdict(False, f"webhook-timestamp is not Unix seconds: {stamp!r}")
    signed = b".".join((event.encode(), stamp.encode(), body.encode() if isinstance(body, str) else body))
    wanted = b64encode(digest(key, signed, "sha256")).decode()
    if not any(compare_digest(f"v1,{wanted}".encode(), one.encode()) for one in signatures.split()):
        return Verdict(False, "the signature does not match this id, timestamp, body and secret")
    age = (time.time() if now is None else now) - int(stamp)
    if abs(age) > TOLERANCE_S:
        return Verdict(False, f"webhook-timestamp is {abs(age):.0f} s {'old' if age > 0 else 'ahead'}; 300 are allowed")
    return Verdict(True, "")


def key_of(secret: str) -> bytes:
    """Return the key that a webhook's secret stands for. Raises `ValueError`."""
    try:
        key = bytes.fromhex(secret)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("a webhook secret is hexadecimal; give it as PUT /v2/balance-webhook showed it")
    return key
