"""Carries one attempt of a callback to where it goes: over HTTP, or into an inbox of the same sandbox."""

import asyncio
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlsplit

from simulator.delivery.targets import BadTarget, InboxTarget, parse_target
from simulator.domain.callbacks import Callback, Send
from simulator.domain.effects import Ending, Outcome, Outgoing
from simulator.domain.scenario import Scenario
from simulator.runtime.clock import Clock
from simulator.runtime.inbox import Inboxes
from simulator.wire import outbound

# SPEC 6.1: the staging source address.
STAGING_ADDRESS = "3.1.120.89"

INBOX_PREFIX = "inbox:"


class Sender(Protocol):
    """What sends over the network; `simulator.delivery.sender.HttpSender` does."""

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Outcome:
        """Make one attempt; whatever the network does is an `Outcome`."""
        ...


def receiver_of(send: Send) -> str:
    """Whom a delivery goes to: an inbox, or a scheme with host and port."""
    url = send.callback.url
    if url.startswith(INBOX_PREFIX):
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class Courier:
    """Delivers for one sandbox."""

    def __init__(self, scenario: Scenario, inboxes: Inboxes, sender: Sender) -> None:
        self._limits = scenario.limits
        self._source_address = str(scenario.assume.get("source-address", STAGING_ADDRESS))
        self._inboxes = inboxes
        self._sender = sender

    async def deliver(self, send: Send, clock: Clock) -> Outcome:
        """Make one attempt within the receiver timeout: wall time, divided by the rate of a faster clock."""
        limit = self._limits.callback_timeout if clock.runs else self._limits.callback_timeout_manual
        timeout_s = clock.wall_seconds(limit)
        callback = send.callback
        if callback.url.startswith(INBOX_PREFIX):
            return await self._into_inbox(callback, clock, timeout_s)
        return await self._sender.send(outbound.callback(callback, self._source_address), timeout_s)

    async def _into_inbox(self, callback: Callback, clock: Clock, timeout_s: float) -> Outcome:
        try:
            target = parse_target(callback.url)
        except BadTarget as bad:
            return Outcome(Ending.BLOCKED, error=bad.reason)
        assert isinstance(target, InboxTarget)
        request = outbound.callback(callback, self._source_address)
        query = request.url.partition("?")[2].encode()
        headers = tuple((name.lower().encode(), value.encode()) for name, value in request.headers)
        inbox = self._inboxes[target.name]
        reply = inbox.take(clock.now(), request.method, query, headers, request.body or b"")
        delay_s = clock.wall_seconds(timedelta(seconds=reply.delay_s))
        if delay_s:
            await asyncio.sleep(min(delay_s, timeout_s))
        if delay_s >= timeout_s:
            return Outcome(Ending.TIMEOUT, error=f"no answer within {timeout_s:g} s")
        return Outcome(Ending.ANSWERED, reply.status, reply.body.decode("utf-8", "replace"), headers=reply.headers)
