"""A sandbox's journal and delivery attempts in the common form for audited traffic."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Attempt, AttemptResult, Job, OutgoingRequest
from simulator.domain.model.outcomes import ConnectionEnd
from simulator.domain.model.webhooks import Delivery
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire import outbound, webhook_bodies
from simulator.wire.traffic import Call, Headers, Notification

SLICE = 500
"""The number of jobs that are scanned per turn, which takes about a millisecond."""


class AttemptRecord(NamedTuple):
    """An attempt that has ended."""

    at: datetime
    job: Job
    result: AttemptResult


class TrafficLog(NamedTuple):
    """An immutable view of a sandbox's traffic at a moment, which is `now` in its time.

    `skew` is the difference of its signature clock from the wall clock, None where it is the sandbox's own clock.
    """

    exchanges: list[Exchange]
    sent: list[AttemptRecord]
    probes: list[Notification]
    now: datetime
    skew: timedelta | None
    left_out: int

    def calls(self) -> Iterator[Call]:
        """Yield the exchanges of the journal."""
        return (_call(exchange, self.skew) for exchange in self.exchanges)

    def notifications(self) -> list[Notification]:
        """Return the attempts ordered by time and numbered from 1; probes come last at equal times."""
        found = sorted([*map(_notification, self.sent), *self.probes], key=lambda notification: notification.at)
        return [msgspec.structs.replace(item, n=n) for n, item in enumerate(found, 1)]


def log_in_slices(live: LiveSandbox) -> Iterator[list[TrafficLog]]:
    """Yield the log in slices of bounded work; commands may be applied between slices. All slices but the last are
    empty. The last has the whole log, with the journal as of the first slice."""
    state, clock = live.core.state, live.scenario.clock
    exchanges, probes, now = list(live.life.journal), list(live.probes), live.clock.now()
    left_out = live.life.journal.left_out + state.callbacks.left_out + state.deliveries.left_out
    sent: list[AttemptRecord] = []
    jobs: Iterator[tuple[Job, tuple[Attempt, ...]]] = chain(
        ((callback, callback.attempts) for callback in list(state.callbacks)),
        ((delivery, tuple(delivery.attempts)) for delivery in list(state.deliveries)),
    )
    while part := list(islice(jobs, SLICE)):
        sent += [
            AttemptRecord(attempt.at, job, attempt.result)
            for job, attempts in part
            for attempt in attempts
            if attempt.result is not None
        ]
        yield []
    skew = None if clock.signature == "sandbox" else clock.skew
    yield [TrafficLog(exchanges, sent, probes, now, skew, left_out)]


def log_of(live: LiveSandbox) -> TrafficLog:
    """Return the log in a single turn."""
    return next(chain.from_iterable(log_in_slices(live)))


def probe_seen(
    name: str, job: Job, request: OutgoingRequest, result: AttemptResult, at: datetime, *, is_forged: bool
) -> Notification:
    """Return the notification of a probe's request and its result, without a number."""
    return msgspec.structs.replace(_seen(job, request, result, at), probe=name, is_forged=is_forged)


def _call(exchange: Exchange, skew: timedelta | None) -> Call:
    return Call(
        n=exchange.n,
        at=exchange.at,
        method=exchange.method,
        path=exchange.path,
        query=exchange.query,
        headers=tuple(exchange.headers),
        body=exchange.body,
        status=exchange.status,
        answer_headers=exchange.own_headers,
        answer=_received(exchange),
        duration_us=exchange.duration_us,
        refid=exchange.refid,
        trxid=exchange.trxid,
        reseller=exchange.reseller,
        client=exchange.client,
        diagnosis=exchange.diagnosis,
        service_time=None if skew is None or exchange.wall is None else exchange.wall + skew,
    )


def _received(exchange: Exchange) -> bytes:
    """Return the answer as received; the part that came if the connection was cut."""
    return exchange.content[: len(exchange.content) // 2] if exchange.ending == ConnectionEnd.CUT else exchange.content


def _notification(sent: AttemptRecord) -> Notification:
    return _seen(sent.job, _request(sent.job), sent.result, sent.at)


def _request(job: Job) -> OutgoingRequest:
    """Return the request without headers: each attempt gets a new signature, with the secret of that time."""
    if isinstance(job, Callback):
        return outbound.callback(job, "")
    assert isinstance(job, Delivery)
    return OutgoingRequest(webhook_bodies.METHOD, job.url, body=outbound.event_body(job.event))


def _seen(job: Job, request: OutgoingRequest, result: AttemptResult, at: datetime) -> Notification:
    of_payment = isinstance(job, Callback)
    return Notification(
        n=0,
        at=at,
        kind="callback" if of_payment else "webhook",
        method=request.method,
        url=request.url,
        headers=_encoded(request.headers),
        body=request.body or b"",
        status=result.status or 0,
        answer_headers=_encoded(result.headers),
        answer=result.body.encode("utf-8", "replace"),
        error=result.error,
        refid=job.transaction.refid if isinstance(job, Callback) else "",
        trxid=job.transaction.trxid if isinstance(job, Callback) else "",
    )


def _encoded(headers: tuple[tuple[str, str], ...]) -> Headers:
    return tuple(
        (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers
    )
