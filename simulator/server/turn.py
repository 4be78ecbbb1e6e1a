"""Answers the requests of one turn of the event loop together, at its end.

Most requests to a simulator arrive in one packet and can be answered at once. A task and two ASGI messages for each
would cost more than the network. So an application may have a method `prompt` that returns a coroutine for a complete
request. Its first step runs without a task. If it finishes, the answer is written; if it has to wait, it continues in a
task like any other request.

Batching is cheaper, too. Most of the cost of a small write is waking the process that waits for it: the first write of
a turn wakes it, the others find it awake. And requests that are answered one after the other, without system calls in
between, find the code still in the processor's caches.
"""

import logging
from asyncio import get_running_loop
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, Protocol

from simulator.server.message import header_lines


class Ending(Protocol):
    """How an answer ends, if not as usual, whole and at once; the application defines the type.

    With an empty `name` the whole answer is sent, with `cut` half of its body, with any other nothing.
    `bytes_per_second` is the pace of the body, 0 for at once.
    """

    @property
    def name(self) -> str: ...
    @property
    def bytes_per_second(self) -> float: ...


PromptAnswer = tuple[int, bytes, bytes, Ending | None]
"""Status, header lines with their ends, body, ending."""
Making = Coroutine[Any, Any, PromptAnswer]
Prompt = Callable[[str, str, bytes, list[tuple[bytes, bytes]], dict[bytes, bytes], str, bytes], Making | None]
"""Takes method, path, query, headers, the same by name, the client's address and body. Returns None to be called by
ASGI instead."""

_LOG: Final = logging.getLogger(__name__)


class Turn:
    """The connections that have requests to answer at the end of this turn, and the header lines of every answer."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []  # HttpProtocols, whose module imports this one
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """The server's default headers as lines, cached: uvicorn makes a new list every second."""
        if headers is not self._defaults:
            self._defaults, self._lines = headers, header_lines(headers)
        return self._lines

    def add(self, connection: Any) -> None:
        """Let a connection answer at the end of this turn."""
        if not self._waiting:
            get_running_loop().call_soon(self._end)
        self._waiting.append(connection)

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, []
        now = get_running_loop().time()
        for connection in waiting:
            try:
                connection.answer(now)
            except Exception:  # must not affect the other connections
                _LOG.exception("A request could not be answered")
                connection.hang_up()
        for connection in waiting:
            connection.flush()


@coroutine
def resume(making: Making, waits_for: Any) -> Generator[Any, Any, PromptAnswer]:
    """Continue a coroutine after its first step, which ended by waiting for the future `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation; the coroutine handles it
                waits_for = making.throw(error)
            else:
                waits_for = making.send(sent)
    except StopIteration as made:
        answer: PromptAnswer = made.value
        return answer
