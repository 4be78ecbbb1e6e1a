"""What the proxy has seen: calls, notifications and departures, the latest ones within bounds of count and bytes."""

from datetime import datetime
from sys import getsizeof
from typing import Final

import msgspec

from simulator.contract.responses import Departure
from simulator.runtime.ring import Ring
from simulator.wire.traffic import Call, Headers, Notification

CALLS_MAX: Final = 10_000
CALLS_BYTES_MAX: Final = 64 * 1024 * 1024
DEPARTURES_BYTES_MAX: Final = 8 * 1024 * 1024
_OVERHEAD_BYTES: Final = 1500


class SeenCall(msgspec.Struct, kw_only=True):
    """A call, and what is known beside it. `status` is what the client got: the proxy's own when there was no answer, 0
    when its connection was cut. `error` is a code of the proxy's, or the one in the answer. The bodies of the call are
    unpacked; the counts are those on the wire."""

    call: Call
    client: str
    status: int
    error: str
    departures: tuple[Departure, ...]
    body_bytes: int
    answer_bytes: int
    n: int = 0

    @property
    def size(self) -> int:
        """The approximate memory, in bytes."""
        return seen_size(self.call) + _texts(self.error, self.client) + sum(map(_departure_size, self.departures))


class SeenNotification(msgspec.Struct, kw_only=True):
    """A notification, and what is known beside it; `signature` is what `webhook_signatures.judged` says, `reported` the
    status that a callback reports."""

    notification: Notification
    departures: tuple[Departure, ...]
    signature: str
    reported: str
    status: int
    n: int = 0

    @property
    def size(self) -> int:
        """The approximate memory, in bytes."""
        return seen_size(self.notification) + _texts(self.reported) + sum(map(_departure_size, self.departures))


class SeenDeparture(msgspec.Struct, kw_only=True):
    """A departure with its place: `request` or `callback` is the number of what departs, the other is 0."""

    at: datetime
    operation: str
    departure: Departure
    request: int = 0
    callback: int = 0
    n: int = 0

    @property
    def size(self) -> int:
        """The approximate memory, in bytes."""
        return 500 + _texts(self.operation) + _departure_size(self.departure)


class SeenLog:
    """All of it."""

    def __init__(self, calls_max: int = CALLS_MAX, bytes_max: int = CALLS_BYTES_MAX) -> None:
        self.calls: Ring[SeenCall] = Ring(calls_max, bytes_max)
        self.notifications: Ring[SeenNotification] = Ring(calls_max, bytes_max)
        self.departures: Ring[SeenDeparture] = Ring(calls_max, DEPARTURES_BYTES_MAX)

    def add_call(self, seen: SeenCall) -> Call:
        """Number a call, and its departures; returns it with its number."""
        seen.call = msgspec.structs.replace(seen.call, n=self.calls.last_n + 1)
        operation = f"{seen.call.method} {seen.call.path}"
        for one in seen.departures:
            self.departures.add(SeenDeparture(at=seen.call.at, operation=operation, departure=one, request=seen.call.n))
        self.calls.add(seen)
        return seen.call

    def add_notification(self, seen: SeenNotification) -> Notification:
        """The same for a notification."""
        one = seen.notification = msgspec.structs.replace(seen.notification, n=self.notifications.last_n + 1)
        for each in seen.departures:
            self.departures.add(
                SeenDeparture(at=one.at, operation=f"{one.method} {one.kind}", departure=each, callback=one.n)
            )
        self.notifications.add(seen)
        return one


def seen_size(one: Call | Notification) -> int:
    """The approximate memory of a message, in bytes."""
    if isinstance(one, Call):
        own = len(one.query) + _texts(one.path, one.refid, one.trxid, one.diagnosis)
    else:
        own = _texts(one.url, one.refid, one.trxid, one.error)
    return _OVERHEAD_BYTES + own + len(one.body) + len(one.answer) + _weight(one.headers) + _weight(one.answer_headers)


def _texts(*texts: str) -> int:
    """The bytes of texts; one with any character outside Latin-1 has several for each."""
    return sum(map(getsizeof, texts))


def _departure_size(one: Departure) -> int:
    return 100 + _texts(one.field, one.expected, one.actual)


def _weight(headers: Headers) -> int:
    return sum(len(name) + len(value) + 150 for name, value in headers)
