"""Limits for waiting requests: how many may wait, how many resume per turn of the event loop, and scripted delays."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from simulator.domain.errors import Busy

T = TypeVar("T")

SANDBOX_WAITERS_MAX = 500
STARTED_PER_TURN_MAX = 20
"""The requests that resume, and the deliveries that begin, in a turn of the event loop: each takes some tenths of a
millisecond."""


class Turnstile:
    """Lets a limited number of tasks pass per turn of the event loop, in order of arrival."""

    def __init__(self) -> None:
        self._passed = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Continue in this turn, or in the first turn with room."""
        loop = asyncio.get_running_loop()
        if self._passed < STARTED_PER_TURN_MAX:
            if not self._passed:
                loop.call_soon(self._next, loop)
            self._passed += 1
        else:
            self._queue.append(loop.create_future())
            await self._queue[-1]

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        self._passed = 0
        while self._queue and self._passed < STARTED_PER_TURN_MAX:
            waiting = self._queue.popleft()
            if not waiting.done():
                waiting.set_result(None)
                self._passed += 1
        if self._passed:
            loop.call_soon(self._next, loop)


class WaitingRoom:
    """A limit on the waiting requests of a sandbox. The `turnstile` is that of its server, whose connections limit all
    of them together."""

    def __init__(self, turnstile: Turnstile) -> None:
        self._turnstile = turnstile
        self._count = 0

    async def wait(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `begin`. Waiters resume in order of arrival, a few per turn. Raises `Busy`."""
        if self._count >= SANDBOX_WAITERS_MAX:
            text = (
                f"{SANDBOX_WAITERS_MAX} requests wait in this sandbox, which is the limit; "
                "ask again later or without wait_for"
            )
            raise Busy("too_many_waiting", text, "wait_for")
        self._count += 1
        try:
            result = await begin()
            await self._turnstile.enter()
        finally:
            self._count -= 1
        return result


class Delays:
    """Waits of a number of seconds each. Ending the delays resumes all of them at once, in the order they began."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], None] = {}

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`, or until the delays are ended. Needs no task, in which a request does not begin."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _end, future)
        self._waiting[future] = None
        try:
            await future
        finally:
            timer.cancel()
            del self._waiting[future]

    def end(self) -> None:
        """End all delays."""
        for future in self._waiting:
            _end(future)


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


WAITERS_MAX = 100
"""The limit of waiting requests for each log, since every change tests all their conditions."""


class Waiter(NamedTuple):
    """A task that waits until `is_true`."""

    is_true: Callable[[], bool]
    future: "asyncio.Future[None]"


class Notifier:
    """Wakes tasks that wait for a change. Without waiters it costs nothing. It wakes only tasks whose condition is
    true, and a condition tests only the changes (`Tally`)."""

    def __init__(self) -> None:
        self.waiting: list[Waiter] = []
        self._closed = False

    def close(self) -> None:
        """Wake all waiters: no more changes will come."""
        self._closed = True
        for waiter in self.waiting:
            _wake(waiter.future)

    def notify(self) -> None:
        """Test every condition, and wake the tasks whose condition is true."""
        for waiter in self.waiting:
            if waiter.is_true():
                _wake(waiter.future)

    async def wait_until(self, is_true: Callable[[], bool], timeout_s: float, *others: "Notifier") -> bool:
        """Wait until `is_true`, tested at each notification by this notifier or by `others`. Return False on timeout,
        or when a notifier is closed first. Raises `Busy` when too many wait."""
        if is_true() or self._closed or timeout_s <= 0:
            return is_true()
        notifiers = (self, *others)
        if any(len(notifier.waiting) >= WAITERS_MAX for notifier in notifiers):
            text = (
                f"{WAITERS_MAX} requests wait for this already, which is the limit; ask again later or without wait_for"
            )
            raise Busy("too_many_waiting", text, "wait_for")
        loop = asyncio.get_running_loop()
        waiter = Waiter(is_true, loop.create_future())
        timer = loop.call_later(timeout_s, _wake, waiter.future)
        for notifier in notifiers:
            notifier.waiting.append(waiter)
        try:
            await waiter.future
        finally:
            timer.cancel()
            for notifier in notifiers:
                notifier.waiting.remove(waiter)
        return is_true()


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
