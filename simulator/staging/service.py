"""A deployment of the service: signed requests in sequence at a bounded pace, each sent once, with whole answers."""

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import mktime_tz, parsedate_tz
from functools import cached_property
from json import dumps
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from simulator.auth.canonical import canonical_query
from simulator.contract.body import BadJson, decode_any
from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.domain.model.money import SERVICE_ZONE
from simulator.http_client.answers import AnswerBounds, AnswerReader
from simulator.http_client.attempts import NotAllowedError, Route, request_bytes
from simulator.http_client.client import Client
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.short_text import shortened
from simulator.staging.bodies import as_dict, as_text
from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.signed_requests import Credentials, parse_address, signature_headers
from simulator.wire.formats import RANGE_DASH

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
            return as_dict(self.json)
        except Departs:
            return {}

    @property
    def data(self) -> dict[str, Any]:
        """Return the member `data`; empty if it is not an object."""
        return as_dict(self.members.get("data"))

    @property
    def auth_code(self) -> str:
        """Return why authentication failed (SPEC 5.2); empty for any other answer."""
        return as_text(self.members.get("error")) if self.status in (401, 403) else ""

    @property
    def date_s(self) -> float | None:
        """Return the time of the header Date in Unix seconds; None without a usable date."""
        return unix_seconds(self.headers.get("date", ""))

    def __str__(self) -> str:
        """Return status, request, and where a redirect leads or the beginning of the body, for departures."""
        location = self.headers.get("location") if 300 <= self.status < 400 else None
        text = f"a redirect to {location}" if location else self.body.decode("utf-8", "replace")
        return f"{self.status} of {self.request.method} {self.request.path}: {shortened(text, 160)}"

    __repr__ = __str__  # never the headers, which have the signature


def unix_seconds(text: str) -> float | None:
    """Return a date of HTTP as Unix seconds; None for other texts."""
    date = parsedate_tz(text) if text else None
    try:
        return None if date is None else float(mktime_tz(date))
    except (ValueError, OverflowError):  # a year beyond 9999
        return None


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
        self._address, self._timeout_s = parse_address(base_url), timeout_s
        self._origin = Origin(self._address.is_tls, self._address.host, self._address.port)
        self._runner = asyncio.Runner()
        self._client: Client | None = None

    def send(self, request: Request) -> Answer:
        """Send a request without retries, since it may be a payment. Raises `NoAnswer`."""
        return self._runner.run(self._answer(request))

    async def _answer(self, request: Request) -> Answer:
        self._client = self._client or Client(Dialer())
        reader = AnswerReader(request.method, AnswerBounds(64 * 1024, fields=256, body_bytes=BODY_BYTES_MAX + 1))
        headers = tuple(request.headers.items())
        outgoing = OutgoingRequest(request.method, "", headers, request.body or None)
        way = Route(self._origin, self._address.authority, self._address.base + request.target)
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


UNANSWERED_MAX = 8
TRIES_MAX = 5  # of a request that may be sent again
_WALLET = ("/v2/balance", "/v2/balance-statement", "/v2/transactions")


class SessionClock:
    """The time of this machine. Tests use a clock that advances the sandbox instead of waiting."""

    def now(self) -> float:
        """Return Unix seconds."""
        return time.time()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class SignedAs:
    """The signed parts that replace the request's own; None keeps the request's part."""

    method: str | None = None
    query: str | None = None
    body: bytes | None = None


class Session:
    """A session that signs, paces, counts and caches requests. `per_second` and `requests_max` limit the requests."""

    def __init__(
        self, service: Service, credentials: Credentials, clock: SessionClock, per_second: float, requests_max: int
    ) -> None:
        self.clock = clock
        self.secret = credentials.secret
        self.sent = 0
        self._unanswered = 0  # in a row
        self._service = service
        self._credentials = credentials
        self._pause_s, self._next_s = 1 / per_second, 0.0
        self._requests_max = requests_max
        self._is_restoring = False
        self._stopped_by = 0  # a signal received during a restore
        self._known: dict[tuple[str, str], Answer] = {}

    def get(self, target: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a signed GET; equal GETs are sent once in a run, and cached."""
        key = (target, repr(sorted((headers or {}).items())))
        if key not in self._known:
            self._known[key] = self.call("GET", target, headers=headers)
        return self._known[key]

    def forget(self) -> None:
        """Drop the cached answers about the wallet, which a payment has changed."""
        self._known = {key: answer for key, answer in self._known.items() if answer.request.path not in _WALLET}

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Allow requests that restore the configuration, even beyond the limit of requests."""
        self._is_restoring = True
        try:
            yield
        finally:
            self._is_restoring = False
        if self._stopped_by:
            self.stop(self._stopped_by)

    def stop(self, number: int, _: object = None) -> None:
        """End the run on a signal, after any running restore. Raises SystemExit."""
        if not self._is_restoring:
            raise SystemExit(128 + number)
        self._stopped_by = number

    def call(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        signed: SignedAs | None = None,
        nonce: str | None = None,
        age_s: float = 0,
        secret: str | None = None,
    ) -> Answer:
        """Send a signed request. `headers` replace signature headers, or remove them (None). The other arguments change
        the signed values: another request, another nonce, a timestamp that is `age_s` old, another secret."""
        content = body if isinstance(body, bytes) else b"" if body is None else dumps(body).encode()
        other = signed or SignedAs()
        query = canonical_query(target.partition("?")[2].encode()) if other.query is None else other.query.encode()
        credentials = self._credentials if secret is None else self._credentials._replace(secret=secret)
        _, signature = signature_headers(
            credentials,
            str(int(self.clock.now() - age_s)),
            secrets.token_urlsafe(24) if nonce is None else nonce,
            other.method or method,
            query,
            content if other.body is None else other.body,
        )
        media = {"Content-Type": "application/json"} if content else {}
        made = {**signature, **media, **(headers or {})}
        return self.plain(method, target, content, {name: value for name, value in made.items() if value is not None})

    def plain(self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request without a signature."""
        if self.sent >= self._requests_max and not self._is_restoring:
            raise NotExercised(f"the limit of {self._requests_max} requests was reached")
        if self._unanswered >= UNANSWERED_MAX and not self._is_restoring:
            raise NotExercised(f"the last {UNANSWERED_MAX} requests got no answer")
        now = self.clock.now()
        if wait_s := min(max(self._next_s - now, 0.0), self._pause_s):  # not longer after the clock was set back
            self.clock.wait(wait_s)
        self._next_s = now + wait_s + self._pause_s
        self.sent += 1
        self._unanswered += 1
        answer = self._service.send(Request(method, target, dict(headers or {}), body))
        self._unanswered = 0
        return answer


HISTORY_DAYS = 30


def target(path: str, **query: Any) -> str:
    """Return a path with an encoded query; a blank is %20, not +."""
    return f"{path}?{urlencode(query, doseq=True).replace('+', '%20')}" if query else path


def recent_days(now_s: float) -> str:
    """Return the last month and tomorrow, in case the clocks differ, as `date` of history and statement (SPEC 4.14)."""
    today = datetime.fromtimestamp(now_s, UTC).astimezone(SERVICE_ZONE).date()
    return f"{today - timedelta(days=HISTORY_DAYS)}{RANGE_DASH}{today + timedelta(days=1)}"
