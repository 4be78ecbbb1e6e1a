"""Observed payments: who paid what, the statuses with their times, and refused requests.

Only status, code and remarks are stored of each answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.money import parse_number
from simulator.domain.model.transactions import SETTLED, Status
from simulator.staging.bodies import as_dict, code_of, dicts, short, stamp
from simulator.staging.recorder.traffic_values import (
    DecodedCall,
    callback_result,
    offset_s,
    plain_line,
    template,
)
from simulator.wire.payment_answers import STATUS_NAMES
from simulator.wire.traffic import Notification

STATUSES: Mapping[str, Status] = {name: status for status, name in STATUS_NAMES.items()}
HISTORY_STATUSES: Mapping[str, Status] = {
    "Successful": Status.SUCCESSFUL,
    "Failed": Status.FAILED,
    "Refund": Status.REFUNDED,
}
VOIDED = 53


@dataclass(slots=True)
class RecordedStatus:
    """A status of a payment; times are seconds after its creation. The previous status was last observed at `after_s`,
    this status first at `seen_s`; `stamp_s` is the service's time, in whole seconds, and its first callback came at
    `arrived_s`."""

    status: Status
    code: int | None
    remarks: str
    after_s: float
    seen_s: float
    stamp_s: float | None = None
    arrived_s: float | None = None


@dataclass(frozen=True, slots=True)
class SeenRefusal:
    """Why a request to pay was refused; `balance` is the wallet's at the time."""

    code: int | None
    remarks: str
    balance: object


