"""Run the application's background work in the world's loop. Each piece runs after its own delay, so pieces may
overtake each other."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from simulator.runtime import background
from tools.worlds.loop import VirtualLoop


class LoopWorker:
    """A replacement for the worker thread; `delay_s` returns the duration of each piece."""

    def __init__(self, loop: VirtualLoop, delay_s: Callable[[], float]) -> None:
        self._loop = loop
        self._delay_s = delay_s
        self.waiting = 0

    def submit(self, work: Callable[[], Any]) -> "Future[Any]":
        """Schedule a call of `work`, like `background.Worker`."""
        done: Future[Any] = Future()
        self.waiting += 1
        self._loop.call_later(self._delay_s(), self._do, work, done)
        return done

    def _do(self, work: Callable[[], Any], done: "Future[Any]") -> None:
        self.waiting -= 1
        background._do(work, done)


@contextmanager
def beside_nothing(worker: LoopWorker) -> Iterator[None]:
    """Give the application this worker and free places."""
    with patch.object(background, "_WORKER", worker), patch.object(background, "_sizes", []):
        yield
