"""The longest turn: the processor time of the longest callback of an event loop, counting only the simulator's own
work.

A single process serves all requests, so a long callback delays all of them. The processor time of the thread is
measured, since it does not depend on the load of the machine. Garbage collections are excluded, since the heap of a
whole test run makes them long. Steps of coroutines from tests, their helpers and the campaign are excluded, too, and so
is the driver of a browser, since there a test itself runs within a callback of Playwright's loop.
"""

import asyncio
import gc
from threading import get_ident
from time import thread_time
from typing import Any

LIMIT_S = 0.5
"""A generous limit: the suite needs up to a tenth of it."""

_HANDLE: Any = asyncio.Handle
_run = _HANDLE._run
_TRIALS = ("/tests/", "/campaign/")
_BROWSER_DRIVER = "/site-packages/playwright/"


def _file(of: object, member: str) -> str:
    return getattr(getattr(of, member, None), "co_filename", "")


class LongestTurn:
    """Measures after `install`; `begin` restarts the measurement."""

    def __init__(self) -> None:
        self._collected_s = self._collection_began_s = 0.0
        self._thread = 0
        self.begin()

    def begin(self) -> None:
        """Reset the longest turn."""
        self.seconds, self.callback = 0.0, ""

    def install(self) -> None:
        """Measure every callback of every loop."""
        longest = self

        def watched(handle: Any) -> None:
            task = getattr(handle._callback, "__self__", None)  # a step forgets its task once it was taken
            longest._thread = get_ident()
            # clock: processor time, which the load of the machine does not change, within a wide margin
            began_s, collected_s = thread_time(), longest._collected_s
            _run(handle)
            seconds = thread_time() - began_s - (longest._collected_s - collected_s)
            if seconds > longest.seconds:
                step = _file(task.get_coro(), "cr_code") if isinstance(task, asyncio.Task) else ""
                is_trial = any(one in step for one in _TRIALS)
                if not is_trial and _BROWSER_DRIVER not in (step or _file(handle._callback, "__code__")):
                    longest.seconds, longest.callback = seconds, repr(task if step else handle)

        _HANDLE._run = watched
        gc.callbacks.append(self._on_collection)

    def _on_collection(self, phase: str, info: dict[str, Any]) -> None:
        if get_ident() != self._thread:
            return  # a collection in another thread does not use the loop's time
        if phase == "start":
            self._collection_began_s = thread_time()
        else:
            self._collected_s += thread_time() - self._collection_began_s


def keep_busy(seconds: float) -> None:
    """Use this much processor time."""
    until = thread_time() + seconds
    while thread_time() < until:
        sum(range(100))


LONGEST_TURN = LongestTurn()