@dataclass(slots=True)
class SeenPayment:
    """A payment or a refused request; `number` counts all requests to pay. `at_s` is its creation since the start of
    the record, `stamp` the same by the service's clock; `last_s` is its last observation, and
    `voided_s` an accepted void, after its creation."""

    number: int
    refid: str
    product: str
    account: str
    amount: object
    extras: dict[str, Any]
    remarks: str
    at_s: float
    stamp: datetime | None = None
    statuses: list[RecordedStatus] = field(default_factory=list)
    last_s: float = 0.0
    refusal: SeenRefusal | None = None
    voided_s: float | None = None

    def see(self, at_s: float, status: Status, said: Mapping[str, Any], stamp_s: float | None) -> RecordedStatus:
        """Record a status at this time, with the code and the remarks of its message."""
        now_s = max(0.0, at_s - self.at_s)
        found = next((step for step in self.statuses if step.status is status), None)
        if found is None:
            remarks = short(said.get("remarks"))
            own = "" if remarks == self.remarks else template(remarks, self.facts)
            code = code_of(said.get("statusCode", said.get("status_code")))
            found = RecordedStatus(status, code, own, self.last_s, now_s)
            self.statuses.append(found)
        found.seen_s = min(found.seen_s, now_s)
        if stamp_s is not None and stamp_s >= 0:
            found.stamp_s = stamp_s if found.stamp_s is None else min(found.stamp_s, stamp_s)
        self.last_s = max(self.last_s, now_s)
        return found

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the facts that its texts may contain, by placeholder."""
        return ("refid", self.refid), ("account", self.account)

    @property
    def is_settled(self) -> bool:
        """Return True if the provider has decided."""
        return any(seen.status in SETTLED for seen in self.statuses)


class RecordedPayments:
    """All observed payments; `older` counts requests about earlier payments. `sales` has the name, the amount and the
    cost of a sold product."""

    def __init__(self) -> None:
        self.followed: dict[str, SeenPayment] = {}
        self.refusals: list[SeenPayment] = []
        self.sales: dict[str, tuple[str, Decimal, Decimal]] = {}
        self.older = 0
        self.callbacks = 0
        self._refid_of: dict[str, str] = {}
        self._count = 0
        self._first_stamp: datetime | None = None

    def by_trxid(self, trxid: str) -> SeenPayment | None:
        """Return the payment with this id."""
        return self.followed.get(self._refid_of.get(trxid, "")) if trxid else None

    @property
    def voidable(self) -> set[str]:
        """Return the products with an accepted void."""
        return {payment.product for payment in self.followed.values() if payment.voided_s is not None}

    def note_void(self, call: DecodedCall) -> None:
        """Record an accepted void, the first of its payment."""
        payment = self.by_trxid(short(call.asked.get("trxid")) or call.trxid)
        payment = payment or self.followed.get(short(call.asked.get("refid")) or short(call.data.get("refid")))
        if payment is not None and payment.voided_s is None and call.data.get("status") == "Success":
            payment.voided_s = call.at_s - payment.at_s

    def note_topup(self, call: DecodedCall) -> None:
        """Record a payment or a re-query."""
        refid = short(call.asked.get("refid"))
        known, status = self.followed.get(refid), STATUSES.get(short(call.data.get("status")))
        if not refid:
            return
        if call.status == 400 and known is None:
            self._note_refusal(call, status)
        elif call.status == 200 and status is not None:
            known = known or self._begin(call)
            if known is not None:
                self._see(known, call, status)
        elif known is None and (call.status == 0 or call.status >= 500):  # it may have been created
            self._begin(call)

    def _begin(self, call: DecodedCall) -> SeenPayment | None:
        asked, stamped = call.asked, stamp(call.data.get("timestamp"))
        self._first_stamp = self._first_stamp or stamped
        if (offset_s(stamped, self._first_stamp) or 0) < -1:
            self.older += 1
            return None
        if not short(asked.get("product")):
            return None
        made = self.followed[asked["refid"]] = self._requested(call, stamped)
        return made

    def _requested(self, call: DecodedCall, stamped: datetime | None = None) -> SeenPayment:
        self._count += 1
        asked = call.asked
        extras = {name: short(value) for name, value in as_dict(asked.get("extras")).items()}
        return SeenPayment(
            number=self._count,
            refid=short(asked.get("refid")),
            product=short(asked.get("product")),
            account=short(asked.get("account")),
            amount=_plain(asked.get("amount")),
            extras={name: text for name, text in extras.items() if short(name) and text},
            remarks=short(asked.get("remarks")),
            at_s=call.at_s,
            stamp=stamped,
        )

    def _see(self, payment: SeenPayment, call: DecodedCall, status: Status) -> None:
        data = call.data
        payment.see(call.at_s, status, data, offset_s(stamp(data.get("timestamp")), payment.stamp))
        cost, amount = parse_number(data.get("cost")), parse_number(data.get("amount"))
        if cost and amount:
            self.sales.setdefault(payment.product, (plain_line(short(data.get("productName"))), amount, cost))
        self._refid_of[call.trxid] = payment.refid

    def _note_refusal(self, call: DecodedCall, status: Status | None) -> None:
        if status is not Status.FAILED:
            return
        data, refused = call.data, self._requested(call)
        code, remarks = code_of(data.get("statusCode")), short(data.get("remarks"))
        refused.refusal = SeenRefusal(code, remarks, _plain(data.get("balance")))
        self.refusals.append(refused)

    def note_callback(self, notification: Notification, at_s: float) -> None:
        """Record an attempt of a transaction callback."""
        data = callback_result(notification)
        self.callbacks += 1
        found = self.followed.get(short(data.get("refid")) or short(notification.refid))
        status = STATUSES.get(short(data.get("status")))
        if found is None or status is None or not found.statuses:
            return
        has_succeeded = any(seen.status is Status.SUCCESSFUL for seen in found.statuses)
        if status is Status.FAILED and (code_of(data.get("statusCode")) == VOIDED or has_succeeded):
            status, data = Status.REFUNDED, {**data, "statusCode": VOIDED}
        last_s = found.last_s
        seen = found.see(at_s, status, data, offset_s(stamp(data.get("timestamp")), found.stamp))
        if seen is not found.statuses[-1]:
            found.last_s = last_s  # a stale callback says nothing about the present
        if seen.arrived_s is None:
            seen.arrived_s = max(0.0, at_s - found.at_s)
        self._refid_of[notification.trxid] = found.refid

    def note_history(self, call: DecodedCall) -> None:
        """Record a page of the history, which has the exact times of payments (SPEC 2.4)."""
        for row in dicts(call.answer.get("data")):
            payment, status = (
                self.followed.get(short(row.get("refid"))),
                HISTORY_STATUSES.get(short(row.get("status_name"))),
            )
            if payment is None:
                continue
            self._refid_of[short(row.get("trxid"))] = payment.refid
            if status is not None and payment.statuses:
                payment.see(call.at_s, status, row, offset_s(stamp(row.get("response_date")), stamp(row.get("date"))))


def _plain(value: object) -> object:
    """Return an amount as it was sent, unless it is not a plain value, or too long."""
    is_plain = isinstance(value, str | int | Decimal) and not isinstance(value, bool) and len(str(value)) <= 40
    return value if is_plain else None
