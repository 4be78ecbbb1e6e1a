"""Cases: disputes and voids of successful payments (SPEC 4.12, 4.13), with the rules that decide them."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from simulator.domain.model.details import Detail
from simulator.domain.model.rules import Text
from simulator.domain.model.transactions import Transaction

# The default delay of a wallet refund.
REFUND_AFTER = timedelta(seconds=60)


class CaseKind(StrEnum):
    """The kind of request."""

    DISPUTE = "dispute"  # asks for a check
    VOID = "void"  # asks for a reversal


class CaseState(StrEnum):
    """The state of a case; SPEC 3.5 exposes nothing beyond the immediate answer."""

    OPEN = "open"  # an accepted dispute
    APPROVED = "approved"  # an accepted void that awaits the biller's final answer
    REFUNDED = "refunded"
    REFUSED = "refused"


class CaseThen(msgspec.Struct, frozen=True):
    """The effect of a rule of `voids` or `disputes`: the immediate answer and, for an accepted void, the outcome: a
    refund after `refund_after` or, if None, the biller's refusal after `refused_after`."""

    is_accepted: bool
    message: Text | None = None
    refund_after: timedelta | None = None
    refused_after: timedelta | None = None


class Case(msgspec.Struct):
    """A dispute or void that a rule decided, with the transaction as of then or after its refund. `is_accepted` is the
    immediate answer, `state` the current state; `ended` is None while the biller's final answer is pending."""

    id: str
    kind: CaseKind
    transaction: Transaction
    at: datetime
    state: CaseState
    is_accepted: bool
    message: str
    rule: str
    user_email: tuple[str, ...] = ()
    refund_type: int | None = None
    refund_reason: str = ""
    ended: datetime | None = None


class CaseAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The decision on a request, with its message. `rule` is the rule that decided; `detail` explains a decision
    without a rule, or names ignored parts of the request."""

    transaction: Transaction
    is_accepted: bool
    message: str
    rule: str
    detail: Detail | None = None


class NoSuchTransaction(msgspec.Struct, frozen=True, gc=False):
    """The reseller has no transaction with this reference."""

    named_by: str
    detail: Detail | None = None
