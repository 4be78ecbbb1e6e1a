"""The outcomes that tests of a careful client should see at least once, with their detection.

There are two sources: the answers to requests, and the domain, which counts everything else as it happens. The cost of
a report does not depend on the number of payments.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
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


_PAYMENTS, _CALLBACKS, _WEBHOOKS, _CASES = "payments", "callbacks", "webhooks", "voids and disputes"
_REFUSALS, _BILLS, _AUTH, _LIMITS, _HTTP = "refused payments", "bills", "authentication", "limits", "HTTP"

# The groups of outcomes, in the order of reports.
_GROUPS = (_PAYMENTS, _REFUSALS, _CASES, _BILLS, _CALLBACKS, _WEBHOOKS, _AUTH, _LIMITS, _HTTP)


class DomainOutcome(StrEnum):
    """Outcomes that the domain counts as they happen; the value is the outcome's id, followed by its group and its
    text. A payment counts once for each of its outcomes."""

    group: str
    text: str

    def __new__(cls, id_: str, group: str = "", text: str = "") -> "DomainOutcome":
        member = str.__new__(cls, id_)
        member._value_, member.group, member.text = id_, group, text
        return member

    SUCCESSFUL_AFTER_PROCESSING = "payment-successful-after-processing", _PAYMENTS, "Accepted, Processing, then success"
    SUCCESSFUL_AT_ONCE = "payment-successful-at-once", _PAYMENTS, "success in the first answer"
    FAILED_AFTER_ACCEPTED = "payment-failed-after-accepted", _PAYMENTS, "Failed after Accepted"
    FAILED_AFTER_PROCESSING = "payment-failed-after-processing", _PAYMENTS, "Failed after Processing"
    FAILED_AT_ONCE = "payment-failed-at-once", _PAYMENTS, "Failed in the first answer"
    REFUNDED = "payment-refunded", _PAYMENTS, "Refund after a success"
    STUCK = "payment-stuck", _PAYMENTS, "Processing (or Accepted) for ever"
    REQUERIED = "payment-requeried", _PAYMENTS, "asked for again before it was settled"
    CALLBACK_DELIVERED = "callback-delivered", _CALLBACKS, "a callback that was delivered"
    CALLBACK_RETRIED = "callback-retried", _CALLBACKS, "a callback that was tried again"
    CALLBACK_DELIVERED_LATE = "callback-delivered-after-retry", _CALLBACKS, "a callback that was delivered by a retry"
    CALLBACK_FAILED = "callback-failed", _CALLBACKS, "a callback that failed for good"
    CALLBACK_DUPLICATED = "callback-duplicated", _CALLBACKS, "duplicate callbacks"
    CALLBACK_DROPPED = "callback-dropped", _CALLBACKS, "a callback that never came"
    CALLBACKS_REVERSED = "callbacks-reversed", _CALLBACKS, "callbacks in reverse order"
    CALLBACK_STALE = "callback-stale", _CALLBACKS, "an earlier status sent again after a later status"
    WEBHOOK_DELIVERED = "webhook-delivered", _WEBHOOKS, "a webhook that was delivered"
    WEBHOOK_RETRIED = "webhook-retried", _WEBHOOKS, "a webhook that was tried again"
    WEBHOOK_FAILED = "webhook-failed", _WEBHOOKS, "a webhook that failed for good"
    WEBHOOK_REPLAYED = "webhook-replayed", _WEBHOOKS, "a replay"
    REPLAY_REFUSED = "replay-refused", _WEBHOOKS, "a refused replay"
    VOID_TAKEN = "void-taken", _CASES, "a void that was taken"
    VOID_REFUSED = "void-refused", _CASES, "a refused void"
    VOID_REFUSED_LATER = "void-refused-later", _CASES, "a void that was taken and refused by the biller after all"
    DISPUTE_TAKEN = "dispute-taken", _CASES, "a dispute that was taken"
    DISPUTE_REFUSED = "dispute-refused", _CASES, "a refused dispute"

    __hash__ = str.__hash__  # the enum's own is slow Python code, and every callback hashes one


# The outcome of a settled payment, from all of its statuses.
SETTLED_COURSES: Mapping[tuple[Status, ...], DomainOutcome] = {
    (Status.SUCCESSFUL,): DomainOutcome.SUCCESSFUL_AT_ONCE,
    (Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL): DomainOutcome.SUCCESSFUL_AFTER_PROCESSING,
    (Status.FAILED,): DomainOutcome.FAILED_AT_ONCE,
    (Status.ACCEPTED, Status.FAILED): DomainOutcome.FAILED_AFTER_ACCEPTED,
    (Status.PROCESSING, Status.FAILED): DomainOutcome.FAILED_AFTER_PROCESSING,
    (Status.ACCEPTED, Status.PROCESSING, Status.FAILED): DomainOutcome.FAILED_AFTER_PROCESSING,
}


class AnswerKind(NamedTuple):
    """A kind of answer. `path` and `method` are as the contract writes them, `*` if unknown; `ending` is the
    connection's: `abort` or `cut` by a fault, `gone` when the client left."""

    method: str
    path: str
    status: int
    error: str
    ending: str


