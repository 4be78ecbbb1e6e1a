"""The requests that clients sent and the answers that they received. Only acknowledged requests have to survive a
kill."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

FINAL = {"Succesful", "Failed", "Refund"}
AFTER = {
    "Accepted": {"Accepted", "Processing", *FINAL},
    "Processing": {"Processing", *FINAL},
    "Succesful": {"Succesful", "Refund"},
    "Failed": {"Failed"},
    "Refund": {"Refund"},
}
"""By status, the statuses that a payment can have later, including the status itself."""


@dataclass(frozen=True, slots=True)
class Payment:
    """The status, cost and balance of a payment in an answer."""

    status: str
    cost: Decimal
    balance: Decimal

    @staticmethod
    def of(data: dict[str, Any]) -> "Payment":
        """Parse the `data` of a topup's answer (SPEC 2.3)."""
        return Payment(data["status"], Decimal(str(data["cost"])), Decimal(str(data["balance"])))


@dataclass(slots=True)
class ClientRecord:
    """The requests and answers of all clients, in order of arrival."""

    orders: dict[str, dict[str, Any]] = field(default_factory=dict)  # by refid, whether they were answered or not
    payments: dict[str, Payment] = field(default_factory=dict)  # by refid, the latest status that was reported
    created: dict[str, Payment] = field(default_factory=dict)  # by refid, from the answer that created it
    voids: set[str] = field(default_factory=set)
    deposits: dict[int, tuple[Decimal, Decimal]] = field(default_factory=dict)  # by entry: amount, balance
    balances: list[Decimal] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def pay(self, refid: str, data: dict[str, Any], *, is_first: bool) -> None:
        """Record a topup that was answered with 200. `is_first`: the refid had not been sent before. Answers of
        other connections may arrive out of order."""
        new, before = Payment.of(data), self.payments.get(refid)
        self.balances.append(new.balance)
        if is_first:
            self.created[refid] = new
        if before is None or new.status in AFTER[before.status]:
            self.payments[refid] = new
        elif before.status not in AFTER[new.status]:
            self.complaints.append(f"{refid} was {before.status}, and is answered {new.status} later")

    def finals(self) -> list[str]:
        """Return the refids of bills that are paid and that no client asked to void."""
        return [
            refid
            for refid, one in self.payments.items()
            if one.status == "Succesful" and self.orders[refid]["product"] == "ELECTRIC" and refid not in self.voids
        ]
