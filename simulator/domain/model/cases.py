"""Cases: disputes and voids of payments that had succeeded (SPEC 4.12, 4.13), and what a rule makes of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from simulator.domain.model.rules import Text
from simulator.domain.model.transactions import Transaction

# When the wallet is refunded unless a rule says otherwise.
REFUND_AFTER = timedelta(seconds=60)


class CaseKind(StrEnum):
    """What is asked for."""

    DISPUTE = "dispute"  # please check
    VOID = "void"  # please take back


class CaseState(StrEnum):
    """Where a case stands; SPEC 3.5 shows nothing beyond the immediate answer."""

    OPEN = "open"  # a dispute that was taken
    APPROVED = "approved"  # a void that was taken: the biller's last word is to come
    REFUNDED = "refunded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class CaseThen:
    """What a rule of `voids` or `disputes` does: the immediate answer, and of a void that is taken how it ends, with
    a refund after `refund_after` or, when that is None, with the biller's refusal after `refused_after`."""

    is_taken: bool
    message: Text | None = None
    refund_after: timedelta | None = None
    refused_after: timedelta | None = None


@dataclass(slots=True)
class Case:
    """One dispute or void that a rule decided. `is_taken` is what was answered at once, `state` where it
    stands; `ended` is None while the biller's last word is to come."""

    id: str
    kind: CaseKind
    transaction: Transaction
    at: datetime
    state: CaseState
    is_taken: bool
    message: str
    rule: str
    user_email: tuple[str, ...] = ()
    refund_type: int | None = None
    refund_reason: str = ""
    ended: datetime | None = None
