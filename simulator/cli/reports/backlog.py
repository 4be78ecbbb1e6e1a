"""Work beside the event loop, one after the other, on what is kept in memory until then."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, ParamSpec

P = ParamSpec("P")

BYTES_MAX: Final = 256 * 1024 * 1024
"""What may wait together. Who adds more waits, and with it the whole event loop, so that it is enough for thousands of
sandboxes behind one whose report takes a minute."""


class Backlog:
    """A thread, and the work that waits for it."""

    def __init__(self, name: str, bytes_max: int = BYTES_MAX) -> None:
        self._worker = ThreadPoolExecutor(1, name)
        self._bytes_max = bytes_max
        self._bytes = 0
        self._waiting: deque[tuple[Future[None], int]] = deque()

    def add(self, size: int, work: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
        """Have work done that is about so many bytes; when too much waits, wait for the oldest. Raises what earlier
        work has raised."""
        while self._waiting and (self._waiting[0][0].done() or self._bytes + size > self._bytes_max):
            self._end_oldest()
        self._waiting.append((self._worker.submit(work, *arguments, **options), size))
        self._bytes += size

    def end(self) -> None:
        """Wait for all of it. Raises what it has raised."""
        while self._waiting:
            self._end_oldest()

    def _end_oldest(self) -> None:
        done, size = self._waiting.popleft()
        self._bytes -= size
        done.result()
