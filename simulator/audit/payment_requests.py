"""A request that creates or re-queries a payment (SPEC 4.11), with the outcome in its answer."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from simulator.audit.reading import follows, inner, members, text, whole
from simulator.domain.model.money import parse_number
from simulator.domain.model.transactions import Status
from simulator.wire.payments import STATUS_NAMES
from simulator.wire.traffic import Call

PATH = "/v2/topup"
OK, BAD_REQUEST, TIMEOUT, UNAVAILABLE, SERVER_ERRORS = 200, 400, 408, 503, 500

# (account, product, amount, extras): payments with equal values are the same order.
Order = tuple[str, str, Decimal | str, tuple[tuple[str, str], ...]]


class PaymentOutcome(StrEnum):
    """The outcome of a payment according to an answer."""

    UNKNOWN = "unknown"  # without an answer, or with an answer that has no status
    REFUSED = "refused"  # nothing was created
    ACCEPTED = "accepted"
    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"
    REFUNDED = "refunded"

    @property
    def is_open(self) -> bool:
        """Return whether the payment exists and is not final."""
        return self in (PaymentOutcome.ACCEPTED, PaymentOutcome.PROCESSING)

    @property
    def is_final(self) -> bool:
        """Return whether the payment exists and is final."""
        return self in (PaymentOutcome.PAID, PaymentOutcome.FAILED, PaymentOutcome.REFUNDED)


_OUTCOMES: Mapping[str, PaymentOutcome] = {
    STATUS_NAMES[Status.ACCEPTED]: PaymentOutcome.ACCEPTED,
    STATUS_NAMES[Status.PROCESSING]: PaymentOutcome.PROCESSING,
    STATUS_NAMES[Status.SUCCESSFUL]: PaymentOutcome.PAID,
    STATUS_NAMES[Status.FAILED]: PaymentOutcome.FAILED,
    STATUS_NAMES[Status.REFUNDED]: PaymentOutcome.REFUNDED,
}


def outcome_named(status: str) -> PaymentOutcome:
    """Return the outcome for the name of a status."""
    return _OUTCOMES.get(status, PaymentOutcome.UNKNOWN)


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

    @property
    def may_exist(self) -> bool:
        """Return whether the payment may exist: False only if the answer says that nothing was created."""
        return self.outcome is not PaymentOutcome.REFUSED


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
        status_code=whole(answer, "statusCode"),
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
