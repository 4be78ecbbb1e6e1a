"""The address of a deployment, and requests to it that are signed by SPEC 5.1."""

import binascii
import secrets
import time
from base64 import b64decode
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from simulator.auth import headers as names
from simulator.auth.canonical import body_hash, canonical_query, canonical_string, signature

SIGNING_HEADERS = (
    names.WRITTEN_API_KEY,
    names.WRITTEN_TIMESTAMP,
    names.WRITTEN_NONCE,
    names.WRITTEN_SIGNATURE,
)

PORTS = {"http": 80, "https": 443}


class CannotSign(ValueError):
    """The request cannot be signed or sent; the text says what to change."""


class Credentials(NamedTuple):
    """An API key and its secret, in Base64 as the integrator holds it."""

    key: str
    secret: str


class SignedRequest(NamedTuple):
    """A request to send: `url` is complete, `canonical` is the signed string, `headers` are the four of SPEC 5.1 and,
    with a body, its type."""

    method: str
    url: str
    body: bytes
    canonical: str
    headers: dict[str, str]


def sign(
    method: str,
    base_url: str,
    target: str,
    body: bytes,
    credentials: Credentials,
    timestamp: int | None = None,
    nonce: str | None = None,
) -> SignedRequest:
    """Sign now, or as of `timestamp` in Unix seconds; `target` is a path with its query. Raises `CannotSign`.

    A path in `base_url` is prepended to `target`; no path is part of the signature.
    """
    method = _checked_method(method)
    address = parse_address(base_url)
    _check_target(target)
    moment = str(int(time.time()) if timestamp is None else timestamp)
    nonce = secrets.token_urlsafe(24) if nonce is None else nonce
    if not _is_visible(credentials.key) or not _is_visible(nonce):
        raise CannotSign("a key and a nonce are made of visible ASCII characters")
    query = canonical_query(target.partition("?")[2].encode())
    canonical, headers = signature_headers(credentials, moment, nonce, method, query, body)
    if body:
        headers["Content-Type"] = "application/json"
    return SignedRequest(method, address.url + target, body, canonical.decode(), headers)


def signature_headers(
    credentials: Credentials, timestamp: str, nonce: str, method: str, query: bytes, body: bytes
) -> tuple[bytes, dict[str, str]]:
    """Return the canonical string, and the four headers of SPEC 5.1 with its signature; `query` is canonical. Raises
    `CannotSign`."""
    canonical = canonical_string(timestamp.encode(), nonce.encode(), method.encode(), query, body_hash(body))
    return canonical, {
        names.WRITTEN_API_KEY: credentials.key,
        names.WRITTEN_TIMESTAMP: timestamp,
        names.WRITTEN_NONCE: nonce,
        names.WRITTEN_SIGNATURE: signature(secret_bytes(credentials.secret), canonical),
    }


def with_bearer(request: SignedRequest, token: str) -> SignedRequest:
    """Return the request with a bearer token instead of the key and the signature (SPEC 5.4)."""
    headers = {name: value for name, value in request.headers.items() if name not in SIGNING_HEADERS}
    return request._replace(headers=headers | {names.WRITTEN_AUTHORIZATION: f"Bearer {token}"})


@dataclass(frozen=True, slots=True)
class Address:
    """An http(s) server; `base` is put in front of every target, empty or a path without a slash at its end. `slash` is
    the slash at its end, if it had one."""

    is_tls: bool
    host: str
    port: int
    base: str = ""
    slash: str = ""

    @property
    def authority(self) -> str:
        """Return the value of Host: without the scheme's default port (RFC 9110 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def scheme(self) -> str:
        """Return `http` or `https`."""
        return "https" if self.is_tls else "http"

    @property
    def url(self) -> str:
        """Return the address as text."""
        return f"{self.scheme}://{self.authority}{self.base}"


def parse_address(text: str) -> Address:
    """Parse an address `http(s)://HOST[:PORT][/PATH]`. Raises `CannotSign`, without repeating the address, which may
    have a password."""
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or any(character in text for character in "@?#") or not _is_visible(text):
        raise CannotSign("the address is not a base URL such as http://127.0.0.1:8080 or https://host/s/mine")
    port = parts.port or PORTS[parts.scheme]
    base = parts.path.rstrip("/")
    return Address(parts.scheme == "https", parts.hostname or "", port, base, "/" if parts.path != base else "")


def _checked_method(method: str) -> str:
    if not (method.isascii() and method.isalpha()):
        raise CannotSign(f"{method!r} is not an HTTP method such as GET or POST")
    return method.upper()


def _check_target(target: str) -> None:
    if not target.startswith("/"):
        raise CannotSign(f"the path {target!r} must begin with / (the address goes to --url)")
    if not _is_visible(target) or "#" in target:
        raise CannotSign(f"the path {target!r} must be percent-encoded: a blank is %20, # is %23")


def _is_visible(text: str) -> bool:
    return bool(text) and all("!" <= character <= "~" for character in text)


def secret_bytes(secret: str) -> bytes:
    """Return the HMAC key of a secret. Raises `CannotSign`."""
    try:
        return b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        raise CannotSign("the secret is not Base64; give it as it was shown when the key was made") from None
