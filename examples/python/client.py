"""Talks to the service. Money is read as Decimal and sent as text: a float never sees it."""

import json
from decimal import Decimal
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from signing import signed_headers

# The service answers within 29 seconds, or with a 504.
TIMEOUT_S = 35


class Unanswered(Exception):
    """No answer, or one that says nothing: the request may have been processed, and may not."""


class Rejected(Exception):
    """The service takes no request of this kind from us: somebody has to look at it, and a retry changes nothing."""


class Client:
    """Signed requests with an API key."""

    def __init__(self, url: str, key: str, secret: str) -> None:
        self.url, self.key, self.secret = url, key, secret

    def call(self, method: str, path: str, query: dict[str, str] | None = None, body: object = None) -> tuple[int, Any]:
        """Send one request; the status, 200 or 400, and the JSON of the answer."""
        text = urlencode(sorted((query or {}).items()), quote_via=quote)
        data = b"" if body is None else json.dumps(body).encode()
        headers = signed_headers(self.key, self.secret, method, text, data) | {"Content-Type": "application/json"}
        target = f"{path}?{text}" if text else path
        try:
            status, answered = self._send(method, target, headers, data)
        except (OSError, HTTPException) as error:
            raise Unanswered(f"{method} {path}: {error or type(error).__name__}") from error
        if status >= 500 or status == 429:
            raise Unanswered(f"{method} {path}: {status}")
        if status not in (200, 400):
            raise Rejected(f"{method} {path} was answered {status}: {answered.decode(errors='replace')}")
        try:
            return status, json.loads(answered, parse_float=Decimal)
        except ValueError as error:
            raise Unanswered(f"{method} {path}: no JSON") from error

    def get(self, path: str, query: dict[str, str] | None = None) -> Any:
        """The JSON of a GET."""
        return self._accepted("GET", path, query)

    def set(self, method: str, path: str, query: dict[str, str] | None = None, body: object = None) -> Any:
        """The JSON of a change of settings."""
        return self._accepted(method, path, query, body)

    def _send(self, method: str, target: str, headers: dict[str, str], data: bytes) -> tuple[int, bytes]:
        """Without following redirects: nobody else gets the key."""
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=TIMEOUT_S)
        try:
            connection.request(method, parts.path + target, data or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _accepted(self, method: str, path: str, query: dict[str, str] | None, body: object = None) -> Any:
        status, answer = self.call(method, path, query, body)
        if status != 200:
            raise Rejected(f"{method} {path} was answered {status}: {answer}")
        return answer
