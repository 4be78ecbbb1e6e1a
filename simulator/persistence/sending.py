"""Sends callbacks and webhooks when the inputs that led to them are durable."""

from contextlib import AbstractAsyncContextManager

from simulator.domain.model.effects import AttemptResult, Outgoing
from simulator.persistence.gate import Gate
from simulator.runtime.courier import Sender


class GatedSender:
    """A sender that waits for a gate."""

    def __init__(self, sender: Sender, gate: Gate) -> None:
        self.sender = sender
        self._gate = gate

    def turn(self, url: str, owner: str) -> AbstractAsyncContextManager[None]:
        """See `Sender`."""
        return self.sender.turn(url, owner)

    async def send(self, outgoing: Outgoing, timeout_s: float, owner: str) -> AttemptResult:
        """Send when all is durable that was written until now."""
        await self._gate.passed()
        return await self.sender.send(outgoing, timeout_s, owner)
