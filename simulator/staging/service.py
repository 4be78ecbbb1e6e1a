"""A deployment of the service over HTTP: requests in sequence, each sent once, with whole answers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

from simulator.contract.body import BadJson, decode_any
from simulator.domain.model.effects import Outgoing
from simulator.http_client.answers import AnswerBounds, AnswerReader
from simulator.http_client.attempts import NotAllowedError, Route, request_bytes
from simulator.http_client.client import Client
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.http_client.targets import DEFAULT_PORTS
from simulator.shortened import shortened
from simulator.staging.conform.findings import Departs
from simulator.staging.signing import split_base

BODY_BYTES_MAX: Final = 64 * 1024 * 1024
_MISSING: Any = object()


class NoAnswer(Exception):
    """No complete answer; the text says why, on a single line. Whether the request had an effect is unknown."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `target` is a path with its query, below the base URL."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]


@dataclass(frozen=True, repr=False)
class Answer:
    """An answer; header names are in lower case."""

    request: Request
    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """Return the body's value, with decimals as Decimal. Raises `Departs` for invalid JSON."""
        try:
            return decode_any(self.body, outline_max=len(self.body))
        except BadJson as bad:
            raise Departs("the body", "JSON", str(bad)) from None

    def at(self, dotted: str) -> Any:
        """Return the member at a path such as `data.balance`. Raises `Departs` if it is missing."""
        value = self.json
        for name in dotted.split("."):
            value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
            if value is _MISSING:
                raise Departs(dotted, "present", f"absent in {self}")
        return value

    def rows(self, dotted: str = "data") -> list[dict[str, Any]]:
        """Return a list of objects. Raises `Departs`."""
        value = self.at(dotted)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise Departs(dotted, "a list of objects", value)
        return value

    @cached_property
    def members(self) -> dict[str, Any]:
        """Return the members of the object in the body; empty for other bodies."""
        try:
            value = self.json
        except Departs:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def data(self) -> dict[str, Any]:
        """Return the member `data`; empty if it is not an object."""
        found = self.members.get("data")
        return found if isinstance(found, dict) else {}

    @property
    def auth_code(self) -> str:
        """Return why authentication failed (SPEC 5.2); empty for any other answer."""
        code = self.members.get("error") if self.status in (401, 403) else None
        return code if isinstance(code, str) else ""

    def __str__(self) -> str:
        """Return status, request and the beginning of the body, for departures."""
        text = shortened(self.body.decode("utf-8", "replace"), 160)
        return f"{self.status} of {self.request.method} {self.request.path}: {text}"

    __repr__ = __str__  # never the headers, which have the signature


class Service(Protocol):
    """Sends requests. Tests use an implementation within the process."""

    def send(self, request: Request) -> Answer:
        """Send a request. Raises `NoAnswer`."""
        ...


class HttpService:
    """The service at an address, over a persistent connection. Redirects are not followed, no proxy is used, and
    certificates are verified. `timeout_s` is for a whole exchange. Raises `CannotSign` for an address that cannot be
    used."""

    def __init__(self, base_url: str, timeout_s: float) -> None:
        base = split_base(base_url)
        self._timeout_s = timeout_s
        self._prefix = base.path.rstrip("/")
        self._host = base.netloc
        port = base.port or DEFAULT_PORTS[base.scheme]
        self._origin = Origin(base.scheme == "https", base.hostname or "", port)
        self._runner = asyncio.Runner()
        self._client: Client | None = None

    def send(self, request: Request) -> Answer:
        """Send a request without retries, since it may be a payment. Raises `NoAnswer`."""
        return self._runner.run(self._answer(request))

    async def _answer(self, request: Request) -> Answer:
        self._client = self._client or Client(Dialer())
        reader = AnswerReader(request.method, AnswerBounds(64 * 1024, fields=256, body_bytes=BODY_BYTES_MAX + 1))
        headers = tuple(request.headers.items())
        outgoing = Outgoing(request.method, "", headers, request.body or None)
        way = Route(self._origin, self._host, self._prefix + request.target)
        try:
            sent = request_bytes(outgoing, way, is_delivery=False)
            is_over = await self._client.exchange(self._origin, sent, reader, self._timeout_s)
        except (NotAllowedError, NotConnectedError) as error:
            raise NoAnswer(" ".join(str(error).split())) from None
        if not is_over:
            raise NoAnswer(f"no complete answer within {self._timeout_s:g} seconds")
        if reader.problem or reader.broke_off or reader.head is None:
            words = f"the answer {reader.problem}" if reader.problem else reader.broke_off
            raise NoAnswer(f"no complete answer ({words})")
        if reader.waiting > BODY_BYTES_MAX:
            raise NoAnswer(f"the answer has more than {BODY_BYTES_MAX} bytes")
        fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reader.head.fields}
        return Answer(request, reader.head.status, fields, reader.take())

    def close(self) -> None:
        if self._client is not None:
            self._runner.run(self._client.close())
        self._runner.close()
