"""The payments that the proxy has seen, by refid: which calls and notifications are about each, and what it became.

A payment result has no trxid (SPEC 2.3); the history, disputes and voids tell it. Two resellers may use the same refid;
behind one proxy they would share a story.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from simulator.staging.proxy.facts import TOPUP_PATH, reference
from simulator.wire.traffic import Call

PAYMENTS_MAX: Final = 10_000
SHOWN_MAX: Final = 100
_TEXT_CHARS_MAX: Final = 200


class SeenStatus(msgspec.Struct, frozen=True):
    """A status that was observed: when, by which message, and the number of that."""

    at: datetime
    status: str
    status_code: int | None
    source: str
    n: int


class Payment(msgspec.Struct, kw_only=True):
    """One payment. `calls` and `callbacks` are numbers, the latest ones; `calls_left_out` counts those before."""

    serial: int
    refid: str
    created: datetime
    updated: datetime
    trxid: str = ""
    product: str = ""
    account: str = ""
    amount: float | None = None
    cost: float | None = None
    statuses: deque[SeenStatus] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    calls: deque[int] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    callbacks: deque[int] = msgspec.field(default_factory=lambda: deque(maxlen=SHOWN_MAX))
    calls_left_out: int = 0
    callbacks_left_out: int = 0


class Payments:
    """At most `count_max`; the oldest are forgotten."""

    def __init__(self, count_max: int = PAYMENTS_MAX) -> None:
        self._count_max = count_max
        self._by_refid: OrderedDict[str, Payment] = OrderedDict()
        self._refids: dict[str, str] = {}  # by trxid
        self._last = 0
        self.left_out = 0

    def newest_first(self) -> list[Payment]:
        """All of them."""
        return list(reversed(self._by_refid.values()))

    def find(self, reference_: str) -> Payment | None:
        """The payment with this trxid, or else this refid."""
        return self._by_refid.get(self._refids.get(reference_, reference_))

    def note_call(self, call: Call, result: Mapping[str, Any]) -> None:
        """Note a call that is about a payment; `result` is the payment result in its answer, if any."""
        one = self.find(call.trxid) if call.trxid else None
        if one is None and call.refid and (call.path == TOPUP_PATH or call.refid in self._by_refid):
            one = self._payment(call.refid, call.at)
        if one is not None:
            one.calls_left_out += len(one.calls) == SHOWN_MAX
            one.calls.append(call.n)
            self._name(one, call.trxid)
            if result:
                self._observe(one, call.at, result, "answer", call.n)

    def note_history(self, call: Call, found: Iterable[Mapping[str, Any]]) -> None:
        """Take trxids and statuses of payments that are known from the records of a transaction history."""
        for record in found:
            one = self._by_refid.get(reference(record, "refid"))
            if one is not None:
                self._name(one, reference(record, "trxid"))
                said = {"status": record.get("status_name"), "statusCode": record.get("status_code")}
                self._observe(one, call.at, said, "history", call.n)

    def note_callback(self, refid: str, at: datetime, result: Mapping[str, Any], n: int) -> None:
        """Note a callback about a payment, with what it reports."""
        one = self._payment(refid, at)
        one.callbacks_left_out += len(one.callbacks) == SHOWN_MAX
        one.callbacks.append(n)
        if result:
            self._observe(one, at, result, "callback", n)

    def _payment(self, refid: str, at: datetime) -> Payment:
        found = self._by_refid.get(refid)
        if found is None:
            self._last += 1
            found = self._by_refid[refid] = Payment(serial=self._last, refid=refid, created=at, updated=at)
            if len(self._by_refid) > self._count_max:
                _, oldest = self._by_refid.popitem(last=False)
                self._refids.pop(oldest.trxid, None)
                self.left_out += 1
        return found

    def _name(self, one: Payment, trxid: str) -> None:
        if trxid and trxid != one.trxid:
            self._refids.pop(one.trxid, None)
            self._refids[trxid] = one.refid
            one.trxid = trxid

    def _observe(self, one: Payment, at: datetime, result: Mapping[str, Any], source: str, n: int) -> None:
        status, code = _text(result.get("status")), _whole(result.get("statusCode"))
        for name in ("product", "account"):
            if text := _text(result.get(name)):
                setattr(one, name, text)
        one.amount = _number(result.get("amount"), one.amount)
        one.cost = _number(result.get("cost"), one.cost)
        last = one.statuses[-1] if one.statuses else None
        # The history has spellings of its own, so the code alone says whether something changed.
        is_same = last is not None and last.status_code == code and (source == "history" or last.status == status)
        if status and not is_same:
            one.statuses.append(SeenStatus(at, status, code, source, n))
            one.updated = at


def _text(value: Any) -> str:
    return value[:_TEXT_CHARS_MAX] if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any, otherwise: float | None) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
