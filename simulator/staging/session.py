"""Signed requests at a bounded pace: all requests to a deployment use this session."""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from json import dumps
from typing import Any, Protocol
from urllib.parse import urlencode

from simulator.auth.canonical import canonical_query
from simulator.domain.model.money import SERVICE_ZONE
from simulator.staging.conform.findings import NotExercised
from simulator.staging.service import Answer, Request, Service
from simulator.staging.signing import Credentials, signature_headers
from simulator.wire.timestamps import RANGE_DASH

VERSION = {"X-API-Version": "2026-09-16"}

UNANSWERED_MAX = 8
_WALLET = ("/v2/balance", "/v2/balance-statement", "/v2/transactions")


class Clock(Protocol):
    """A clock with waiting. Tests use an implementation that advances the sandbox instead."""

    def now(self) -> float:
        """Return Unix seconds."""
        ...

    def wait(self, seconds: float) -> None:
        """Return after this time."""
        ...


class WallClock:
    """The time of this machine."""

    def now(self) -> float:
        """Return Unix seconds."""
        return time.time()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class Pace:
    """A rate limit of `per_second` requests, for sequential use."""

    def __init__(self, per_second: float) -> None:
        self._pause_s = 1 / per_second
        self._next_s = 0.0

    def wait_s(self, now: float) -> float:
        """Take the next turn, and return how many seconds after `now` it is: at most one pause, also after the clock
        was set back."""
        wait = min(max(self._next_s - now, 0.0), self._pause_s)
        self._next_s = now + wait + self._pause_s
        return wait


@dataclass(frozen=True, slots=True)
class Signed:
    """The signed parts that replace the request's own; None keeps the request's part."""

    method: str | None = None
    query: str | None = None
    body: bytes | None = None


class Session:
    """A session that signs, paces, counts and caches requests. `per_second` and `requests_max` limit the requests."""

    def __init__(
        self, service: Service, credentials: Credentials, clock: Clock, per_second: float, requests_max: int
    ) -> None:
        self.clock = clock
        self.secret = credentials.secret
        self.sent = 0
        self._unanswered = 0  # in a row
        self._service = service
        self._credentials = credentials
        self._pace = Pace(per_second)
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
        signed: Signed | None = None,
        nonce: str | None = None,
        age_s: float = 0,
        secret: str | None = None,
    ) -> Answer:
        """Send a signed request. `headers` replace signature headers, or remove them (None). The other arguments change
        the signed values: another request, another nonce, a timestamp that is `age_s` old, another secret."""
        content = body if isinstance(body, bytes) else b"" if body is None else dumps(body).encode()
        other = signed or Signed()
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
        if wait := self._pace.wait_s(self.clock.now()):
            self.clock.wait(wait)
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
