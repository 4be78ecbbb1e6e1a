"""What the application does in a thread, done by the world's loop: each piece at once when its time has come, which may
be later than others' that came after the request that asked for it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from simulator.runtime import background
from tools.worlds.loop import VirtualLoop


class LoopWorker:
    """In place of the thread; `delay_s` says how long each piece takes."""

    def __init__(self, loop: VirtualLoop, delay_s: Callable[[], float]) -> None:
        self._loop = loop
        self._delay_s = delay_s
        self.waiting = 0

    def submit(self, function: Callable[[], Any], size: int) -> "Future[list[background._Outcome]]":
        """Have `function` called, as `background._Worker` does."""
        work = background._Work(0, 0, Future(), function)
        self.waiting += 1
        self._loop.call_later(self._delay_s(), self._do, work)
        return work.done

    def _do(self, work: background._Work) -> None:
        self.waiting -= 1
        background._do(work)


@contextmanager
def beside_nothing(worker: LoopWorker) -> Iterator[None]:
    """Let the application use this worker, and places that nobody holds yet."""
    with patch.object(background, "_WORKER", worker), patch.object(background._PLACES, "_sizes", []):
        yield
