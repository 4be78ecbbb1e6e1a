"""Long, pure work in a thread beside the event loop, a piece at a time in order of arrival.

There is a single thread, since each thread competes with the loop for the interpreter, which the loop gets back every
five milliseconds. The work must not read or change anything that the loop may change meanwhile. The process does not
wait for the thread when it exits. Work for clients needs a place while it waits and runs, and the places are limited.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from simulator.domain.errors import Busy

P = ParamSpec("P")
T = TypeVar("T")

PLACES = 64
"""The limit of requests whose work waits or runs."""

BYTES_MAX = 4 * 1024 * 1024
"""The limit for the bytes of their bodies together. A single request may exceed it, and small bodies are always
accepted."""

SMALL_BYTES = 64 * 1024


class Worker:
    """A thread that works in order of arrival; it starts with the first work, and never ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._has_started = False

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Schedule a call of `work`."""
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        done: Future[Any] = Future()
        self._queue.put(partial(_do, work, done))
        return done

    def _run(self) -> None:
        while True:
            self._queue.get()()  # without a name, so that the thread keeps nothing of work that is done


def _do(work: Callable[[], Any], done: Future[Any]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # as an executor does: it belongs to who asked for the work
        done.set_exception(error)
        del done  # the error refers to this frame: a cycle would keep what the work has read
    else:
        done.set_result(result)


_WORKER = Worker("background")
_sizes: list[int] = []  # of the requests whose work waits or runs


@contextmanager
def place(size: int) -> Iterator[None]:
    """Hold a place for a request with a body of `size` bytes. Raises `Busy` when the places are taken."""
    sizes = _sizes
    if len(sizes) >= PLACES or (sizes and size > SMALL_BYTES and sum(sizes) + size > BYTES_MAX):
        raise Busy("too_busy", f"{len(sizes)} long requests are in progress or waiting; retry later")
    sizes.append(size)
    try:
        yield
    finally:
        sizes.remove(size)


async def in_background(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`, or raise its exception, without blocking the event loop."""
    result: T = await asyncio.wrap_future(_WORKER.submit(partial(work, *arguments, **options)))
    return result
