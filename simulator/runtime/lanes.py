"""Concurrent deliveries: their order in a running clock and an advance, their ends, and the end of an advance."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain, groupby
from typing import Any

import msgspec

from simulator.domain.agenda import AgendaResult
from simulator.domain.model.delivery_attempts import AttemptResult, Job, Send
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.instants import LATEST
from simulator.domain.model.webhooks import Delivery
from simulator.http_client.slots import PER_RECEIVER, Turn
from simulator.runtime.journal import BoundedLog, Tally
from simulator.runtime.wait_limits import STARTED_PER_TURN_MAX as STARTED_PER_TURN_MAX

SIDE_BY_SIDE_MAX = 64  # deliveries of an advance


class Lanes:
    """The deliveries of a running clock. Lanes are concurrent, and the jobs of a lane keep their order. In its `turn`
    at a receiver, a task delivers a lane, then lanes that waited since the receiver already had `PER_RECEIVER` tasks,
    until others want the turn. Attempts that a rule holds are in `held`: each waits until `hold` returns."""

    def __init__(
        self,
        turn: Callable[[str], Turn],
        deliver: Callable[[list[Send]], Awaitable[None]],
        is_held: Callable[[Send], object],
        hold: Callable[[Send], Awaitable[None]],
    ) -> None:
        self._turn, self._deliver, self._is_held, self._hold = turn, deliver, is_held, hold
        self._collected: dict[str, list[Send]] = {}
        self._collected_to_hold: list[Send] = []
        self._busy: defaultdict[str, int] = defaultdict(int)  # the tasks of each receiver
        self._waiting: defaultdict[str, deque[list[Send]]] = defaultdict(deque)
        self.tasks: set[asyncio.Task[None]] = set()
        self.held: set[asyncio.Task[None]] = set()

    def collect(self, sends: Iterable[Send]) -> None:
        """Add attempts that are due and start together."""
        for send in sends:
            if self._is_held(send):
                self._collected_to_hold.append(send)
            else:
                self._collected.setdefault(send.job.lane, []).append(send)

    def without_held(self, sends: Iterable[Send]) -> list[Send]:
        """Hold the attempts that a rule holds, and return the others."""
        others = []
        for send in sends:
            if self._is_held(send):
                self._add(self._deliver_after_hold(send), self.held)
            else:
                others.append(send)
        return others

    def start(self) -> None:
        """Start the collected attempts, in the order of lanes; many are spread over the next event loop turns."""
        for send in self._collected_to_hold:
            self._add(self._deliver_after_hold(send), self.held)
        self._collected_to_hold.clear()
        if self._collected:
            collected, self._collected = self._collected, {}
            lanes = [collected[name] for name in sorted(collected)]
            self._begin(lanes[:STARTED_PER_TURN_MAX])
            if rest := lanes[STARTED_PER_TURN_MAX:]:
                self._add(self._begin_in_turns(rest), self.tasks)

    async def finish(self) -> None:
        """Start the collected attempts, and wait for all started attempts."""
        self.start()
        while self.tasks:
            await asyncio.wait(self.tasks)

    def _begin(self, lanes: list[list[Send]]) -> None:
        for lane in lanes:
            receiver = lane[0].job.url
            if len(lane) > 1 and any(send.job.url != receiver for send in lane):
                self._add(self._work_through_parts(lane), self.tasks)
            elif self._busy[receiver] < PER_RECEIVER or receiver.startswith(INBOX_SCHEME):
                self._busy[receiver] += 1
                self._add(self._work_through(lane, receiver), self.tasks)
            else:
                self._waiting[receiver].append(lane)

    async def _begin_in_turns(self, lanes: list[list[Send]]) -> None:
        for first in range(0, len(lanes), STARTED_PER_TURN_MAX):
            await asyncio.sleep(0)
            self._begin(lanes[first : first + STARTED_PER_TURN_MAX])

    async def _work_through_parts(self, lane: list[Send]) -> None:
        """Deliver a lane whose URL changes, each part in the turn of its receiver."""
        for receiver, part in groupby(lane, key=lambda send: send.job.url):
            self._busy[receiver] += 1
            await self._work_through([*part], receiver)

    async def _work_through(self, lane: list[Send], receiver: str) -> None:
        try:
            async with self._turn(receiver) as is_wanted:
                await self._deliver(lane)
                while (waiting := self._waiting.get(receiver)) and not is_wanted():
                    await self._deliver(waiting.popleft())
        except asyncio.CancelledError:  # the sandbox is stopped
            self._waiting.clear()
            raise
        finally:
            self._busy[receiver] -= 1
            if waiting := self._waiting.get(receiver):
                self._begin([waiting.popleft()])
            elif not self._busy[receiver]:
                del self._busy[receiver]
                self._waiting.pop(receiver, None)

    async def _deliver_after_hold(self, send: Send) -> None:
        await self._hold(send)
        self._begin([[send]])

    def _add(self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def results_in_order(
    sends: list[Send], deliver: Callable[[Send], Awaitable[AttemptResult]]
) -> list[AttemptResult]:
    """Deliver side by side, at most `SIDE_BY_SIDE_MAX` at a time; return the results in the order of `sends`.

    Deliveries to one inbox, and deliveries about one transaction or event, wait for each other. The first of each of
    these queues begins before any second, and so on, in the order of `sends`: the speed of receivers does not affect
    the order, and a queue does not delay the others.
    """
    free = asyncio.Semaphore(SIDE_BY_SIDE_MAX)
    rounds: list[list[tuple[int, str]]] = []
    lengths: Counter[str] = Counter()
    for index, send in enumerate(sends):
        queue = send.job.url if send.job.url.startswith(INBOX_SCHEME) else send.job.lane
        if lengths[queue] == len(rounds):
            rounds.append([])
        rounds[lengths[queue]].append((index, queue))
        lengths[queue] += 1
    tasks: dict[int, asyncio.Task[AttemptResult]] = {}
    latest: dict[str, asyncio.Task[AttemptResult]] = {}

    async def attempt(send: Send) -> AttemptResult:
        try:
            return await deliver(send)
        finally:
            free.release()

    async with asyncio.TaskGroup() as group:
        for index, queue in chain.from_iterable(rounds):
            if queue in latest:
                await asyncio.wait([latest[queue]])
            await free.acquire()
            tasks[index] = latest[queue] = group.create_task(attempt(sends[index]))
    return [tasks[index].result() for index in range(len(sends))]


KEPT_MAX = 16  # few, since waiters see each job when it ends


class JobEnd(msgspec.Struct, gc=False):
    """A job with an attempt that ended, or that ended without an attempt."""

    job: Job
    n: int = 0

    @property
    def size(self) -> int:
        """Return 0: the job is already counted in its log."""
        return 0


class JobEndLog(BoundedLog[JobEnd]):
    """The jobs that ended last; waiters are notified of each."""

    def __init__(self) -> None:
        super().__init__(KEPT_MAX, bytes_max=0)

    def notice(self, fired: Iterable[AgendaResult]) -> None:
        """Notify waiters of these results; a delivery without an attempt ends with its result."""
        for result in fired:
            if isinstance(result.item, Delivery) and result.send is None:
                self.add(JobEnd(result.item))
        self.notifier.notify()

    def tally(self, matches: Callable[[Job], bool], counted: int) -> Tally[JobEnd]:
        """Return a tally of matching jobs that end from now on, added to `counted`."""
        return Tally(self, lambda end: matches(end.job), after=self.last_n, counted=counted)


EVENTS_MAX = 100_000
# An advance until idle stops at `IDLE_EVENTS_MAX` events, plus `IDLE_EVENTS_PENDING_MAX` for each event that was
# pending when it began. A payment has a few; a receiver that makes a payment for each callback would never end.
IDLE_EVENTS_MAX = 2_000
IDLE_EVENTS_PENDING_MAX = 20
IDLE_SPAN_MAX = timedelta(days=366)
STOPPED = "stopped by a request; advance again to continue"
FIRED_REPORTED_MAX = 1_000


class Advance(msgspec.Struct):
    """An advance, running or done. It `began` at that sandbox time, `wall` by the wall clock, with `pending` events,
    and runs until `target`, or until nothing is due when that is None. `stopped` says why it ended early; `left_out`
    counts the events that `fired` omits, `in_turn` the events of this turn of the event loop. `is_stopping` is set once
    a request asked it to end, `is_over` when it has ended."""

    began: datetime
    target: datetime | None
    wall: datetime
    pending: int = 0
    fired: list[AgendaResult] = msgspec.field(default_factory=list)
    left_out: int = 0
    events: int = 0
    stopped: str = ""
    in_turn: int = 0
    is_idle: bool = False
    is_stopping: bool = False
    is_over: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    async def stop(self, timeout_s: float) -> None:
        """Ask the advance to end after its current step, and wait for that at most `timeout_s` seconds of wall time."""
        self.is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_over.wait(), timeout_s)

    def record(self, fired: Sequence[AgendaResult], turn_max: int) -> bool:
        """Record events, within bounds. Return True when this turn of the event loop is full, and also when nothing
        happened, since the amount of scanned work is unknown then."""
        self.events += len(fired)
        room = FIRED_REPORTED_MAX - len(self.fired)
        if room:
            self.fired.extend(fired[:room])
        self.left_out += max(0, len(fired) - room)
        self.in_turn += len(fired)
        if fired and self.in_turn < turn_max:
            return False
        self.in_turn = 0
        return True


def reason_to_stop(report: Advance, due: datetime) -> str:
    """Return why an advance stops before the next `due` time; empty to continue."""
    if report.events >= EVENTS_MAX:
        return f"stopped after {EVENTS_MAX} events; advance again to continue"
    if report.target is None and report.events >= IDLE_EVENTS_MAX + IDLE_EVENTS_PENDING_MAX * report.pending:
        return (
            f"stopped after {report.events} events, with {report.pending} pending at the beginning: something "
            "always follows, such as a payment that a receiver makes for each callback; advance again to continue"
        )
    if report.target is None and due - report.began > IDLE_SPAN_MAX:
        over = f"over {IDLE_SPAN_MAX.days} days after this began"
        return f"what is next is due at {due.isoformat()}, {over}; advance to then"
    if due > LATEST:
        return f"what is next is due at {due.isoformat()}, and clocks end at {LATEST.isoformat()}"
    return ""
