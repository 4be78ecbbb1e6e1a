"""Concurrent deliveries, and their order: of what a running clock has started, and of an advance."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any

from simulator.domain.model.effects import AttemptResult, Send
from simulator.domain.model.inboxes import INBOX_SCHEME

SIDE_BY_SIDE_MAX = 64  # of an advance
STARTED_PER_TURN_MAX = 25  # each takes some tenths of a millisecond, until it waits for its receiver or is done


class Lanes:
    """The deliveries of a running clock. Lanes are concurrent, each with a task while it has something to send, and the
    jobs of one lane keep their order. `deliver` makes one attempt and applies its result."""

    def __init__(self, deliver: Callable[[Send], Awaitable[None]]) -> None:
        self._deliver = deliver
        self._collected: dict[str, list[Send]] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    def collect(self, sends: Iterable[Send]) -> None:
        """Add to what is due together, and starts together."""
        for send in sends:
            self._collected.setdefault(send.job.lane, []).append(send)

    def start(self) -> None:
        """Start what was collected, in the order of lanes; the rest of many in the next turns of the event loop."""
        if self._collected:
            collected, self._collected = self._collected, {}
            lanes = [collected[name] for name in sorted(collected)]
            self._begin(lanes[:STARTED_PER_TURN_MAX])
            if rest := lanes[STARTED_PER_TURN_MAX:]:
                self._add(self._begin_in_turns(rest))

    async def finish(self) -> None:
        """Start what was collected, and wait for all that was started."""
        self.start()
        if self.tasks:
            await asyncio.wait(self.tasks)

    def _begin(self, lanes: list[list[Send]]) -> None:
        for lane in lanes:
            self._add(self._work_through(lane))

    async def _begin_in_turns(self, lanes: list[list[Send]]) -> None:
        left = iter(lanes)
        while share := list(islice(left, STARTED_PER_TURN_MAX)):
            await asyncio.sleep(0)
            self._begin(share)

    async def _work_through(self, lane: list[Send]) -> None:
        for send in lane:
            await self._deliver(send)

    def _add(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def results_in_order(
    sends: list[Send], deliver: Callable[[Send], Awaitable[AttemptResult]]
) -> list[AttemptResult]:
    """Deliver side by side, at most `SIDE_BY_SIDE_MAX` at a time; the results in the order of `sends`.

    Deliveries begin in that order too, so that what they note does not depend on how fast receivers are. Those to an
    inbox, and those about one transaction or event, wait for each other.
    """
    free = asyncio.Semaphore(SIDE_BY_SIDE_MAX)
    tasks: list[asyncio.Task[AttemptResult]] = []
    latest: dict[str, asyncio.Task[AttemptResult]] = {}

    async def attempt(send: Send) -> AttemptResult:
        try:
            return await deliver(send)
        finally:
            free.release()

    async with asyncio.TaskGroup() as group:
        for send in sends:
            queue = send.job.url if send.job.url.startswith(INBOX_SCHEME) else send.job.lane
            if queue in latest:
                await asyncio.wait([latest[queue]])
            await free.acquire()
            latest[queue] = group.create_task(attempt(send))
            tasks.append(latest[queue])
    return [task.result() for task in tasks]
