"""Tolerant readers of requests, payments (SPEC 4.11), answers and deliveries: data that cannot be parsed is ignored."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from simulator.contract.body import BadJson, decode_object
from simulator.contract.query import decode_query
from simulator.domain.model.callbacks import RetryPolicy
from simulator.domain.model.money import parse_number
from simulator.domain.model.transactions import Status
from simulator.short_text import one_line
from simulator.wire.payment_answers import STATUS_NAMES
from simulator.wire.traffic import Call, Headers, Notification

OBJECT_BYTES_MAX: Final = 256 * 1024
"""Longer bodies and answers are not decoded, except catalogs and options, which have their own decoder."""

NOTHING: Final[Mapping[str, Any]] = {}
Item = TypeVar("Item")


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


def integer(values: Mapping[str, Any], name: str) -> int | None:
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


def grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    """Return the items by key, in order."""
    found: dict[Any, list[Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found


def follows(at: datetime, before: datetime, answered: datetime) -> bool:
    """Return whether a request at `at` was sent after the answer to the request at `before` had arrived, at `answered`.
    When the clock is stopped, both times are equal, and the order of the requests decides."""
    return at >= answered or at == before


def quote(value: str) -> str:
    """Return a client's value as a finding quotes it."""
    return f"'{one_line(value)}'"


INBOX_PATH = "/_sim/inbox/"
DEAD_HOST, DEAD_PORT = "127.0.0.1", 1  # of the scenario dead-receiver
TEMPORARY = frozenset({408, 429})
RETRIES = RetryPolicy().retries
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
        return tuple(attempt.n for attempt in self.attempts)

    @property
    def is_accepted(self) -> bool:
        """Return whether an attempt was accepted."""
        return any(map(is_accepted, self.attempts))

    def is_over(self, until: datetime | None) -> bool:
        """Return whether the service makes no more attempts."""
        has_failed = 0 < self.last.status < SERVER_ERRORS and self.last.status not in TEMPORARY
        is_old = until is not None and until - self.last.at >= OVER_AFTER
        return self.is_accepted or has_failed or is_old or len(self.attempts) > RETRIES


def is_accepted(notification: Notification) -> bool:
    """Return True for any 2xx."""
    return 200 <= notification.status < 300


def is_clients_own(notification: Notification) -> bool:
    """Return False for inboxes of the simulator, which answer as configured, and for the address of a deliberately dead
    receiver, where nothing listens."""
    try:
        parts = urlsplit(notification.url)
        is_dead = parts.hostname == DEAD_HOST and parts.port == DEAD_PORT
    except ValueError:
        return True
    return not is_dead and parts.scheme != "inbox" and not parts.path.startswith(INBOX_PATH)


PATH = "/v2/topup"
OK, TIMEOUT, UNAVAILABLE, SERVER_ERRORS = 200, 408, 503, 500

# (account, product, amount, extras): payments with equal values are the same order.
Order = tuple[str, str, Decimal | str, tuple[tuple[str, str], ...]]


class PaymentOutcome(StrEnum):
    """The outcome of a payment according to an answer; the status as the service names it, if present."""

    UNKNOWN = "unknown"  # without an answer, or with an answer that has no status
    REFUSED = "refused"  # nothing was created
    ACCEPTED = STATUS_NAMES[Status.ACCEPTED]
    PROCESSING = STATUS_NAMES[Status.PROCESSING]
    PAID = STATUS_NAMES[Status.SUCCESSFUL]
    FAILED = STATUS_NAMES[Status.FAILED]
    REFUNDED = STATUS_NAMES[Status.REFUNDED]

    @property
    def is_open(self) -> bool:
        """Return whether the payment exists and is not final."""
        return self in (PaymentOutcome.ACCEPTED, PaymentOutcome.PROCESSING)

    @property
    def is_final(self) -> bool:
        """Return whether the payment exists and is final."""
        return self in (PaymentOutcome.PAID, PaymentOutcome.FAILED, PaymentOutcome.REFUNDED)


def outcome_named(status: str) -> PaymentOutcome:
    """Return the outcome for the name of a status."""
    return PaymentOutcome(status) if status in STATUS_NAMES.values() else PaymentOutcome.UNKNOWN


def callback_outcome(notification: Notification) -> PaymentOutcome:
    """Return the status in a transaction callback (SPEC 6.1) of either method."""
    if notification.method != "GET":
        return outcome_named(text(inner(members(notification.body), "data"), "status"))
    try:
        query = parse_qs(urlsplit(notification.url).query)
    except ValueError:
        return PaymentOutcome.UNKNOWN
    return outcome_named(text(members(query.get("message", [""])[0].encode("utf-8", "replace")), "status"))


class PaymentRequest(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A request about a payment. `amount` is None if it is not a number. `code`, `biller` and `identity` come from the
    extras, `status_code` and `remarks` from the answer."""

    n: int
    at: datetime
    answered: datetime
    actor: str
    refid: str
    product: str
    account: str
    amount: Decimal | None
    order: Order
    code: str
    biller: str
    identity: str
    http_status: int
    outcome: PaymentOutcome
    status_code: int | None
    remarks: str

    @property
    def key(self) -> tuple[str, str]:
        """Return the client and the refid."""
        return self.actor, self.refid

    def follows(self, before: "PaymentRequest") -> bool:
        """Return whether this request was sent after the answer to the other request arrived."""
        return self.n > before.n and follows(self.at, before.at, before.answered)


def payment_of(call: Call, actor: str) -> PaymentRequest | None:
    """Return the payment of a `POST /v2/topup` with a refid."""
    sent, answer = members(call.body), inner(members(call.answer), "data")
    refid, extras = text(sent, "refid"), inner(sent, "extras")
    if not refid:
        return None
    amount = parse_number(sent.get("amount"))
    product, account = text(sent, "product"), text(sent, "account")
    return PaymentRequest(
        n=call.n,
        at=call.at,
        answered=call.at + timedelta(microseconds=call.duration_us),
        actor=actor,
        refid=refid,
        product=product,
        account=account,
        amount=amount,
        order=(account, product, _plain(sent.get("amount")) if amount is None else amount, _extras(extras)),
        code=text(extras, "subproduct_code"),
        biller=text(extras, "biller_code"),
        identity=text(extras, "ic_number"),
        http_status=call.status,
        outcome=_outcome(call.status, answer),
        status_code=integer(answer, "statusCode"),
        remarks=text(answer, "remarks"),
    )


def _outcome(status: int, answer: Mapping[str, Any]) -> PaymentOutcome:
    if status == OK:
        return outcome_named(text(answer, "status"))
    is_silent = status < OK or status == TIMEOUT or (status >= SERVER_ERRORS and status != UNAVAILABLE)
    return PaymentOutcome.UNKNOWN if is_silent else PaymentOutcome.REFUSED


def _extras(extras: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the extras that have a value."""
    return tuple(sorted((name, _plain(value)) for name, value in extras.items() if value not in (None, "")))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
