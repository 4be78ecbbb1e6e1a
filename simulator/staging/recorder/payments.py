"""Payments as they were seen: who paid what, which statuses followed when, and which requests were refused.

The first payments are followed one by one, later ones are counted. Nothing of an answer is kept but status, code,
remarks and the shape of a receipt.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.money import parse_number
from simulator.domain.model.transactions import SETTLED, Status
from simulator.staging.importer.answers import as_dict
from simulator.staging.recorder.values import (
    Receipts,
    in_utc,
    json_object,
    plain_line,
    seconds,
    short,
    stamp,
    template,
    told,
)
from simulator.wire.payments import STATUS_NAMES
from simulator.wire.traffic import Call, Notification

PAYMENTS_MAX = 5_000
REFUSALS_MAX = 5_000
STATUSES_MAX = 6
ARRIVALS_MAX = 12
EXTRAS_MAX = 10
HISTORY_ROWS_MAX = 1_000  # that are looked at in one answer
STATUSES: Mapping[str, Status] = {name: status for status, name in STATUS_NAMES.items()}
HISTORY_STATUSES: Mapping[str, Status] = {
    "Successful": Status.SUCCESSFUL,
    "Failed": Status.FAILED,
    "Refund": Status.REFUNDED,
}
VOIDED = 53
_OK, _BAD_REQUEST = 200, 400


@dataclass(slots=True)
class Told:
    """A callback's arrival in seconds after the creation, its place among all callbacks, and whether the service has to
    send it again."""

    at_s: float
    place: int
    is_retried: bool


@dataclass(slots=True)
class SeenStatus:
    """A status of a payment; times are seconds after its creation. Another status was seen last at `after_s`, this one
    first at `seen_s`, by the re-query of this number, 0 for none; `stamp_s` is what the service says, to the second."""

    status: Status
    code: int | None
    remarks: str
    after_s: float
    seen_s: float
    requery: int = 0
    stamp_s: float | None = None
    told: list[Told] = field(default_factory=list)


@dataclass(slots=True)
class SeenPayment:
    """A payment that was followed; `number` counts all requests to pay. `stamp` is its creation by the clock of the
    service; `last_s` is when it was seen last."""

    number: int
    refid: str
    product: str
    account: str
    amount: object
    extras: dict[str, Any]
    remarks: str
    at: datetime
    stamp: datetime | None = None
    statuses: list[SeenStatus] = field(default_factory=list)
    last_s: float = 0.0
    requeries: int = 0

    def see(self, at: datetime, status: Status, code: int | None, remarks: str, stamp_s: float | None) -> SeenStatus:
        """Note that it has this status at that moment."""
        now_s = max(0.0, seconds(at - self.at))
        found = next((one for one in self.statuses if one.status is status), None)
        if found is None:
            own = "" if remarks == self.remarks else template(remarks, self.facts)
            found = SeenStatus(status, code, own, self.last_s, now_s)
            if len(self.statuses) < STATUSES_MAX:
                self.statuses.append(found)
        found.seen_s = min(found.seen_s, now_s)
        if stamp_s is not None and stamp_s >= 0:
            found.stamp_s = stamp_s if found.stamp_s is None else min(found.stamp_s, stamp_s)
        self.last_s = max(self.last_s, now_s)
        return found

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What its texts may name, with the placeholders of it."""
        return ("refid", self.refid), ("account", self.account)

    @property
    def is_settled(self) -> bool:
        """True when the provider has decided."""
        return any(one.status in SETTLED for one in self.statuses)


@dataclass(slots=True)
class SeenRefusal:
    """A request to pay that was refused; `number` is as that of payments, `balance` the wallet's by then."""

    number: int
    product: str
    account: str
    amount: object
    extras: dict[str, Any]
    code: int | None
    remarks: str
    balance: object


@dataclass(frozen=True, slots=True)
class Sale:
    """A payment of a product: its name, how much, and what it cost."""

    name: str
    amount: Decimal
    cost: Decimal


