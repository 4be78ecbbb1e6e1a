"""One request to the service and its answer. Redirects are not followed, and certificates are verified."""

import select
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from time import monotonic
from typing import Any, Protocol
from urllib.parse import urlsplit

from simulator.contract.body import BadJson, decode_any
from simulator.shortened import shortened
from simulator.staging.conform.findings import Departs
from simulator.staging.manners import BODY_BYTES_MAX, NoAnswer, reason_of

_CHUNK_BYTES = 64 * 1024
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent: `target` is a path with its query, below the base URL."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


@dataclass(frozen=True, repr=False)
class Answer:
    """What came back; header names are in lower case."""

    request: Request
    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The body's value, with decimals as Decimal. Raises `Departs` for what is not JSON."""
        try:
            return decode_any(self.body, outline_max=len(self.body))
        except BadJson as bad:
            raise Departs("the body", "JSON", str(bad)) from None

    def at(self, dotted: str) -> Any:
        """The member at a path such as `data.balance`. Raises `Departs` where there is none."""
        value = self.json
        for name in dotted.split("."):
            value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
            if value is _MISSING:
                raise Departs(dotted, "present", f"absent in {self}")
        return value

    def rows(self, dotted: str = "data") -> list[dict[str, Any]]:
        """A list of objects. Raises `Departs`."""
        value = self.at(dotted)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise Departs(dotted, "a list of objects", value)
        return value

    @property
    def auth_code(self) -> str:
        """Why who asks was not let in (SPEC 5.2); empty for any other answer."""
        if self.status not in (401, 403):
            return ""
        try:
            code = self.at("error")
        except Departs:
            return ""
        return code if isinstance(code, str) else ""

    def __str__(self) -> str:
        """Status, request and the beginning of the body, for departures."""
        text = shortened(self.body.decode("utf-8", "replace"), 160)
        return f"{self.status} of {self.request.method} {self.request.path}: {text}"

    __repr__ = __str__  # never the headers, which have the signature


class Service(Protocol):
    """Sends requests. Tests have one in this process."""

    def send(self, request: Request) -> Answer:
        """Raises `NoAnswer`."""
        ...


class HttpService:
    """The service at an address, over one connection that is kept while it lasts; why it is not the client of `import`
    says `upstream/manners`. `timeout_s` is for each wait, and for all of a body."""

    def __init__(self, base_url: str, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname is not None, "the address was checked"
        self._timeout_s = timeout_s
        self._prefix = parts.path.rstrip("/")
        self._connection = (
            HTTPSConnection(parts.hostname, parts.port, timeout=timeout_s, context=ssl.create_default_context())
            if parts.scheme == "https"
            else HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
        )

    def send(self, request: Request) -> Answer:
        """Send one request, once: it is never repeated, since a payment may be among them."""
        if self._is_dropped():
            self.close()
        try:
            self._connection.request(
                request.method, self._prefix + request.target, request.body or None, dict(request.headers)
            )
            response = self._connection.getresponse()
            body = self._body(response, monotonic() + self._timeout_s)
        except NoAnswer:
            self.close()
            raise
        except (HTTPException, OSError) as error:
            self.close()
            raise NoAnswer(reason_of(error)) from None
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(request, response.status, headers, body)

    def _body(self, response: HTTPResponse, until: float) -> bytes:
        """The complete body, read piece by piece: one that drips would otherwise take as long as it likes."""
        body = bytearray()
        while piece := response.read1(_CHUNK_BYTES):
            body += piece
            if len(body) > BODY_BYTES_MAX:
                raise NoAnswer(f"the answer has more than {BODY_BYTES_MAX} bytes")
            if monotonic() > until:
                raise NoAnswer(f"no complete answer within {self._timeout_s:g} seconds")
        if response.length:  # which read1() says nothing of
            raise IncompleteRead(bytes(body), response.length)
        response.close()  # which read1() leaves open, and the connection with it
        return bytes(body)

    def _is_dropped(self) -> bool:
        """Whether the service has closed the connection since the last answer; a request on it would be lost."""
        sock = self._connection.sock
        return sock is not None and bool(select.select([sock], [], [], 0)[0])

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()
