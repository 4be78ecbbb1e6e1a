"""A payment that was created, and the states it may go through (SPEC 3.1).

A transaction is never in no state: the creating answer is its first. `Accepted` may go on to `Processing`, never
back. `Succesful` and `Failed` are final for the provider; a void alone leads out of success. Nothing leads out of
`Failed` or `Refunded`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from simulator.domain.rules import CallbackPlan, Step


class Status(StrEnum):
    """Where a transaction stands; how it is spelled on the wire is decided there."""

    ACCEPTED = "accepted"
    PROCESSING = "processing"
    SUCCESSFUL = "successful"
    FAILED = "failed"
    REFUNDED = "refunded"

    __hash__ = str.__hash__  # an enum's own is Python code, and every payment looks a dozen statuses up


TRANSITIONS: dict[Status | None, frozenset[Status]] = {
    None: frozenset({Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED}),
    Status.ACCEPTED: frozenset({Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED}),
    Status.PROCESSING: frozenset({Status.SUCCESSFUL, Status.FAILED}),
    Status.SUCCESSFUL: frozenset({Status.REFUNDED}),
    Status.FAILED: frozenset(),
    Status.REFUNDED: frozenset(),
}

# No provider result can follow one of these.
SETTLED = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.REFUNDED})


def may_follow(before: Status | None, after: Status) -> bool:
    """True when a transaction may go from `before` to `after`."""
    return after in TRANSITIONS[before]


class Result(NamedTuple):
    """What was true of a transaction from `at` on: the variable half of SPEC 2.3.

    `cost` is 0 once the wallet got it back; `balance` is the wallet's after this change; `cause` says what brought
    it about: `creation`, `step`, `requery` or `void`.
    """

    at: datetime
    status: Status
    code: int
    cost: Decimal
    balance: Decimal
    cause: str
    remarks: str = ""
    sn: str = ""
    pin: str = ""
    expiry: date | None = None
    note: str = ""
    voucherlink: str = ""


@dataclass(slots=True)
class Transaction:
    """A payment. `results` has one entry for each status it had, the last one is current; `entry_ids` are its
    ledger entries; `place` counts its reseller's transactions from 0; `steps`, `tickets` and `requeries` serve the
    timeline while it is not settled."""

    trxid: str
    refid: str
    reseller: str
    product: str
    product_name: str
    account: str
    amount: Decimal
    cost: Decimal
    remarks: str
    extras: Mapping[str, object]
    sender: str
    created: datetime
    rule: str
    callbacks: CallbackPlan
    results: list[Result] = field(default_factory=list)
    entry_ids: list[int] = field(default_factory=list)
    steps: tuple[Step, ...] = ()
    tickets: list[int] = field(default_factory=list)
    requeries: int = 0
    place: int = 0

    @property
    def result(self) -> Result:
        """The current result."""
        return self.results[-1]

    @property
    def is_settled(self) -> bool:
        """True when no provider result can follow."""
        return self.results[-1].status in SETTLED