class Payments:
    """All that were seen. `later` are payments by product that were counted only, `older` began before the record."""

    def __init__(self) -> None:
        self.followed: dict[str, SeenPayment] = {}
        self.refusals: list[SeenRefusal] = []
        self.receipts = Receipts()
        self.sales: dict[str, Sale] = {}
        self.later: Counter[str] = Counter()
        self.older = 0
        self.callbacks = 0
        self._refid_of: dict[str, str] = {}
        self._count = 0
        self._first_stamp: datetime | None = None

    def by_trxid(self, trxid: str) -> SeenPayment | None:
        """The payment that has this id."""
        return self.followed.get(self._refid_of.get(trxid, ""))

    def note_topup(self, call: Call) -> SeenPayment | None:
        """A request to pay, or to tell how a payment stands; the payment, if it is followed."""
        asked, data = json_object(call.body), as_dict(json_object(call.answer).get("data"))
        refid = short(asked.get("refid"))
        if not refid:
            return None
        known = self.followed.get(refid)
        status = STATUSES.get(short(data.get("status")))
        if call.status == _BAD_REQUEST and known is None:
            self._note_refusal(asked, data)
        elif call.status == _OK and status is not None:
            if known is not None and not known.is_settled:
                known.requeries += 1
            known = known or self._begin(call, asked, data)
            if known is not None:
                self._see(known, call, status, data)
        elif known is None and (call.status == 0 or call.status >= 500):  # it may have been created
            known = self._begin(call, asked, {})
        return known

    def _begin(self, call: Call, asked: dict[str, Any], data: dict[str, Any]) -> SeenPayment | None:
        at, product = in_utc(call.at), short(asked.get("product"))
        stamped = stamp(data.get("timestamp"))
        if self._first_stamp is None:
            self._first_stamp = stamped
        if stamped is not None and self._first_stamp is not None and seconds(stamped - self._first_stamp) < -1:
            self.older += 1
            return None
        if not product:
            return None
        if len(self.followed) >= PAYMENTS_MAX:
            if len(self.later) < PAYMENTS_MAX or product in self.later:
                self.later[product] += 1
            return None
        self._count += 1
        extras = _extras(asked)
        remarks, account = short(asked.get("remarks")), short(asked.get("account"))
        amount = asked.get("amount")
        made = SeenPayment(
            self._count, short(asked["refid"]), product, account, _plain(amount), extras, remarks, at, stamped
        )
        self.followed[made.refid] = made
        return made

    def _see(self, one: SeenPayment, call: Call, status: Status, data: dict[str, Any]) -> None:
        stamped = stamp(data.get("timestamp"))
        offset = None if stamped is None or one.stamp is None else seconds(stamped - one.stamp)
        known = len(one.statuses)
        seen = one.see(in_utc(call.at), status, _code(data.get("statusCode")), short(data.get("remarks")), offset)
        if len(one.statuses) > known:
            seen.requery = one.requeries
        if status is Status.SUCCESSFUL:
            self.receipts.note(one.product, data)
        cost, amount = parse_number(data.get("cost")), parse_number(data.get("amount"))
        if cost and amount and one.product not in self.sales:
            self.sales[one.product] = Sale(plain_line(short(data.get("productName"))), amount, cost)
        self._know(one, call.trxid)

    def _know(self, one: SeenPayment, trxid: str) -> None:
        if trxid and len(self._refid_of) < 2 * PAYMENTS_MAX:
            self._refid_of[trxid] = one.refid

    def _note_refusal(self, asked: dict[str, Any], data: dict[str, Any]) -> None:
        if len(self.refusals) >= REFUSALS_MAX or STATUSES.get(short(data.get("status"))) is not Status.FAILED:
            return
        self._count += 1
        self.refusals.append(
            SeenRefusal(
                number=self._count,
                product=short(asked.get("product")),
                account=short(asked.get("account")),
                amount=_plain(asked.get("amount")),
                extras=_extras(asked),
                code=_code(data.get("statusCode")),
                remarks=short(data.get("remarks")),
                balance=_plain(data.get("balance")),
            )
        )

    def note_callback(self, one: Notification) -> None:
        """An attempt to tell the client of a status."""
        data = told(one)
        self.callbacks += 1
        found = self.followed.get(short(data.get("refid")) or short(one.refid))
        status, code = STATUSES.get(short(data.get("status"))), _code(data.get("statusCode"))
        if found is None or status is None or not found.statuses:
            return
        has_succeeded = any(seen.status is Status.SUCCESSFUL for seen in found.statuses)
        if status is Status.FAILED and (code == VOIDED or has_succeeded):
            status, code = Status.REFUNDED, VOIDED
        at, stamped = in_utc(one.at), stamp(data.get("timestamp"))
        offset = None if stamped is None or found.stamp is None else seconds(stamped - found.stamp)
        last_s = found.last_s
        seen = found.see(at, status, code, short(data.get("remarks")), offset)
        if seen is not found.statuses[-1]:
            found.last_s = last_s  # a stale one says nothing of the present
        if len(seen.told) < ARRIVALS_MAX:
            is_retried = one.status == 0 or one.status in (408, 429) or one.status >= 500  # SPEC 6.1
            seen.told.append(Told(max(0.0, seconds(at - found.at)), self.callbacks, is_retried))
        if status is Status.SUCCESSFUL:
            self.receipts.note(found.product, data)
        self._know(found, one.trxid)

    def note_history(self, call: Call) -> None:
        """A page of the history, which has the times of payments exactly (SPEC 2.4)."""
        rows = json_object(call.answer).get("data")
        for row in rows[:HISTORY_ROWS_MAX] if isinstance(rows, list) else ():
            one = self.followed.get(short(as_dict(row).get("refid")))
            if one is None:
                continue
            self._know(one, short(row.get("trxid")))
            status = HISTORY_STATUSES.get(short(row.get("status_name")))
            created, ended = stamp(row.get("date")), stamp(row.get("response_date"))
            if status is not None and one.statuses:
                offset = seconds(ended - created) if created and ended else None
                one.see(in_utc(call.at), status, _code(row.get("status_code")), short(row.get("remarks")), offset)


def _code(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:  # as the history has it
        value = int(value)
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 99_999 else None
    )  # five digits


def _plain(value: object) -> object:
    """An amount as it was sent, unless it is no plain value or too long."""
    if isinstance(value, bool | dict | list) or value is None:
        return None
    return value if len(text := str(value)) <= 40 else text[:40]  # longer ones are no amounts


def _extras(asked: dict[str, Any]) -> dict[str, Any]:
    extras = as_dict(asked.get("extras"))
    return {name: short(one) for name, one in list(extras.items())[:EXTRAS_MAX] if short(name) and short(one)}
