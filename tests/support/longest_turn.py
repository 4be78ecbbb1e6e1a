"""The longest turn: how much processor time the longest callback of an event loop took, the simulator's own work only.

One process answers all, so whatever runs for long holds everybody up. Processor time of the thread is measured, which
the load of the machine does not change, and without collections of garbage, which the heap of a whole test run makes
long. Steps of coroutines that tests and their helpers wrote do not count.
"""

import asyncio
import gc
from threading import get_ident
from time import thread_time
from typing import Any

LIMIT_S = 0.5
"""Wide: what the suite does takes up to a tenth of that."""

_HANDLE: Any = asyncio.Handle
_run = _HANDLE._run


class LongestTurn:
    """Measures from `install` on; `begin` starts anew."""

    def __init__(self) -> None:
        self._collected_s = self._collection_began_s = 0.0
        self._thread = 0
        self.begin()

    def begin(self) -> None:
        """Forget what was longest."""
        self.seconds, self.callback = 0.0, ""

    def install(self) -> None:
        """Measure every callback of every loop."""
        longest = self

        def watched(handle: Any) -> None:
            task = getattr(handle._callback, "__self__", None)  # a step forgets its task once it was taken
            longest._thread = get_ident()
            began_s, collected_s = thread_time(), longest._collected_s
            _run(handle)
            seconds = thread_time() - began_s - (longest._collected_s - collected_s)
            if seconds > longest.seconds:
                code = getattr(task.get_coro(), "cr_code", None) if isinstance(task, asyncio.Task) else None
                if code is None or "/tests/" not in code.co_filename:
                    longest.seconds, longest.callback = seconds, repr(handle if code is None else task)

        _HANDLE._run = watched
        gc.callbacks.append(self._on_collection)

    def _on_collection(self, phase: str, info: dict[str, Any]) -> None:
        if get_ident() != self._thread:
            return  # a thread beside the loop collects; its time is not in the loop's
        if phase == "start":
            self._collection_began_s = thread_time()
        else:
            self._collected_s += thread_time() - self._collection_began_s


def keep_busy(seconds: float) -> None:
    """Use so much processor time."""
    until = thread_time() + seconds
    while thread_time() < until:
        sum(range(100))


LONGEST_TURN = LongestTurn()
