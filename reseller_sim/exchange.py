"""One HTTP request and its response, with the standard library and a connection of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The decoded body. Raises `ValueError` when it is no JSON."""
        return json.loads(self.body)

    @property
    def diagnosis(self) -> str:
        """What the simulator says about the request beyond the service's response; empty when there is nothing."""
        return self.headers.get("x-sim-diagnosis", "")


class Unanswered(Exception):
    """There was no complete response; the text is the reason."""


class Unreachable(Unanswered):
    """Nobody listens there."""


def exchange(method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float) -> Answer:
    """Send a request as it is and follow no redirect. Raises `Unanswered`, and `ValueError` for an unusable
    URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no http or https URL, such as http://127.0.0.1:8080")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=timeout_s)
    try:
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request(method, target, body, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): text for name, text in response.getheaders()}, response.read())
    except (HTTPException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        refused = isinstance(error, ConnectionRefusedError)
        raise (Unreachable if refused else Unanswered)(reason) from error
    finally:
        connection.close()


def encoded(value: Any) -> bytes:
    """A value as JSON; a `Decimal` is a number."""
    return json.dumps(value, default=_number, separators=(",", ":")).encode()


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} is not JSON: {value!r}")
