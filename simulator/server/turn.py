"""Answers the requests of one turn of the event loop together, at its end.

Most requests arrive in one packet and can be answered at once; a task and two ASGI messages for each would cost more
than the network. So an application may have a method `answer_now` that returns a coroutine for a complete request. Its
first step runs without a task. If it finishes, the answer is written; if it has to wait, it continues in a task.

Batching is cheaper, too: the first write of a turn wakes the process that waits for it, the others find it awake. And
requests that are answered without system calls in between find the code still in the processor's caches.
"""

import logging
from asyncio import get_running_loop
from collections.abc import Generator
from types import coroutine
from typing import Any, Final

from uvicorn.server import ServerState

from simulator.server.message import header_lines
from simulator.server.responder import Connection, PendingAnswer, ReadyAnswer

_LOG: Final = logging.getLogger(__name__)


class Turn:
    """The connections that have requests to answer at the end of this turn, and the header lines of every answer."""

    def __init__(self) -> None:
        self._waiting: list[Connection] = []
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, server_state: ServerState) -> bytes:
        """The server's default headers as lines, cached: uvicorn makes a new list every second."""
        headers = server_state.default_headers
        if headers is not self._defaults:
            self._defaults, self._lines = headers, header_lines(headers)
        return self._lines

    def add(self, connection: Connection) -> None:
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
def resume(pending: PendingAnswer, waits_for: Any) -> Generator[Any, Any, ReadyAnswer]:
    """Continue a coroutine after its first step, which ended by waiting for the future `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation; the coroutine handles it
                waits_for = pending.throw(error)
            else:
                waits_for = pending.send(sent)
    except StopIteration as done:
        answer: ReadyAnswer = done.value
        return answer
