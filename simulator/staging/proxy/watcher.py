"""Inspects relayed messages: finds their payment, departures from the contract and signature errors, then logs them."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from simulator.contract.responses import Departure
from simulator.runtime.operations import report
from simulator.staging.proxy import departures
from simulator.staging.proxy.departures import (
    HISTORY_PATH,
    TOPUP_PATH,
    About,
    about,
    callback_result,
    is_judged,
    is_kept,
    members,
    records,
    reference,
    result_of,
)
from simulator.staging.proxy.log import Payments, SeenCall, SeenLog, SeenNotification
from simulator.staging.proxy.messages import MESSAGE_BYTES_MAX, PassedExchange, value_of
from simulator.staging.proxy.secrets import SeenSecrets, Signatures, judged
from simulator.wire.traffic import Call, Headers, Notification

_WINDOW = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}


def unpacked(headers: Headers, body: bytes) -> bytes | None:
    """Return the body without its Content-Encoding; None if it is unknown or invalid, or the body too large."""
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
    return plain if unpacker.eof else None


TOO_LONG: Final = "the message is too long to be kept"
TOO_LARGE: Final = "too large to judge: its body, or what is in it, is more than the proxy holds against the contract"
NOT_READABLE: Final = "its Content-Encoding cannot be undone, so that its body was not looked at"


class ReadBodies(NamedTuple):
    """The unpacked bodies of an exchange, which of them are compared with the contract, and why the others are not."""

    body: bytes
    answer: bytes
    body_is_judged: bool
    answer_is_judged: bool
    note: str


def read(one: PassedExchange) -> ReadBodies:
    """Unpack the bodies. A body that is too complex is dropped, since decoding it later would block the event loop."""
    found = unpacked(one.headers, one.body), unpacked(one.answer_headers, one.answer)
    body, answer = (each if each is not None and is_kept(each) else b"" for each in found)
    if not one.is_whole or None in found:
        return ReadBodies(body, answer, False, False, NOT_READABLE if one.is_whole else TOO_LONG)
    body_is_judged, answer_is_judged = (each is not None and is_judged(each) for each in found)
    note = "" if body_is_judged and answer_is_judged else TOO_LARGE
    return ReadBodies(body, answer, body_is_judged, answer_is_judged, note)


class _Findings(NamedTuple):
    """The findings about a message. `answer` and `body` are unpacked."""

    body: bytes = b""
    answer: bytes = b""
    about: About = About()
    result: Mapping[str, Any] = {}
    departures: tuple[Departure, ...] = ()
    note: str = ""
    error: str = ""
    kind: Literal["callback", "webhook"] = "callback"
    records: tuple[Mapping[str, Any], ...] = ()


class Watcher:
    """Keeps exchanges in `log` and `payments`, and calls `on_call` and `on_notification`. Notifications go to the
    address `receiver`, without a slash at its end."""

    def __init__(self, signatures: Signatures, secrets: SeenSecrets, receiver: str = "") -> None:
        self.log = SeenLog()
        self.payments = Payments()
        self.secrets = secrets
        self._receiver = receiver
        self.on_call: Callable[[Call], None] = lambda _: None
        self.on_notification: Callable[[Notification], None] = lambda _: None
        self._signatures = signatures

    def note_call(self, one: PassedExchange) -> None:
        """Inspect and record a call."""
        self._keep_call(one, _safely(_look_at_call, one))

    def note_notification(self, one: PassedExchange) -> None:
        """Inspect and record a callback or a webhook."""
        self._keep_notification(one, _safely(_look_at_notification, one))

    def _keep_call(self, one: PassedExchange, looked: _Findings) -> None:
        self.secrets.learn(one.path, looked.body, looked.answer)
        known = self.payments.find(looked.about.trxid or looked.about.refid)
        refid, trxid = looked.about
        if known is not None:
            refid, trxid = refid or known.refid, trxid or known.trxid
        diagnosis = self._signatures.diagnosis(one, looked.answer) if one.is_whole else ""
        call = Call(
            n=0,
            at=one.at,
            method=one.method,
            path=one.path,
            query=one.query,
            headers=one.headers,
            body=looked.body,
            status=one.answered,
            answer_headers=one.answer_headers if one.answered else (),
            answer=looked.answer if one.answered else b"",
            duration_us=one.duration_us,
            refid=refid,
            trxid=trxid,
            diagnosis="; ".join(filter(None, (diagnosis, one.words, looked.note))),
        )
        seen = SeenCall(
            call=call,
            client=one.client,
            status=one.own_status or one.status,
            error=one.error or looked.error,
            departures=looked.departures if one.answered else (),
            body_bytes=one.body_bytes,
            answer_bytes=one.answer_bytes,
        )
        call = self.log.add_call(seen)
        self.payments.note_call(call, looked.result)
        self.payments.note_history(call, looked.records)
        _publish(self.on_call, call)

    def _keep_notification(self, one: PassedExchange, looked: _Findings) -> None:
        kind = looked.kind
        known = self.payments.find(looked.about.refid)
        notification = Notification(
            n=0,
            at=one.at,
            kind=kind,
            method=one.method,
            url=self._receiver + one.target.decode("latin-1"),
            headers=one.headers,
            body=looked.body,
            status=one.answered,
            answer_headers=one.answer_headers,
            answer=looked.answer,
            duration_us=one.duration_us,
            error="; ".join(filter(None, (one.words, looked.note))),
            refid=looked.about.refid,
            trxid=known.trxid if known else "",
        )
        seen = SeenNotification(
            notification=notification,
            departures=looked.departures,
            signature=judged(one.headers, one.body, self.secrets.webhooks) if kind == "webhook" else "",
            reported=str(looked.result.get("status", ""))[:100],
            status=one.own_status or one.status,
        )
        notification = self.log.add_notification(seen)
        if kind == "callback" and notification.refid:
            self.payments.note_callback(notification.refid, notification.at, looked.result, notification.n)
        _publish(self.on_notification, notification)


def _safely(look: Callable[[PassedExchange], _Findings], one: PassedExchange) -> _Findings:
    """Return the findings. A bug in the inspection must not lose the exchange, or its place in the log."""
    try:
        return look(one)
    except Exception as mistake:
        return _Findings(
            one.body, one.answer, note=f"not looked at, a mistake of the proxy's: {report(mistake, 'a message')}"
        )


def _publish(listener: Callable[[Any], None], one: Call | Notification) -> None:
    try:
        listener(one)
    except Exception as mistake:
        report(mistake, "a message")


def _kind(body: bytes) -> Literal["callback", "webhook"]:
    return "webhook" if isinstance(members(body).get("type"), str) else "callback"


def _first(found: Iterator[Departure]) -> tuple[Departure, ...]:
    return tuple(islice(found, departures.DEPARTURES_MAX))


def _look_at_call(one: PassedExchange) -> _Findings:
    path = one.path
    body, answer, _, is_answer_judged, note = read(one)
    found: tuple[Departure, ...] = ()
    if is_answer_judged and one.answered:
        found = _first(departures.of_answer(one.method, path, one.status, one.answer_headers, answer))
    return _Findings(
        body,
        answer,
        about(one.query, body, answer),
        result_of(answer) if path == TOPUP_PATH else {},
        found,
        note,
        error=reference(members(answer), "error"),
        records=tuple(records(answer)) if path == HISTORY_PATH and one.answered == 200 else (),
    )


def _look_at_notification(one: PassedExchange) -> _Findings:
    body, answer, is_body_judged, _, note = read(one)
    kind = _kind(body)
    if kind == "webhook":
        found = _first(departures.of_webhook(body)) if is_body_judged else ()
        return _Findings(body, answer, departures=found, note=note, kind=kind)
    result = result_of(body) if body else callback_result(one.query)
    found = _first(departures.of_callback(one.method, one.query, body)) if is_body_judged else ()
    return _Findings(body, answer, about(one.query, b"", body), result, found, note)
