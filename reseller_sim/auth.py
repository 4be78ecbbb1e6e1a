"""Signs requests (SPEC 5.1), for httpx, httpx2, requests and anything else."""

import secrets
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Generator
from hashlib import sha256
from hmac import digest
from typing import Any, TypeVar
from urllib.parse import urlsplit

from reseller_sim.arguments import checked
from reseller_sim.parameters import Header, Method

Request = TypeVar("Request")

# The classes that HTTP clients want an auth object to be of; only what is imported already is looked at.
_BASES = (("httpx", "Auth"), ("httpx2", "Auth"), ("requests.auth", "AuthBase"))


class HMACAuth:
    """Signs each request with an API key and its secret, in Base64 as the integrator holds it.

    `httpx.Client(auth=HMACAuth(…))`, the asynchronous one and httpx2 alike, and `requests.get(…, auth=HMACAuth(…))`. An
    instance is an `Auth` or `AuthBase` of those clients that were imported before it was made; to others it is a
    callable, which they accept as well. Raises `ValueError` for a secret that is not Base64.
    """

    requires_request_body = True  # httpx reads a streamed body before it asks for the signature

    def __new__(cls, *args: Any, **kwargs: Any) -> "HMACAuth":
        """Make it an instance of what the imported clients check for."""
        bases = [getattr(sys.modules.get(module), name, None) for module, name in _BASES]
        return super().__new__(_kind(cls, tuple(base for base in bases if base is not None)))

    @checked
    def __init__(self, api_key: Header, api_secret: Header) -> None:
        self.api_key = api_key
        try:
            self._secret = b64decode(api_secret, validate=True)
        except ValueError:
            raise ValueError("the secret is not Base64; give it as it was shown when the key was made") from None

    def __repr__(self) -> str:
        return f"HMACAuth({self.api_key!r})"

    @checked
    def headers(self, method: Method, url: str, body: bytes | bytearray | str = b"") -> dict[str, str]:
        """The four headers for a request, with a new nonce; `url` may be complete or a path, with the query as it is
        sent."""
        sent = body.encode() if isinstance(body, str) else body
        timestamp, nonce = str(int(time.time())), secrets.token_hex(16)
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

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """What httpx and httpx2 call, once the body is there."""
        request.headers.update(self.headers(request.method, str(request.url), request.content))
        yield request

    def __call__(self, request: Request) -> Request:
        """What requests calls with a prepared request, and httpx with an instance that is no `Auth` of its own."""
        prepared: Any = request
        if hasattr(prepared, "prepare_body"):
            body = prepared.body = _whole(prepared)
        else:
            body = prepared.read()
        prepared.headers.update(self.headers(prepared.method, str(prepared.url), body or b""))
        return request


_KINDS: dict[tuple[type, ...], type[HMACAuth]] = {}


def _kind(cls: type[HMACAuth], bases: tuple[type, ...]) -> type[HMACAuth]:
    """The class with these bases besides, made once."""
    missing = tuple(base for base in bases if not issubclass(cls, base))
    if not missing:
        return cls
    wanted = (cls, *missing)
    if wanted not in _KINDS:
        _KINDS[wanted] = type(cls.__name__, wanted, {"__module__": cls.__module__})
    return _KINDS[wanted]


def _canonical_query(query: str) -> str:
    """Sorted by key, equal keys in their order, without parameters that have no `=`."""
    parameters = [part for part in query.split("&") if "=" in part]
    return "&".join(sorted(parameters, key=lambda part: part.partition("=")[0]))


def _whole(prepared: Any) -> bytes | None:
    """The body of a prepared request as bytes; one that would be streamed is read, and sent with its length."""
    body = prepared.body
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    prepared.headers.pop("Transfer-Encoding", None)
    read = body.read() if hasattr(body, "read") else b"".join(body)
    return read.encode() if isinstance(read, str) else bytes(read)
