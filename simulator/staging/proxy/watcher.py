"""Looks at what went by: what it is about, what departs from the contract, what the signature lacks; then keeps it.

A large message is looked at beside the event loop; it appears in the log a moment after its client has it.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple

from simulator.contract.responses import Departure
from simulator.runtime.background import in_background
from simulator.runtime.operations import report
from simulator.staging.proxy import departures
from simulator.staging.proxy.bodies import is_small, read
from simulator.staging.proxy.departures import of_echoes
from simulator.staging.proxy.facts import (
    HISTORY_PATH,
    TOPUP_PATH,
    About,
    about,
    callback_result,
    members,
    records,
    reference,
    result_of,
)
from simulator.staging.proxy.log import SeenCall, SeenLog, SeenNotification
from simulator.staging.proxy.payments import Payments
from simulator.staging.proxy.relay import Exchanged
from simulator.staging.proxy.secrets import SeenSecrets
from simulator.staging.proxy.signatures import Signatures, judged
from simulator.wire.traffic import Call, Notification

WAITING_MAX: Final = 8
TOO_MANY: Final = "not looked at: too many large messages came at once"


class _Looked(NamedTuple):
    """What a message says. `answer` and `body` are unpacked."""

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
    """Keeps what it is told of in `log` and `payments`, and tells `on_call` and `on_notification`. `receiver` is the
    address that notifications go to, without a slash at its end."""

    def __init__(self, signatures: Signatures, secrets: SeenSecrets, receiver: str = "") -> None:
        self.log = SeenLog()
        self.payments = Payments()
        self.secrets = secrets
        self._receiver = receiver
        self.on_call: Callable[[Call], None] = lambda _: None
        self.on_notification: Callable[[Notification], None] = lambda _: None
        self._signatures = signatures
        self._waiting: set[asyncio.Task[None]] = set()

    def note_call(self, one: Exchanged) -> None:
        """Keep a call, now or when it was looked at."""
        self._look(one, _look_at_call, self._keep_call)

    def note_notification(self, one: Exchanged) -> None:
        """Keep a callback or a webhook, now or when it was looked at."""
        self._look(one, _look_at_notification, self._keep_notification)

    async def close(self) -> None:
        """Wait until all was looked at."""
        await asyncio.gather(*self._waiting, return_exceptions=True)

    def _look(
        self, one: Exchanged, look: Callable[[Exchanged], _Looked], keep: Callable[[Exchanged, _Looked], None]
    ) -> None:
        if is_small(one):
            keep(one, _safely(look, one))
        elif len(self._waiting) >= WAITING_MAX:
            keep(one, _Looked(one.body, one.answer, note=TOO_MANY, kind=_kind(one.body)))
        else:

            async def later() -> None:
                keep(one, await in_background(_safely, look, one))

            task = asyncio.get_running_loop().create_task(later())
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)

    def _keep_call(self, one: Exchanged, looked: _Looked) -> None:
        path, query = _parts(one.target)
        self.secrets.learn(path, looked.body, looked.answer)
        answered = one.status if not one.error else 0
        known = self.payments.find(looked.about.trxid or looked.about.refid)
        refid, trxid = looked.about
        if known is not None:
            refid, trxid = refid or known.refid, trxid or known.trxid
        diagnosis = self._signatures.diagnosis(
            one.at, one.method, path, query, one.headers, one.body if one.is_whole else b"", answered, looked.answer
        )
        call = Call(
            n=0,
            at=one.at,
            method=one.method,
            path=path,
            query=query,
            headers=one.headers,
            body=looked.body,
            status=answered,
            answer_headers=one.answer_headers if answered else (),
            answer=looked.answer if answered else b"",
            duration_us=one.duration_us,
            refid=refid,
            trxid=trxid,
            diagnosis="; ".join(filter(None, (diagnosis if one.is_whole else "", one.words, looked.note))),
        )
        seen = SeenCall(
            call=call,
            client=one.client,
            status=one.own_status or one.status,
            error=one.error or looked.error,
            departures=looked.departures if answered else (),
            body_bytes=one.body_bytes,
            answer_bytes=one.answer_bytes,
        )
        call = self.log.add_call(seen)
        self.payments.note_call(call, looked.result)
        self.payments.note_history(call, looked.records)
        _told(self.on_call, call)

    def _keep_notification(self, one: Exchanged, looked: _Looked) -> None:
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
            status=one.status if not one.error else 0,
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
        _told(self.on_notification, notification)


def _safely(look: Callable[[Exchanged], _Looked], one: Exchanged) -> _Looked:
    """What was found; a mistake of ours must not cost the exchange, nor its place in the log."""
    try:
        return look(one)
    except Exception as mistake:
        return _Looked(
            one.body, one.answer, note=f"not looked at, a mistake of the proxy's: {report(mistake, 'a message')}"
        )


def _told(listener: Callable[[Any], None], one: Call | Notification) -> None:
    try:
        listener(one)
    except Exception as mistake:
        report(mistake, "a message")


def _parts(target: bytes) -> tuple[str, bytes]:
    path, _, query = target.partition(b"?")
    return path.decode("latin-1"), query


def _kind(body: bytes) -> Literal["callback", "webhook"]:
    return "webhook" if isinstance(members(body).get("type"), str) else "callback"


def _first(found: Iterator[Departure]) -> tuple[Departure, ...]:
    return tuple(islice(found, departures.DEPARTURES_MAX))


def _look_at_call(one: Exchanged) -> _Looked:
    path, query = _parts(one.target)
    body, answer, _, is_answer_judged, note = read(one)
    found: tuple[Departure, ...] = ()
    if is_answer_judged and one.status and not one.error:
        shape = departures.of_answer(one.method, path, one.status, one.answer_headers, answer)
        found = _first(chain(shape, of_echoes(one.method, path, query, body, answer)))
    return _Looked(
        body,
        answer,
        about(query, body, answer),
        result_of(answer) if path == TOPUP_PATH else {},
        found,
        note,
        error=reference(members(answer), "error"),
        records=tuple(records(answer)) if path == HISTORY_PATH and one.status == 200 and not one.error else (),
    )


def _look_at_notification(one: Exchanged) -> _Looked:
    _, query = _parts(one.target)
    body, answer, is_body_judged, _, note = read(one)
    kind = _kind(body)
    if kind == "webhook":
        found = _first(departures.of_webhook(body)) if is_body_judged else ()
        return _Looked(body, answer, departures=found, note=note, kind=kind)
    result = result_of(body) if body else callback_result(query)
    found = _first(departures.of_callback(one.method, query, body)) if is_body_judged else ()
    return _Looked(body, answer, about(query, b"", body), result, found, note)
