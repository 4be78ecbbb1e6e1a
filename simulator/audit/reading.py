"""Tolerant readers of requests, answers and deliveries: data that cannot be parsed is ignored."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlsplit

from simulator.contract.body import BadJson, decode_object
from simulator.contract.query import decode_query
from simulator.domain.model.money import parse_number
from simulator.shortened import one_line
from simulator.wire.traffic import Call, Headers, Notification

OBJECT_BYTES_MAX: Final = 256 * 1024
"""Longer bodies and answers are not decoded, except catalogs and options, which have their own decoder."""

SHOWN_CHARS_MAX = 80
NOTHING: Final[Mapping[str, Any]] = {}


def members(body: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object."""
    if not body or len(body) > OBJECT_BYTES_MAX:
        return NOTHING
    try:
        return decode_object(body)
    except BadJson:
        return NOTHING


def form(body: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object or of a form."""
    if body.lstrip()[:1] == b"{" or len(body) > OBJECT_BYTES_MAX:
        return members(body)
    return decode_query(body)[0]


def inner(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object."""
    value = values.get(name)
    return value if isinstance(value, dict) else NOTHING


def text(values: Mapping[str, Any], name: str) -> str:
    """Return a member that is a text, or a number as a text."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return ""
    return value if isinstance(value, str) else str(value)


def whole(values: Mapping[str, Any], name: str) -> int | None:
    """Return a member that is an integer or the text of an integer."""
    value = parse_number(values.get(name))
    return int(value) if value is not None and value == value.to_integral_value() else None


def money(value: object) -> Decimal | None:
    """Return the amount of a Money."""
    return parse_number(value.get("amount")) if isinstance(value, dict) else None


def header(headers: Headers, name: bytes) -> bytes:
    """Return the first header of this name, which is in lower case."""
    return next((value for found, value in headers if found.lower() == name), b"")


def bearer(call: Call) -> bytes:
    """Return the bearer token of a request."""
    scheme, _, token = header(call.headers, b"authorization").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def callback_fields(one: Notification) -> Mapping[str, Any]:
    """Return the payment result in a transaction callback (SPEC 6.1) of either method."""
    if one.method != "GET":
        return inner(members(one.body), "data")
    try:
        query = parse_qs(urlsplit(one.url).query)
    except ValueError:
        return NOTHING
    return members(query.get("message", [""])[0].encode("utf-8", "replace"))


def parameter_names(query: bytes) -> list[str]:
    """Return the names in a raw query."""
    return [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)]


def follows(at: datetime, before: datetime, answered: datetime) -> bool:
    """Return whether a request at `at` was sent after the answer to the request at `before` had arrived, at `answered`.
    When the clock is stopped, both times are equal, and the order of the requests decides."""
    return at >= answered or at == before


def shown(value: str) -> str:
    """Return a client's value as a finding quotes it."""
    return f"'{one_line(value, SHOWN_CHARS_MAX)}'"


INBOX_PATH = "/_sim/inbox/"
DEAD_HOST, DEAD_PORT = "127.0.0.1", 1  # of the scenario dead-receiver
TEMPORARY = frozenset({408, 429})
ATTEMPTS_MAX = 4
OVER_AFTER = timedelta(minutes=5)
"""Longer than the timeout of a receiver plus the wait before a retry."""


class DeliveryAttempts(NamedTuple):
    """The attempts of a delivery, in order."""

    attempts: list[Notification]

    @property
    def last(self) -> Notification:
        """Return the last attempt."""
        return self.attempts[-1]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the attempts."""
        return tuple(one.n for one in self.attempts)

    @property
    def is_accepted(self) -> bool:
        """Return whether an attempt was accepted."""
        return any(map(is_accepted, self.attempts))

    def is_over(self, until: datetime | None) -> bool:
        """Return whether the service makes no more attempts."""
        has_failed = self.last.status != 0 and not is_retried(self.last)
        is_old = until is not None and until - self.last.at >= OVER_AFTER
        return self.is_accepted or has_failed or is_old or len(self.attempts) >= ATTEMPTS_MAX


def group_attempts(notifications: Iterable[Notification]) -> list[DeliveryAttempts]:
    """Group attempts by delivery: all attempts of a callback or event have the same content."""
    found: dict[tuple[str, str, bytes], DeliveryAttempts] = {}
    for one in notifications:
        found.setdefault((one.kind, one.url, one.body), DeliveryAttempts([])).attempts.append(one)
    return list(found.values())


def is_accepted(one: Notification) -> bool:
    """Return True for any 2xx."""
    return 200 <= one.status < 300


def is_retried(one: Notification) -> bool:
    """Return whether the service tries again."""
    return one.status == 0 or one.status >= 500 or one.status in TEMPORARY


def is_clients_own(one: Notification) -> bool:
    """Return False for inboxes of the simulator, which answer as configured, and for the address of a deliberately dead
    receiver, where nothing listens."""
    try:
        parts = urlsplit(one.url)
        is_dead = parts.hostname == DEAD_HOST and parts.port == DEAD_PORT
    except ValueError:
        return True
    return not is_dead and parts.scheme != "inbox" and not parts.path.startswith(INBOX_PATH)
