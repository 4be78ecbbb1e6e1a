"""An event loop with virtual time: it jumps from timer to timer and never waits.

Ready callbacks run in order of readiness, as in asyncio. The seed decides the order of simultaneous timers.
"""

import asyncio
import heapq
import inspect
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from random import Random
from typing import Any, TypeVarTuple, Unpack

from tools.worlds.randomness import drawn_for

Ts = TypeVarTuple("Ts")

TURNS_MAX = 100_000
"""The maximum number of callbacks at the same instant. More callbacks indicate an endless cycle."""


class Stalled(AssertionError):
    """The loop is busy without any time passing."""


class VirtualLoop(asyncio.AbstractEventLoop):
    """A loop that counts microseconds since its start. `errors` are the uncaught exceptions. It has the methods
    that the application uses: no sockets, processes or signals."""

    def __init__(self, random: Random) -> None:
        self.now_us = 0
        self.errors: list[str] = []
        self._random = random
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[int, float, int, asyncio.TimerHandle]] = []
        self._timers_made = 0
        self._dropped: list[object] = []
        self._is_closed = False
        self._is_running = False

    # The interface for asyncio and the application

    def time(self) -> float:
        return self.now_us / 1e6

    def get_debug(self) -> bool:
        return False

    def get_task_factory(self) -> None:
        """Return None."""

    def is_running(self) -> bool:
        return self._is_running

    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        self._is_closed = True

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)  # there is one thread

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self._call_at_us(self.now_us + _microseconds(delay), callback, args, context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self._call_at_us(_microseconds(when), callback, args, context)

    def _call_at_us(
        self, due_us: int, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(due_us / 1e6, callback, args, self, context)
        self._timers_made += 1
        heapq.heappush(self._timers, (max(due_us, self.now_us), self._random.random(), self._timers_made, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Ignore the notice of a cancelled timer; it stays in the heap until its time."""

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> "asyncio.Task[Any]":
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self.errors.append(f"{context.get('message')}: {error!r}")

    # The interface for the world

    def settle(self) -> None:
        """Run all callbacks that are ready or due, and the callbacks that these add, without advancing the time. Raises
        `Stalled`."""
        ready = self._ready
        self._enter()
        try:
            for _ in range(TURNS_MAX):
                if not ready and not self._jump(self.now_us):
                    return
                handle = ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            self._leave()
        raise Stalled(f"{TURNS_MAX} callbacks ran without any time passing; next is {ready[0]!r}")

    def pass_time(self, seconds: float) -> None:
        """Advance the time, and run everything that is due meanwhile."""
        until_us = self.now_us + _microseconds(seconds)
        self.settle()
        while self._jump(until_us):
            self.settle()
        self.now_us = until_us

    def run(self, main: Coroutine[Any, Any, Any], seconds_max: float) -> Any:
        """Run a coroutine to its end and return its result. Raise `Stalled` when it takes more than `seconds_max`."""
        task = self.create_task(main)
        until_us = self.now_us + _microseconds(seconds_max)
        self.settle()
        while not task.done():
            if not self._jump(until_us):
                raise Stalled(f"after {seconds_max:g} s this has not ended: {task!r}")
            self.settle()
        return task.result()

    def forget(self) -> None:
        """Drop all ready and waiting callbacks, as the end of a process does. They are kept until `bury`, since a
        collected coroutine runs its `finally` blocks."""
        self._dropped += [*asyncio.all_tasks(self), *self._ready, *self._timers]
        self._ready.clear()
        self._timers.clear()

    def tasks(self) -> list[asyncio.Task[Any]]:
        """Return the unfinished tasks that were not dropped."""
        dropped = {id(one) for one in self._dropped}
        return [task for task in asyncio.all_tasks(self) if id(task) not in dropped]

    def bury(self) -> None:
        """End all tasks, with or without errors."""
        self.forget()
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.settle()
        self._enter()
        closed: set[asyncio.Task[Any]] = set()
        while left := asyncio.all_tasks(self) - closed:  # whose next step was dropped; closing one may start others
            for task in left:
                coroutine = task.get_coro()
                assert inspect.iscoroutine(coroutine), "tasks are made of those"
                with suppress(Exception):
                    coroutine.close()
            closed |= left
        self._leave()
        self._dropped.clear()

    def _jump(self, until_us: int) -> bool:
        """Jump to the next due timer and make its callbacks ready. Return False when it is later than `until_us`."""
        timers = self._timers
        while timers and timers[0][3].cancelled():
            heapq.heappop(timers)
        if not timers or timers[0][0] > until_us:
            return False
        self.now_us = timers[0][0]
        while timers and timers[0][0] == self.now_us:
            self._ready.append(heapq.heappop(timers)[3])
        return True

    def _enter(self) -> None:
        self._is_running = True
        asyncio._set_running_loop(self)

    def _leave(self) -> None:
        self._is_running = False
        asyncio._set_running_loop(None)


def _microseconds(seconds: float) -> int:
    """Convert seconds, rounded up, so that no timer is early and repeated waits make progress."""
    exact = round(seconds * 1e6, 3)
    return int(exact) + (exact > int(exact)) or int(seconds > 0)


def virtual_loop(seed: int) -> VirtualLoop:
    """Return a new loop."""
    return VirtualLoop(drawn_for("ties", seed))  # type: ignore[abstract]  # of what no loop has to have, see `VirtualLoop`
