"""Long, pure work in a thread beside the event loop.

There is a single thread, since each thread competes with the loop for the interpreter, which the loop gets back every
five milliseconds. The work must not read or change anything that the loop may change meanwhile. The process does not
wait for the thread when it exits.

Work for clients needs a place while it waits and runs, and the places are limited. Work of requests with small bodies
overtakes larger work that arrived shortly before, so that it does not wait for all of it.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from queue import PriorityQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from simulator.domain.errors import Busy

P = ParamSpec("P")
T = TypeVar("T")

PLACES = 64
"""The limit of requests whose work waits or runs."""

BYTES_MAX = 4 * 1024 * 1024
"""The limit for the bytes of their bodies together. A single request may exceed it, and small bodies are always
accepted."""

SMALL_BYTES = 64 * 1024
"""For each so many bytes of its body, later work may overtake once more."""

_size_of_request: ContextVar[int] = ContextVar("size_of_request", default=0)


class _WorkOutcome(NamedTuple):
    """The return value or the exception of a function."""

    result: Any = None
    error: BaseException | None = None


# The receiver of the outcome empties the list: the thread keeps the future in its frames until its next work, and must
# not keep the outcome alive.
_Done = Future[list[_WorkOutcome]]


@dataclass(order=True, slots=True)
class _Work:
    """A unit of work, ordered by execution."""

    rank: int
    serial: int
    done: _Done = field(compare=False)
    function: Callable[[], Any] | None = field(compare=False)

    def outcome(self) -> _WorkOutcome:
        """Call the function, and drop the reference to it."""
        function, self.function = self.function, None
        assert function is not None, "work is done once"
        try:
            return _WorkOutcome(function())
        except BaseException as error:  # as an executor does: it belongs to who asked for the work
            return _WorkOutcome(error=error)


class _Worker:
    """The thread; it starts with the first work, and never ends."""

    def __init__(self) -> None:
        self._queue: PriorityQueue[_Work] = PriorityQueue()
        self._serials = count()
        self._has_started = False

    def submit(self, function: Callable[[], Any], size: int) -> _Done:
        """Schedule a call of `function`; `size` is the size of the request's body, in bytes."""
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._run, name="background", daemon=True).start()
        serial = next(self._serials)
        work = _Work(serial + size // SMALL_BYTES, serial, Future(), function)
        self._queue.put(work)
        return work.done

    def _run(self) -> None:
        while True:
            _do(self._queue.get())


def _do(work: _Work) -> None:
    if work.done.set_running_or_notify_cancel():
        work.done.set_result([work.outcome()])


class _Places:
    """The requests whose work waits or runs."""

    def __init__(self) -> None:
        self._sizes: list[int] = []

    @contextmanager
    def one(self, size: int) -> Iterator[None]:
        """Hold a place for a request with a body of `size` bytes. Raises `Busy` when the places are taken."""
        sizes = self._sizes
        if len(sizes) >= PLACES or (sizes and size > SMALL_BYTES and sum(sizes) + size > BYTES_MAX):
            text = f"{len(sizes)} requests that take long are being processed or wait for that; ask again later"
            raise Busy("too_busy", text)
        sizes.append(size)
        token = _size_of_request.set(size)
        try:
            yield
        finally:
            _size_of_request.reset(token)
            sizes.remove(size)


_WORKER = _Worker()
_PLACES = _Places()

place = _PLACES.one


async def in_background(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`, or raise its exception, without blocking the event loop."""
    done = _WORKER.submit(lambda: work(*arguments, **options), _size_of_request.get())
    result, error = (await asyncio.wrap_future(done)).pop()
    if error is None:
        return cast(T, result)
    try:
        raise error
    finally:
        del error  # it has this frame in its traceback
