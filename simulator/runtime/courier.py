"""Delivers one attempt of a callback or webhook: over HTTP, or into an inbox of the same sandbox."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import datetime
from functools import lru_cache
from time import perf_counter
from typing import Protocol
from zlib import crc32

import msgspec

from simulator.domain.model import draw
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, Job, OutgoingRequest, Send
from simulator.domain.model.draw import typical
from simulator.domain.model.inbox_programs import INBOX_SCHEME, InboxReply
from simulator.domain.model.scenario import Scenario
from simulator.domain.model.webhooks import Delivery
from simulator.http_client.slots import Turn as Turn
from simulator.http_client.targets import BadTarget, InboxTarget, parse_target
from simulator.persistence.tape.entries import AttemptSent, Entry, InboxReceived
from simulator.runtime.attempt_log import AttemptLog
from simulator.runtime.clock import Clock
from simulator.runtime.holds import HoldEntry, Holds
from simulator.runtime.inboxes import Inboxes
from simulator.runtime.operations import CALLBACK, WEBHOOK, ServerCounts
from simulator.runtime.traces import Trace, Traces, passed_on
from simulator.wire import outbound
from simulator.wire.payment_answers import STATUS_NAMES

# SPEC 6.1: the source addresses of each environment.
_PRODUCTION = ("18.140.170.98", "13.215.6.214")
SOURCE_ADDRESSES = {"staging": ("3.1.120.89", *_PRODUCTION), "production": _PRODUCTION}
ROTATE = "rotate"  # use a single address per attempt
_AT_ONCE: Turn = nullcontext(lambda: False)


class Sender(Protocol):
    """Sends over the network; implemented by `simulator.http_client.sender.HttpSender`."""

    def turn(self, url: str, owner: str) -> Turn:
        """Wait for the turn of the sandbox `owner` at this receiver, and hold it. Call `send` within."""
        ...

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """Make one attempt for the sandbox `owner`; network failures are `AttemptResult`s."""
        ...


class Courier:
    """Delivers for the sandbox `owner`, and reports each attempt to its tape with `note`."""

    def __init__(
        self,
        owner: str,
        seed: int,
        scenario: Scenario,
        inboxes: Inboxes,
        sender: Sender,
        note: Callable[[Entry], None],
    ) -> None:
        self._owner = owner
        self._seed = seed
        self._inboxes = inboxes
        self._sender = sender
        self._note = note
        self.sent = AttemptLog()
        self.traces = Traces()
        self.server_counts = ServerCounts()
        self.holds = Holds()
        self.follow(scenario)

    def follow(self, scenario: Scenario) -> None:
        """Use this scenario's signature, timeout and source address from now on."""
        self._limits = scenario.limits
        self._webhooks = scenario.webhooks
        self._skew = scenario.clock.skew
        self._verifies = not scenario.accepts_any_certificate
        chosen = str(scenario.assume.get("source-address", ROTATE))
        self._source_addresses = SOURCE_ADDRESSES[scenario.environment] if chosen == ROTATE else (chosen,)

    def hold_of(self, send: Send) -> str:
        """Return the name of the hold where an attempt waits before it is sent; empty without a hold."""
        if send.attempt.number > 1:
            return ""
        job = send.job
        if isinstance(job, Callback):
            return job.distortion.hold
        return self._webhooks.hold

    async def hold(self, send: Send, clock: Clock) -> None:
        """Wait until an attempt is released."""
        job, name, wall = send.job, self.hold_of(send), clock.wall()
        if isinstance(job, Callback):
            what, refid = STATUS_NAMES[job.result.status], job.transaction.refid
            entry = HoldEntry(name, "callback", what, clock.at(wall), wall, refid, job.id)
        else:
            assert isinstance(job, Delivery)
            entry = HoldEntry(name, "webhook", job.event.type, clock.at(wall), wall, job=job.id)
        await self.holds.hold(entry)

    def turn(self, url: str) -> Turn:
        """Wait for the sandbox's turn at this receiver, and hold it. Inboxes have no turns."""
        return _AT_ONCE if url.startswith(INBOX_SCHEME) else self._sender.turn(url, self._owner)

    async def deliver_in_turn(self, send: Send, clock: Clock) -> AttemptResult:
        """Make an attempt as `deliver` does, when its turn at the receiver has come."""
        async with self.turn(send.job.url):
            return await self.deliver(send, clock)

    async def deliver(self, send: Send, clock: Clock) -> AttemptResult:
        """Make an attempt within the receiver timeout, and record it on the tape. Call this within `turn`."""
        job, wall = send.job, clock.wall()
        now, timeout_s = clock.at(wall), self.timeout_s(job, clock)
        request = self.attempt(send, wall)
        sent = self.sent.add(send, request)
        self._note(AttemptSent(now, wall, job.id, send.attempt.number, outbound.without_body(job, request)))
        began = perf_counter()
        if job.url.startswith(INBOX_SCHEME):
            result = await _replied(self.into_inbox(job.url, request, now, wall), clock, timeout_s)
        else:
            result = await self._send(request, timeout_s)
        duration_us = int((perf_counter() - began) * 1e6)
        kind = CALLBACK if isinstance(job, Callback) else WEBHOOK
        self.server_counts.count_attempt(kind, result, duration_us)
        sent.duration_us, sent.is_answered = duration_us, result.status is not None
        return _stored(result)

    def attempt(self, send: Send, wall: datetime) -> OutgoingRequest:
        """Return the request of an attempt at this wall time, as a span of the trace that it belongs to."""
        job, request = send.job, self.request(send.job, wall, send.attempt.number)
        trace = self.trace_of(job) if self.traces.by_key else None
        if trace is None:
            return request
        span_id = draw.hexadecimal(self._seed, 16, "span", job.id, send.attempt.number)
        return msgspec.structs.replace(request, headers=(*request.headers, *passed_on(trace, span_id)))

    def trace_of(self, job: Job) -> Trace:
        """Return the trace that a job belongs to: its own, or the trace of its payment."""
        own = self.traces.find(job.id)
        return self.traces.find(job.transaction.number) if own is None and isinstance(job, Callback) else own

    def request(self, job: Job, wall: datetime, number: int = 1) -> OutgoingRequest:
        """Return the request of the attempt with this number, at this wall time."""
        if isinstance(job, Callback):
            identity = f"{job.transaction.trxid} {job.result.status} {job.copy}"
            return outbound.callback(job, self._source_address(identity, number))
        assert isinstance(job, Delivery)
        return self.webhook(job, self.present(wall), number)

    def webhook(self, job: Delivery, at: datetime, number: int = 1) -> OutgoingRequest:
        """Return the request of a webhook attempt, signed with a timestamp of external time."""
        return outbound.webhook(job, self._webhooks.signature, at, self._source_address(job.id, number))

    def _source_address(self, identity: str, number: int) -> str:
        """Return the source address that an attempt claims, drawn for each."""
        addresses = self._source_addresses
        return addresses[crc32(f"{self._seed} {identity} {number}".encode()) % len(addresses)]

    def present(self, wall: datetime) -> datetime:
        """Return the time that a receiver compares a timestamp with: its own clock, not the sandbox's."""
        return wall + self._skew

    def timeout_s(self, job: Job, clock: Clock) -> float:
        """Return the receiver's time limit: wall time, divided by the rate of a faster clock."""
        limit = self._limits.callback_timeout if clock.rate else self._limits.callback_timeout_manual
        if isinstance(job, Delivery) and self._webhooks.timeout is not None:
            limit = self._webhooks.timeout
        return clock.wall_seconds(limit)

    async def carry(self, url: str, request: OutgoingRequest, clock: Clock, timeout_s: float) -> AttemptResult:
        """Send a request that is no attempt of a job to the target `url`."""
        if not url.startswith(INBOX_SCHEME):
            async with self.turn(url):
                return await self._send(request, timeout_s)
        wall = clock.wall()
        return await _replied(self.into_inbox(url, request, clock.at(wall), wall, is_noted=True), clock, timeout_s)

    def _send(self, request: OutgoingRequest, timeout_s: float) -> Awaitable[AttemptResult]:
        if not self._verifies:
            request = msgspec.structs.replace(request, verifies=False)
        return self._sender.send(request, timeout_s, self._owner)

    def into_inbox(
        self, url: str, request: OutgoingRequest, now: datetime, wall: datetime, *, is_noted: bool = False
    ) -> InboxReply | AttemptResult:
        """Deliver a request to an inbox. The tape has that of an attempt already; others have to be noted. Return the
        reply, or an attempt result when the URL names no inbox."""
        try:
            target = parse_target(url)
            assert isinstance(target, InboxTarget)
        except BadTarget as bad:
            return AttemptResult(AttemptEnd.BLOCKED, error=str(bad))
        query = request.url.partition("?")[2].encode()
        headers = tuple((name.lower().encode(), value.encode()) for name, value in request.headers)
        message = InboxReceived(now, wall, target.name, request.method, query, headers, request.body or b"")
        if is_noted:
            self._note(message)
        return self._inboxes.receive(message)


async def _replied(reply: InboxReply | AttemptResult, clock: Clock, timeout_s: float) -> AttemptResult:
    """Return the result of an attempt that an inbox replied to, after the reply's delay."""
    if isinstance(reply, AttemptResult):
        return reply
    delay_s = clock.wall_seconds(typical(reply.delay))
    if delay_s:
        await asyncio.sleep(min(delay_s, timeout_s))
    if delay_s >= timeout_s:
        return AttemptResult(AttemptEnd.TIMEOUT, error=f"no answer within {timeout_s:g} s")
    if reply.disconnect:
        return AttemptResult(AttemptEnd.CONNECTION, error="the connection was closed before an answer came")
    return AttemptResult(AttemptEnd.ANSWERED, reply.status, reply.body, headers=reply.headers)


@lru_cache(maxsize=64)
def _stored(result: AttemptResult) -> AttemptResult:
    """Return a result as the sandbox stores it, without headers. Attempts with the same result share it, which saves
    memory."""
    return msgspec.structs.replace(result, headers=())
