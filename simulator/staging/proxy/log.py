"""The proxy's log: the latest calls, notifications and departures, limited in count and bytes; and payments."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from sys import getsizeof
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from simulator.contract.responses import ContractDeparture
from simulator.control.transaction_endpoints import SHOWN_MAX
from simulator.runtime.journal import BoundedLog
from simulator.staging.bodies import code_of, short
from simulator.staging.proxy.departures import TOPUP_PATH
from simulator.wire.traffic import Call, Notification

CALLS_MAX: Final = 10_000
CALLS_BYTES_MAX: Final = 64 * 1024 * 1024
DEPARTURES_BYTES_MAX: Final = 8 * 1024 * 1024


class SeenRecord(msgspec.Struct, kw_only=True):
    """A record of a log, which numbers it."""

    n: int = 0

    @property
    def size(self) -> int:
        """Return the approximate memory, in bytes."""
        return seen_size(self)


class SeenCall(SeenRecord, kw_only=True):
    """A call with its findings. `status` is the client's: the proxy's own when there was no answer, 0 when the client's
    connection was cut. `error` is the proxy's code, or the code in the answer. The bodies of the call are unpacked; the
    counts are bytes on the wire."""

    call: Call
    client: str
    status: int
    error: str
    departures: tuple[ContractDeparture, ...]
    body_bytes: int
    answer_bytes: int


class SeenNotification(SeenRecord, kw_only=True):
    """A notification with its findings. `signature` is the result of `webhook_signatures.judged`, `reported` the status
    that a callback reports."""

    notification: Notification
    departures: tuple[ContractDeparture, ...]
    signature: str
    reported: str
    status: int


class SeenDeparture(SeenRecord, kw_only=True):
    """A departure with its place: `request` or `callback` is the number of the message, the other is 0."""

    at: datetime
    operation: str
    departure: ContractDeparture
    request: int = 0
    callback: int = 0


class SeenLog:
    """The complete log of the proxy."""

    def __init__(self, calls_max: int = CALLS_MAX, bytes_max: int = CALLS_BYTES_MAX) -> None:
        self.calls: BoundedLog[SeenCall] = BoundedLog(calls_max, bytes_max)
        self.notifications: BoundedLog[SeenNotification] = BoundedLog(calls_max, bytes_max)
        self.departures: BoundedLog[SeenDeparture] = BoundedLog(calls_max, DEPARTURES_BYTES_MAX)

    def add_call(self, seen: SeenCall) -> Call:
        """Number a call, and its departures; return it with its number."""
        call = seen.call = msgspec.structs.replace(seen.call, n=self.calls.last_n + 1)
        self._add_departures(call.at, f"{call.method} {call.path}", seen.departures, request=call.n)
        self.calls.add(seen)
        return call

    def add_notification(self, seen: SeenNotification) -> Notification:
        """Number a notification, and its departures; return it with its number."""
        notification = seen.notification = msgspec.structs.replace(seen.notification, n=self.notifications.last_n + 1)
        self._add_departures(
            notification.at, f"{notification.method} {notification.kind}", seen.departures, callback=notification.n
        )
        self.notifications.add(seen)
        return notification

    def _add_departures(
        self, at: datetime, operation: str, departures: Iterable[ContractDeparture], **place: int
    ) -> None:
        for departure in departures:
            self.departures.add(SeenDeparture(at=at, operation=operation, departure=departure, **place))


def seen_size(value: Any) -> int:
    """Return the approximate memory of a message with its parts, in bytes."""
    if isinstance(value, str | bytes):
        return getsizeof(value)
    if isinstance(value, tuple):
        return sum(map(seen_size, value)) + 100
    return sum(map(seen_size, astuple(value))) + 500 if isinstance(value, msgspec.Struct) else 0


class SeenStatus(msgspec.Struct, frozen=True):
    """An observed status: its time, and the kind and number of the message that reported it."""

    at: datetime
    status: str
    status_code: int | None
    source: str
    n: int


class Payment(msgspec.Struct, kw_only=True):
    """A payment. `calls` and `callbacks` are the latest numbers; `calls_left_out` counts earlier calls."""

    refid: str
    created: datetime
    updated: datetime
    trxid: str = ""
    product: str = ""
    account: str = ""
    amount: int | Decimal | None = None
    cost: int | Decimal | None = None
    statuses: deque[SeenStatus] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    calls: deque[int] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    callbacks: deque[int] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    calls_left_out: int = 0
    callbacks_left_out: int = 0


class Payments:
    """At most `count_max` payments; the oldest are evicted."""

    def __init__(self, count_max: int = CALLS_MAX) -> None:
        self._count_max = count_max
        self._by_refid: OrderedDict[str, Payment] = OrderedDict()
        self._refids: dict[str, str] = {}  # by trxid
        self.left_out = 0

    def newest_first(self) -> list[Payment]:
        return list(reversed(self._by_refid.values()))

    def find(self, reference_: str) -> Payment | None:
        """Return the payment with this trxid, or else this refid."""
        return self._by_refid.get(self._refids.get(reference_, reference_))

    def note_call(self, call: Call, result: Mapping[str, Any]) -> None:
        """Record a call about a payment; `result` is the payment result in its answer, if any."""
        payment = self.find(call.trxid) if call.trxid else None
        if payment is None and call.refid and (call.path == TOPUP_PATH or call.refid in self._by_refid):
            payment = self._payment(call.refid, call.at)
        if payment is not None:
            payment.calls_left_out += len(payment.calls) == SHOWN_MAX
            payment.calls.append(call.n)
            self._name(payment, call.trxid)
            if result:
                self._observe(payment, call.at, result, "answer", call.n)

    def note_history(self, call: Call, records: Iterable[Mapping[str, Any]]) -> None:
        """Update trxids and statuses of known payments from the records of a transaction history."""
        for record in records:
            payment = self._by_refid.get(short(record.get("refid")))
            if payment is not None:
                self._name(payment, short(record.get("trxid")))
                reported = {"status": record.get("status_name"), "statusCode": record.get("status_code")}
                self._observe(payment, call.at, reported, "history", call.n)

    def note_callback(self, refid: str, at: datetime, result: Mapping[str, Any], n: int) -> None:
        """Record a callback about a payment, with its reported status."""
        payment = self._payment(refid, at)
        payment.callbacks_left_out += len(payment.callbacks) == SHOWN_MAX
        payment.callbacks.append(n)
        if result:
            self._observe(payment, at, result, "callback", n)

    def _payment(self, refid: str, at: datetime) -> Payment:
        found = self._by_refid.get(refid)
        if found is None:
            found = self._by_refid[refid] = Payment(refid=refid, created=at, updated=at)
            if len(self._by_refid) > self._count_max:
                _, oldest = self._by_refid.popitem(last=False)
                self._refids.pop(oldest.trxid, None)
                self.left_out += 1
        return found

    def _name(self, payment: Payment, trxid: str) -> None:
        if trxid and trxid != payment.trxid:
            self._refids.pop(payment.trxid, None)
            self._refids[trxid] = payment.refid
            payment.trxid = trxid

    def _observe(self, payment: Payment, at: datetime, result: Mapping[str, Any], source: str, n: int) -> None:
        status, code = short(result.get("status")), code_of(result.get("statusCode"))
        for name in ("product", "account"):
            if text := short(result.get(name)):
                setattr(payment, name, text)
        payment.amount = _number(result.get("amount"), payment.amount)
        payment.cost = _number(result.get("cost"), payment.cost)
        last = payment.statuses[-1] if payment.statuses else None
        # The history spells statuses differently, so only the code shows a change.
        is_same = last is not None and last.status_code == code and (source == "history" or last.status == status)
        if status and not is_same:
            payment.statuses.append(SeenStatus(at, status, code, source, n))
            payment.updated = at


def _number(value: Any, otherwise: int | Decimal | None) -> int | Decimal | None:
    return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else otherwise
