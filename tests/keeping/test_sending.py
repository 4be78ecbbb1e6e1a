"""A callback or webhook leaves when the inputs that led to it are durable, and not before."""

import asyncio
from typing import cast

from simulator.domain.model.effects import AttemptEnd, AttemptResult, Outgoing
from simulator.keeping.gate import Gate
from simulator.keeping.sending import GatedSender
from simulator.tape.store.store import Store
from tests.keeping.test_gate import LateStore

OUTGOING = Outgoing("POST", "http://127.0.0.1:9/hook", (), b"{}")
ACCEPTED = AttemptResult(AttemptEnd.ANSWERED, 200)


class Sent:
    """A sender that remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[Outgoing] = []

    async def send(self, outgoing: Outgoing, timeout_s: float, owner: str) -> AttemptResult:
        self.given.append(outgoing)
        return ACCEPTED


def test_a_callback_waits_for_the_commit_of_what_led_to_it_and_of_nothing_else() -> None:
    async def main() -> None:
        store, sent = LateStore(), Sent()
        gate = Gate(cast(Store, store), lambda error: None)
        gate.note()
        sending = asyncio.ensure_future(GatedSender(sent, gate).send(OUTGOING, 1.0, "default"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert (len(store.requested), sent.given) == (1, [])
        gate.note()
        store.requested[0](None)
        assert await sending is ACCEPTED
        assert sent.given == [OUTGOING]

    asyncio.run(main())