class OutcomeRow(msgspec.Struct, frozen=True):
    """A known outcome, as reports show it. Without a test of answers, the domain counts it."""

    id: str
    group: str
    text: str
    of_answer: Callable[[AnswerKind], bool] | None = None


def _error(*errors: str) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.error in errors


def _status(low: int, high: int) -> Callable[[AnswerKind], bool]:
    sent = (ConnectionEnd.WHOLE, ConnectionEnd.CUT)
    return lambda answered: low <= answered.status <= high and answered.ending in sent


def _ending(ending: ConnectionEnd) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.ending == ending


def _bill(status: int) -> Callable[[AnswerKind], bool]:
    return lambda answered: answered.path == BILLS_PATH and answered.status == status


_ANSWERED = (
    OutcomeRow("insufficient-balance", _REFUSALS, "Insufficient_Balance", _error(Reason.BALANCE)),
    OutcomeRow("invalid-product", _REFUSALS, "Invalid_Product", _error(Reason.PRODUCT)),
    OutcomeRow("invalid-account", _REFUSALS, "Invalid_Account", _error(Reason.ACCOUNT)),
    OutcomeRow("invalid-extras", _REFUSALS, "Invalid_Extras", _error(Reason.EXTRAS)),
    OutcomeRow("invalid-denomination", _REFUSALS, "Invalid_Denomination", _error(Reason.DENOMINATION)),
    OutcomeRow("invalid-request", _REFUSALS, "Invalid_Request", _error(Reason.REQUEST)),
    OutcomeRow("invalid-plan-code", _REFUSALS, "a plan code that does not fit", _error(*PLAN_REASONS)),
    OutcomeRow("case-of-unknown-transaction", _CASES, "400 for an unknown transaction", _error("unknown_transaction")),
    OutcomeRow("bill-found", _BILLS, "a bill", _bill(200)),
    OutcomeRow("bill-refused", _BILLS, "a bill that cannot be looked up", _bill(400)),
    OutcomeRow("invalid-signature", _AUTH, "401 invalid_signature", _error("invalid_signature")),
    OutcomeRow("invalid-api-key", _AUTH, "401 invalid_api_key", _error("invalid_api_key")),
    OutcomeRow("timestamp-expired", _AUTH, "401 timestamp_expired", _error("timestamp_expired")),
    OutcomeRow("nonce-reused", _AUTH, "401 nonce_reused", _error("nonce_reused")),
    OutcomeRow("nonce-service-down", _AUTH, "503 nonce_service_unavailable", _error("nonce_service_unavailable")),
    OutcomeRow("ip-blocked", _LIMITS, "403 ip_blocked", _error("ip_blocked")),
    OutcomeRow("ip-not-allowed", _LIMITS, "403 ip_not_allowed", _error("ip_not_allowed")),
    OutcomeRow("api-key-required", _LIMITS, "403 api_key_required", _error("api_key_required")),
    OutcomeRow("connection-closed", _HTTP, "a connection closed without an answer", _ending(ConnectionEnd.ABORTED)),
    OutcomeRow("answer-cut", _HTTP, "an answer cut in the middle", _ending(ConnectionEnd.CUT)),
    OutcomeRow("status-400", _HTTP, "400", _status(400, 400)),
    OutcomeRow("status-401", _HTTP, "401", _status(401, 401)),
    OutcomeRow("status-403", _HTTP, "403", _status(403, 403)),
    OutcomeRow("status-404", _HTTP, "404", _status(404, 404)),
    OutcomeRow("status-429", _HTTP, "429", _status(429, 429)),
    OutcomeRow("status-500", _HTTP, "500, 501 or 502", _status(500, 502)),
    OutcomeRow("status-503", _HTTP, "503", _status(503, 503)),
    OutcomeRow("status-504", _HTTP, "504", _status(504, 504)),
)  # fmt: skip

# In the order of reports: by group, counted outcomes first.
OUTCOMES = sorted(
    (*(OutcomeRow(one.value, one.group, one.text) for one in DomainOutcome), *_ANSWERED),
    key=lambda outcome: _GROUPS.index(outcome.group),
)

IDS = frozenset(outcome.id for outcome in OUTCOMES)
