"""The outcomes that tests of a careful client should see at least once, with their detection.

There are two sources: the answers to requests, and the domain, which counts everything else as it happens. The cost of
a report does not depend on the number of payments.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from simulator.domain.model.transactions import Reason, Status

BILLS_PATH = "/v2/bill-presentment"
PLAN_REASONS = (Reason.PLAN_REQUIRED, Reason.PLAN_UNKNOWN, Reason.PLAN_MISMATCH)


class ConnectionEnd(StrEnum):
    """The ending of a request's exchange on its connection."""

    WHOLE = ""
    ABORTED = "abort"  # without a byte of an answer
    CUT = "cut"  # in the middle of the answer
    GONE = "gone"  # the client had left


class DomainOutcome(StrEnum):
    """Outcomes that the domain counts as they happen; the value is the outcome's id. A payment counts once for each of
    its outcomes."""

    SUCCESSFUL_AFTER_PROCESSING = "payment-successful-after-processing"
    SUCCESSFUL_AT_ONCE = "payment-successful-at-once"
    FAILED_AFTER_ACCEPTED = "payment-failed-after-accepted"
    FAILED_AFTER_PROCESSING = "payment-failed-after-processing"
    FAILED_AT_ONCE = "payment-failed-at-once"
    REFUNDED = "payment-refunded"
    STUCK = "payment-stuck"
    REQUERIED = "payment-requeried"
    CALLBACK_DELIVERED = "callback-delivered"
    CALLBACK_RETRIED = "callback-retried"
    CALLBACK_DELIVERED_LATE = "callback-delivered-after-retry"
    CALLBACK_FAILED = "callback-failed"
    CALLBACK_DUPLICATED = "callback-duplicated"
    CALLBACK_DROPPED = "callback-dropped"
    CALLBACKS_REVERSED = "callbacks-reversed"
    CALLBACK_STALE = "callback-stale"
    WEBHOOK_DELIVERED = "webhook-delivered"
    WEBHOOK_RETRIED = "webhook-retried"
    WEBHOOK_FAILED = "webhook-failed"
    WEBHOOK_REPLAYED = "webhook-replayed"
    REPLAY_REFUSED = "replay-refused"
    VOID_TAKEN = "void-taken"
    VOID_REFUSED = "void-refused"
    VOID_REFUSED_LATER = "void-refused-later"
    DISPUTE_TAKEN = "dispute-taken"
    DISPUTE_REFUSED = "dispute-refused"

    __hash__ = str.__hash__  # the enum's own is slow Python code, and every callback hashes one


# The outcome of a settled payment, from all of its statuses.
SETTLED_COURSES: Mapping[tuple[Status, ...], DomainOutcome] = MappingProxyType(
    {
        (Status.SUCCESSFUL,): DomainOutcome.SUCCESSFUL_AT_ONCE,
        (Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL): DomainOutcome.SUCCESSFUL_AFTER_PROCESSING,
        (Status.FAILED,): DomainOutcome.FAILED_AT_ONCE,
        (Status.ACCEPTED, Status.FAILED): DomainOutcome.FAILED_AFTER_ACCEPTED,
        (Status.PROCESSING, Status.FAILED): DomainOutcome.FAILED_AFTER_PROCESSING,
        (Status.ACCEPTED, Status.PROCESSING, Status.FAILED): DomainOutcome.FAILED_AFTER_PROCESSING,
    }
)


class AnswerKind(NamedTuple):
    """A kind of answer. `path` and `method` are as the contract writes them, `*` if unknown; `ending` is the
    connection's: `abort` or `cut` by a fault, `gone` when the client left."""

    method: str
    path: str
    status: int
    error: str
    ending: str


class KnownOutcome(msgspec.Struct, frozen=True):
    """A known outcome. Without a test of answers, the domain counts it."""

    id: str
    group: str
    text: str
    of_answer: Callable[[AnswerKind], bool] | None = None


def _has_error(*errors: str) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.error in errors


def _status(low: int, high: int) -> Callable[[AnswerKind], bool]:
    sent = (ConnectionEnd.WHOLE, ConnectionEnd.CUT)
    return lambda answered: low <= answered.status <= high and answered.ending in sent


def _has_ending(ending: ConnectionEnd) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.ending == ending


def _bill(status: int) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.path == BILLS_PATH and answered.status == status


def _answer(id_: str, group: str, text: str, of_answer: Callable[[AnswerKind], bool]) -> KnownOutcome:
    return KnownOutcome(id_, group, text, of_answer=of_answer)


_PAYMENTS = "payments"
_CALLBACKS, _REFUSALS, _CASES = "callbacks", "refused payments", "voids and disputes"
_AUTH, _LIMITS = "authentication", "limits"

