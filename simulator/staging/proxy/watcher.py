"""Inspects relayed messages: finds their payment, departures from the contract and signature errors, then logs them."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final, NamedTuple

from simulator.runtime.operations import report
from simulator.staging.bodies import short
from simulator.staging.proxy import departures
from simulator.staging.proxy.departures import (
    DEPARTURES_MAX,
    HISTORY_PATH,
    TOPUP_PATH,
    about,
    callback_result,
    is_judged,
    is_kept,
    members,
    records,
    result_of,
)
from simulator.staging.proxy.log import Payments, SeenCall, SeenLog, SeenNotification
from simulator.staging.proxy.messages import MESSAGE_BYTES_MAX, PassedExchange, value_of
from simulator.staging.proxy.secrets import SeenSecrets, Signatures, judged
from simulator.wire.traffic import Call, Headers, Notification

_WINDOW = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}


def unpacked(headers: Headers, body: bytes) -> bytes | None:
    """Return the body without its Content-Encoding; None if the encoding is unknown, or the body is invalid, compressed
    in several parts, or too large."""
    coding = value_of(headers, b"content-encoding").strip().lower()
    if not body or coding in (b"", b"identity"):
        return body
    if coding not in _WINDOW:
        return None
    unpacker = zlib.decompressobj(_WINDOW[coding])
    try:
        plain = unpacker.decompress(body, MESSAGE_BYTES_MAX)
    except zlib.error:
        return None
    return plain if unpacker.eof and not unpacker.unused_data else None


TOO_LONG: Final = "the message is too long to be kept"
TOO_LARGE: Final = "too large to judge: its body, or what is in it, is more than the proxy holds against the contract"
NOT_READABLE: Final = "its Content-Encoding cannot be undone, so that its body was not looked at"


class _Bodies(NamedTuple):
    """The unpacked bodies of an exchange, which of them are compared with the contract, and why a body is not."""

    body: bytes
    answer: bytes
    body_is_judged: bool = False
    answer_is_judged: bool = False
    note: str = ""


def _read(exchange: PassedExchange) -> _Bodies:
    """Return the bodies of an exchange. A body that is too complex is dropped, since decoding it later would block the
    event loop."""
    found = unpacked(exchange.headers, exchange.body), unpacked(exchange.answer_headers, exchange.answer)
    body, answer = (each if each is not None and is_kept(each) else b"" for each in found)
    if not exchange.is_whole or None in found:
        return _Bodies(body, answer, note=NOT_READABLE if exchange.is_whole else TOO_LONG)
    body_is_judged, answer_is_judged = (each is not None and is_judged(each) for each in found)
    note = "" if body_is_judged and answer_is_judged else TOO_LARGE
    return _Bodies(body, answer, body_is_judged, answer_is_judged, note)


@contextmanager
def _reporting_mistakes() -> Iterator[None]:
    try:
        yield
    except Exception as mistake:
        report(mistake, "a message")


class Watcher:
    """Keeps exchanges in `log` and `payments`, and calls `on_message` with each message. Notifications go to the
    address `receiver`, without a slash at its end. A mistake of an inspection is reported, and does not reach the
    client."""

    def __init__(self, signatures: Signatures, secrets: SeenSecrets, receiver: str = "") -> None:
        self.log = SeenLog()
        self.payments = Payments()
        self.secrets = secrets
        self._receiver = receiver
        self.on_message: Callable[[Call | Notification], None] = lambda _: None
        self._signatures = signatures

    @_reporting_mistakes()
    def note_call(self, exchange: PassedExchange) -> None:
        """Inspect and record a call."""
        bodies = _read(exchange)
        body, answer = bodies.body, bodies.answer
        self.secrets.learn(exchange.path, body, answer)
        refid, trxid = about(exchange.query, body, answer)
        if (known := self.payments.find(trxid or refid)) is not None:
            refid, trxid = refid or known.refid, trxid or known.trxid
        diagnosis = self._signatures.diagnosis(exchange, answer) if exchange.is_whole else ""
        found = departures.of_answer(exchange.method, exchange.path, exchange.status, exchange.answer_headers, answer)
        call = Call(
            n=0,
            at=exchange.at,
            method=exchange.method,
            path=exchange.path,
            query=exchange.query,
            headers=exchange.headers,
            body=body,
            status=exchange.answered,
            answer_headers=exchange.answer_headers if exchange.answered else (),
            answer=answer if exchange.answered else b"",
            duration_us=exchange.duration_us,
            refid=refid,
            trxid=trxid,
            diagnosis="; ".join(filter(None, (diagnosis, exchange.words, bodies.note))),
        )
        seen = SeenCall(
            call=call,
            client=exchange.client,
            status=exchange.own_status or exchange.status,
            error=exchange.error or short(members(answer).get("error")),
            departures=tuple(islice(found, DEPARTURES_MAX)) if bodies.answer_is_judged and exchange.answered else (),
            body_bytes=exchange.body_bytes,
            answer_bytes=exchange.answer_bytes,
        )
        call = self.log.add_call(seen)
        self.payments.note_call(call, result_of(answer) if exchange.path == TOPUP_PATH else {})
        if exchange.path == HISTORY_PATH and exchange.answered == 200:
            self.payments.note_history(call, records(answer))
        self.on_message(call)

    @_reporting_mistakes()
    def note_notification(self, exchange: PassedExchange) -> None:
        """Inspect and record a callback or a webhook."""
        bodies = _read(exchange)
        body = bodies.body
        is_webhook = isinstance(members(body).get("type"), str)
        result: Mapping[str, Any] = {}
        refid, found = "", departures.of_webhook(body)
        if not is_webhook:
            result = result_of(body) if body else callback_result(exchange.query)
            refid = about(exchange.query, b"", body)[0]
            found = departures.of_callback(exchange.method, exchange.query, body)
        known = self.payments.find(refid)
        notification = Notification(
            n=0,
            at=exchange.at,
            kind="webhook" if is_webhook else "callback",
            method=exchange.method,
            url=self._receiver + exchange.target.decode("latin-1"),
            headers=exchange.headers,
            body=body,
            status=exchange.answered,
            answer_headers=exchange.answer_headers,
            answer=bodies.answer,
            duration_us=exchange.duration_us,
            error="; ".join(filter(None, (exchange.words, bodies.note))),
            refid=refid,
            trxid=known.trxid if known else "",
        )
        seen = SeenNotification(
            notification=notification,
            departures=tuple(islice(found, DEPARTURES_MAX)) if bodies.body_is_judged else (),
            signature=judged(exchange.headers, exchange.body, self.secrets.webhooks) if is_webhook else "",
            reported=str(result.get("status", ""))[:100],
            status=exchange.own_status or exchange.status,
        )
        notification = self.log.add_notification(seen)
        if refid:
            self.payments.note_callback(refid, notification.at, result, notification.n)
        self.on_message(notification)
