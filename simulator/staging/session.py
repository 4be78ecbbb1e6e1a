"""Signed requests at a bounded pace: all requests to a deployment go through here."""

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
    """The time, and waiting. Tests have one that moves the sandbox instead."""

    def now(self) -> float:
        """Unix seconds."""
        ...

    def wait(self, seconds: float) -> None:
        """Return after this time."""
        ...


class WallClock:
    """The time of this machine."""

    def now(self) -> float:
        """Unix seconds."""
        return time.time()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class Pace:
    """Turns at most `per_second` times a second, for one who takes them one after another."""

    def __init__(self, per_second: float) -> None:
        self._pause_s = 1 / per_second
        self._next_s = 0.0

    def wait_s(self, now: float) -> float:
        """Take the next turn, and answer how many seconds after `now` it is: at most one pause, also when the clock was
        set back."""
        wait = min(max(self._next_s - now, 0.0), self._pause_s)
        self._next_s = now + wait + self._pause_s
        return wait


@dataclass(frozen=True, slots=True)
class Signed:
    """The parts that are signed instead of the request's own; None stands for the request's."""

    method: str | None = None
    query: str | None = None
    body: bytes | None = None


class Session:
    """Signs, paces, counts and remembers. `per_second` and `requests_max` bound what the service is asked."""

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
        self._stopped_by = 0  # a signal that came meanwhile
        self._known: dict[tuple[str, str], Answer] = {}

    def get(self, target: str, headers: Mapping[str, str] | None = None) -> Answer:
        """A signed GET; the same one is sent once in a run, and answered from memory then."""
        key = (target, repr(sorted((headers or {}).items())))
        if key not in self._known:
            self._known[key] = self.call("GET", target, headers=headers)
        return self._known[key]

    def forget(self) -> None:
        """Forget the answers about the wallet, which a payment has changed."""
        self._known = {key: answer for key, answer in self._known.items() if answer.request.path not in _WALLET}

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Put changes back, also beyond the limit of requests."""
        self._is_restoring = True
        try:
            yield
        finally:
            self._is_restoring = False
        if self._stopped_by:
            self.stop(self._stopped_by)

    def stop(self, number: int, _: object = None) -> None:
        """End the run by a signal; while something is put back, after that. Raises SystemExit."""
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
        """A signed request. `headers` replace those of the signature, or remove them (None); the rest changes what is
        signed: another request, another nonce, a timestamp that is `age_s` old, another secret."""
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
        """A request as it is, without a signature."""
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
    """A path with an encoded query; a blank is %20, not +."""
    return f"{path}?{urlencode(query, doseq=True).replace('+', '%20')}" if query else path


def recent_days(now_s: float) -> str:
    """The last month and tomorrow, in case the clocks differ, as `date` of history and statement (SPEC 4.14)."""
    today = datetime.fromtimestamp(now_s, UTC).astimezone(SERVICE_ZONE).date()
    return f"{today - timedelta(days=HISTORY_DAYS)}{RANGE_DASH}{today + timedelta(days=1)}"
