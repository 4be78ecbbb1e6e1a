"""Drives a sandbox's time: processes due agenda items, sends their deliveries, applies the results.

Under a running clock a timer waits for the next due item, and deliveries are concurrent, so that a dead receiver
blocks no other. Before each command, what is due is processed: by `catch_up`, a bounded share in one turn of the event
loop; by `settle`, the rest in later turns, first come, first served. So the state that a command meets does not depend
on the size of the share. `catch_up_at_once` is for callers that cannot wait.

Under a manual clock only `advance` does anything. It processes the agenda in order of (due, sequence): deliveries that
are due at one instant are sent side by side, begun in order, and results are applied in the order of sending, so that
the speed of receivers does not affect the result.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime
from math import ceil
from typing import Any

from simulator.domain.agenda import Agenda, AgendaItem, AgendaResult
from simulator.domain.commands import Command, EndAttempt, PassTime, RecordTime
from simulator.domain.errors import Conflict
from simulator.domain.model.delivery_attempts import Send
from simulator.persistence.tape.entries import ClockSet, Entry
from simulator.runtime.clock import Clock
from simulator.runtime.courier import Courier
from simulator.runtime.lanes import STOPPED, Advance, JobEnd, JobEndLog, Lanes, reason_to_stop, results_in_order

# The share per turn of the event loop, which all sandboxes have in common.
ITEMS_PER_TURN_MAX = 200


class Driver:
    """The time and the deliveries of a sandbox. `apply` applies a command and records it on the tape; `record` records
    any other entry."""

    def __init__(
        self,
        apply: Callable[[Command, datetime], Any],
        agenda: Agenda[AgendaItem],
        clock: Clock,
        courier: Courier,
        record: Callable[[Entry], None],
    ) -> None:
        self._apply = apply
        self._record = record
        self._agenda = agenda
        self.clock = clock
        self._courier = courier
        self._timer: asyncio.TimerHandle | None = None  # for the next due item of a running clock
        self._timer_due: datetime | None = None
        self.lanes = Lanes(courier.turn, self._deliver, courier.hold_of, lambda send: courier.hold(send, clock))
        self._settling: deque[object] = deque()  # the tasks in `settle`, in the order of arrival
        self._advancing_task: asyncio.Task[None] | None = None
        self.advancing: Advance | None = None  # the advance that runs
        self._is_closed = False
        self.is_stopping = False  # the server is about to stop
        self.job_ends = JobEndLog()
        self.notifier = self.job_ends.notifier  # wakes waiters when an item happened or an attempt ended

    @property
    def is_busy(self) -> bool:
        """Return whether an advance runs, a delivery is in flight, or a task waits for a delivery."""
        return bool(self._tasks()) or bool(self._settling) or bool(self.notifier.waiting)

    @property
    def is_settling(self) -> bool:
        """Return whether a task waits for the rest of the items that a running clock has made due."""
        return bool(self._settling)

    def catch_up(self, now: datetime) -> bool:
        """Process the items that a running clock has made due by `now`, at most a turn's share. Return False when items
        are left: then call `settle`."""
        if self._settling:
            return False
        return not self._is_behind(now) or self._process_share(now)

    async def settle(self, now: datetime) -> None:
        """Process the rest of the items due by `now`, a share per turn, in order of arrival with other callers, until
        the sandbox or its clock is stopped."""
        place = object()
        self._settling.append(place)
        try:
            while not (is_first := self._settling[0] is place) or self._is_behind(now):
                await asyncio.sleep(0)
                if is_first and not self._is_closed:
                    self._process_share(now)
        finally:
            self._settling.remove(place)
            if not self._is_closed:
                self.lanes.start()
            if not self._settling:
                self.rearm(self.clock.now())

    def catch_up_at_once(self) -> datetime:
        """Process all items that a running clock has made due, and return the time."""
        now = self.clock.now()
        while self._is_behind(now):
            self._process_share(now)
        return now

    def _is_behind(self, now: datetime) -> bool:
        """Return whether a running clock has made something due by `now`."""
        due = self._agenda.next_due
        return due is not None and due <= now and self.clock.runs and not self._is_closed

    def _process_share(self, now: datetime) -> bool:
        """Process a turn's share of the items due by `now`, and start the deliveries with the last share. Return False
        when items are left."""
        fired: list[AgendaResult] = self._apply(PassTime(ITEMS_PER_TURN_MAX), now)
        if self.advancing is not None:
            self.advancing.record(fired, ITEMS_PER_TURN_MAX)
        self.lanes.collect([item.send for item in fired if item.send is not None])
        if self.notifier.waiting:
            self.job_ends.notice(fired)
        if self._is_behind(now):
            return False
        self.lanes.start()
        return True

    def rearm(self, now: datetime, *, is_clock_changed: bool = False) -> None:
        """Set the timer for the next due item, if the clock runs; call it after any change to agenda or clock."""
        if is_clock_changed:
            self._disarm()
        if not self.clock.rate or self._is_closed:
            return
        due = self._agenda.next_due
        if due is not None and (self._timer_due is None or due < self._timer_due):
            self._arm(due, now)

    async def advance(self, target: datetime | None) -> Advance:
        """Move the clock to `target`, or until the agenda is empty when it is None, and finish all deliveries.

        Raises `Conflict` while another advance runs, and when the sandbox is deleted or the server stopped meanwhile.
        """
        self.refuse_while_advancing()
        self.advancing = report = Advance(self.clock.now(), target, self.clock.latest, pending=len(self._agenda))
        self._advancing_task = asyncio.create_task(self._advance(report))
        try:
            await self._advancing_task
        except asyncio.CancelledError:
            if self.is_stopping:
                text = "the server is being stopped; what was due until now has happened"
                raise Conflict("server_stopping", text) from None
            if not self._is_closed:
                raise
            raise Conflict("sandbox_gone", "the sandbox was deleted while it was being advanced") from None
        finally:
            self._advancing_task = self.advancing = None
            report.is_over.set()
            if not self.is_stopping:
                self.rearm(self.clock.now(), is_clock_changed=True)
        return report

    def refuse_while_advancing(self) -> None:
        """Raise `Conflict` during an advance."""
        if self._advancing_task is not None:
            raise Conflict("advance_running", "this sandbox is being advanced; wait for the answer to that request")

    async def set_clock(self, mode: str | None, rate: float | None, now: datetime | None) -> None:
        """Change the clock. Raises `Conflict` during an advance, `Unacceptable` for a time in the past.

        Overdue items happen at the new time: with the next advance, or at once when the clock runs.
        """
        self.refuse_while_advancing()
        before = self.clock.now()
        if not self.catch_up(before):
            await self.settle(before)
            if self.is_stopping:
                raise Conflict("server_stopping", "the server is being stopped; the clock was not set")
            if self._is_closed:
                raise Conflict("sandbox_gone", "the sandbox was deleted or reset before its clock was set")
            self.refuse_while_advancing()
            self.catch_up(self.clock.now())
        self.clock.set(mode, rate, now)
        current = self.clock.now()
        self._record(ClockSet(current, self.clock.mode, self.clock.rate))
        self._apply(RecordTime(), current)
        if not self.catch_up(current):
            await self.settle(current)
        if self.clock.runs:
            self.lanes.start()
        self.rearm(current, is_clock_changed=True)

    def end_waits(self) -> None:
        """Wake all waiters and end an advance, since the server is about to stop."""
        self.is_stopping = True
        self.notifier.close()
        if self._advancing_task is not None:
            self._advancing_task.cancel()

    def stop(self) -> None:
        """Stop the timer, all deliveries and any advance; nothing is applied afterwards."""
        self._is_closed = True
        self.notifier.close()
        self._disarm()
        for task in self._tasks():
            task.cancel()

    async def close(self) -> None:
        """Stop, and wait until the tasks have ended. No cycle remains, so the memory is free at once."""
        self.stop()
        self._apply = _refuse
        await asyncio.gather(*self._tasks(), return_exceptions=True)
        self.lanes = Lanes(_refuse, _refuse, _refuse, _refuse)

    def _tasks(self) -> list[asyncio.Task[Any]]:
        return [*self.lanes.tasks, *self.lanes.held, *filter(None, (self._advancing_task,))]

    async def _advance(self, report: Advance) -> None:
        target = report.target
        if self._settling:  # they came first
            await self.settle(report.began)
        if not self.clock.runs:
            await self.lanes.finish()  # deliveries from before the sandbox was rebuilt
        while not self._is_closed:
            if report.is_stopping:
                report.stopped = STOPPED
                break
            due = self._agenda.next_due
            if due is None or (target is not None and due > target):
                if not self.lanes.tasks:
                    break
                # Also await deliveries that a running clock started: they may schedule retries.
                await asyncio.wait(self.lanes.tasks, return_when=asyncio.FIRST_COMPLETED)
                continue
            report.stopped = reason_to_stop(report, due)
            if report.stopped:
                return
            await self._advance_to(due, report)
        if target is not None and not report.stopped:
            self.clock.move_to(target)
            self._record(ClockSet(self.clock.now(), self.clock.mode, self.clock.rate))
        report.is_idle = not len(self._agenda) and not self.lanes.tasks

    async def _advance_to(self, due: datetime, report: Advance) -> None:
        self.clock.move_to(due)
        now = max(due, self.clock.now())
        fired: list[AgendaResult] = self._apply(PassTime(ITEMS_PER_TURN_MAX), now)
        is_turn_over = report.record(fired, ITEMS_PER_TURN_MAX)
        self.job_ends.notice(fired)
        if sends := [item.send for item in fired if item.send is not None]:
            await self._deliver_in_order(sends)
        if sends or is_turn_over:
            await asyncio.sleep(0)

    async def _deliver_in_order(self, due: list[Send]) -> None:
        sends = self.lanes.without_held(due)
        results = await results_in_order(sends, lambda send: self._courier.deliver_in_turn(send, self.clock))
        now = self.clock.now()
        for send, result in zip(sends, results, strict=True):
            self._apply(EndAttempt(send.job.id, send.attempt.number, result), now)
            self.job_ends.add(JobEnd(send.job))

    async def _deliver(self, lane: list[Send]) -> None:
        for send in lane:
            result = await self._courier.deliver(send, self.clock)
            now = self.clock.now()
            if not self.catch_up(now):
                await self.settle(now)
            self._apply(EndAttempt(send.job.id, send.attempt.number, result), now)
            if self.notifier.waiting:
                self.job_ends.add(JobEnd(send.job))

    def _arm(self, due: datetime, now: datetime) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        # Whole milliseconds: uvloop rounds to the nearest, and a timer that is early has nothing to do.
        delay_s = min(ceil(self.clock.seconds_between(now, due) * 1000) / 1000, 86_400.0)
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._tick)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._timer_due = None

    def _tick(self) -> None:
        self._timer = self._timer_due = None
        if not self._settling:  # else the last of them sets the timer again
            now = self.clock.now()
            if self._is_behind(now) and not self._process_share(now):
                self.lanes.start()
            self.rearm(now)


def _refuse(*_: object) -> Any:
    raise Conflict("sandbox_gone", "the sandbox was deleted or reset")