OUTCOMES: tuple[KnownOutcome, ...] = (
    KnownOutcome(DomainOutcome.SUCCESSFUL_AFTER_PROCESSING, _PAYMENTS, "Accepted, Processing, then success"),
    KnownOutcome(DomainOutcome.SUCCESSFUL_AT_ONCE, _PAYMENTS, "success in the first answer"),
    KnownOutcome(DomainOutcome.FAILED_AFTER_ACCEPTED, _PAYMENTS, "Failed after Accepted"),
    KnownOutcome(DomainOutcome.FAILED_AFTER_PROCESSING, _PAYMENTS, "Failed after Processing"),
    KnownOutcome(DomainOutcome.FAILED_AT_ONCE, _PAYMENTS, "Failed in the first answer"),
    KnownOutcome(DomainOutcome.REFUNDED, _PAYMENTS, "Refund after a success"),
    KnownOutcome(DomainOutcome.STUCK, _PAYMENTS, "Processing (or Accepted) for ever"),
    KnownOutcome(DomainOutcome.REQUERIED, _PAYMENTS, "asked for again before it was settled"),
    _answer("insufficient-balance", _REFUSALS, "Insufficient_Balance", _has_error(Reason.BALANCE)),
    _answer("invalid-product", _REFUSALS, "Invalid_Product", _has_error(Reason.PRODUCT)),
    _answer("invalid-account", _REFUSALS, "Invalid_Account", _has_error(Reason.ACCOUNT)),
    _answer("invalid-extras", _REFUSALS, "Invalid_Extras", _has_error(Reason.EXTRAS)),
    _answer("invalid-denomination", _REFUSALS, "Invalid_Denomination", _has_error(Reason.DENOMINATION)),
    _answer("invalid-request", _REFUSALS, "Invalid_Request", _has_error(Reason.REQUEST)),
    _answer("invalid-plan-code", _REFUSALS, "a plan code that does not fit", _has_error(*PLAN_REASONS)),
    KnownOutcome(DomainOutcome.VOID_TAKEN, _CASES, "a void that was taken"),
    KnownOutcome(DomainOutcome.VOID_REFUSED, _CASES, "a refused void"),
    KnownOutcome(DomainOutcome.VOID_REFUSED_LATER, _CASES, "a void that was taken and refused by the biller after all"),
    KnownOutcome(DomainOutcome.DISPUTE_TAKEN, _CASES, "a dispute that was taken"),
    KnownOutcome(DomainOutcome.DISPUTE_REFUSED, _CASES, "a refused dispute"),
    _answer("case-of-unknown-transaction", _CASES, "400 for an unknown transaction", _has_error("unknown_transaction")),
    _answer("bill-found", "bills", "a bill", _bill(200)),
    _answer("bill-refused", "bills", "a bill that cannot be looked up", _bill(400)),
    KnownOutcome(DomainOutcome.CALLBACK_DELIVERED, _CALLBACKS, "a callback that was delivered"),
    KnownOutcome(DomainOutcome.CALLBACK_RETRIED, _CALLBACKS, "a callback that was tried again"),
    KnownOutcome(DomainOutcome.CALLBACK_DELIVERED_LATE, _CALLBACKS, "a callback that was delivered by a retry"),
    KnownOutcome(DomainOutcome.CALLBACK_FAILED, _CALLBACKS, "a callback that failed for good"),
    KnownOutcome(DomainOutcome.CALLBACK_DUPLICATED, _CALLBACKS, "duplicate callbacks"),
    KnownOutcome(DomainOutcome.CALLBACK_DROPPED, _CALLBACKS, "a callback that never came"),
    KnownOutcome(DomainOutcome.CALLBACKS_REVERSED, _CALLBACKS, "callbacks in reverse order"),
    KnownOutcome(DomainOutcome.CALLBACK_STALE, _CALLBACKS, "an earlier status sent again after a later status"),
    KnownOutcome(DomainOutcome.WEBHOOK_DELIVERED, "webhooks", "a webhook that was delivered"),
    KnownOutcome(DomainOutcome.WEBHOOK_RETRIED, "webhooks", "a webhook that was tried again"),
    KnownOutcome(DomainOutcome.WEBHOOK_FAILED, "webhooks", "a webhook that failed for good"),
    KnownOutcome(DomainOutcome.WEBHOOK_REPLAYED, "webhooks", "a replay"),
    KnownOutcome(DomainOutcome.REPLAY_REFUSED, "webhooks", "a refused replay"),
    _answer("invalid-signature", _AUTH, "401 invalid_signature", _has_error("invalid_signature")),
    _answer("invalid-api-key", _AUTH, "401 invalid_api_key", _has_error("invalid_api_key")),
    _answer("timestamp-expired", _AUTH, "401 timestamp_expired", _has_error("timestamp_expired")),
    _answer("nonce-reused", _AUTH, "401 nonce_reused", _has_error("nonce_reused")),
    _answer("nonce-service-down", _AUTH, "503 nonce_service_unavailable", _has_error("nonce_service_unavailable")),
    _answer("ip-blocked", _LIMITS, "403 ip_blocked", _has_error("ip_blocked")),
    _answer("ip-not-allowed", _LIMITS, "403 ip_not_allowed", _has_error("ip_not_allowed")),
    _answer("api-key-required", _LIMITS, "403 api_key_required", _has_error("api_key_required")),
    _answer("connection-closed", "HTTP", "a connection closed without an answer", _has_ending(ConnectionEnd.ABORTED)),
    _answer("answer-cut", "HTTP", "an answer cut in the middle", _has_ending(ConnectionEnd.CUT)),
    _answer("status-400", "HTTP", "400", _status(400, 400)),
    _answer("status-401", "HTTP", "401", _status(401, 401)),
    _answer("status-403", "HTTP", "403", _status(403, 403)),
    _answer("status-404", "HTTP", "404", _status(404, 404)),
    _answer("status-429", "HTTP", "429", _status(429, 429)),
    _answer("status-500", "HTTP", "500, 501 or 502", _status(500, 502)),
    _answer("status-503", "HTTP", "503", _status(503, 503)),
    _answer("status-504", "HTTP", "504", _status(504, 504)),
)  # fmt: skip

IDS = frozenset(outcome.id for outcome in OUTCOMES)
