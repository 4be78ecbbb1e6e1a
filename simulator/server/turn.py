"""Answers together, at the end of a turn of the event loop, the requests that came in it, those that it can at once.

Most requests of a simulator need nothing but their own bytes, and come in one packet. To make a task and two messages
of each costs more than the network itself. So an application may have a method `prompt` that makes a coroutine of a
request that is whole. Its first step is taken without a task. If that was all, the answer is written; if it has to
wait, it goes on in a task like any other request.

What a small write costs most is to wake the process that waits for it. The first write of a turn does that, and those
after it find it awake. And the answering, one request after the other without the system in between, finds its own code
still in the processor's caches.
"""

import logging
from asyncio import get_running_loop
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, Protocol

from simulator.server.message import header_lines


class Ending(Protocol):
    """How an answer ends: a value of the application's.

    `name` is empty where the whole answer goes out, `cut` where half of its body does, anything else where nothing
    does; `bytes_per_second` is its body's pace, 0 for at once.
    """

    @property
    def name(self) -> str: ...
    @property
    def bytes_per_second(self) -> float: ...


PromptAnswer = tuple[int, bytes, bytes, Ending]
"""Status, header lines with their ends, body, ending."""
Making = Coroutine[Any, Any, PromptAnswer]
Prompt = Callable[[str, str, bytes, list[tuple[bytes, bytes]], str, bytes], Making | None]
"""Makes an answer of method, path, query, headers, client's address and body; None for what it does not take so."""

_LOG: Final = logging.getLogger(__name__)


class Turn:
    """The connections that have something to answer at the end of this turn, and what every answer begins with."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []  # HttpProtocols, whose module imports this one
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """The server's default headers as lines; it makes a new list every second."""
        if headers is not self._defaults:
            self._defaults, self._lines = headers, header_lines(headers)
        return self._lines

    def add(self, connection: Any) -> None:
        """Let a connection answer and send at the end of this turn."""
        if not self._waiting:
            get_running_loop().call_soon(self._end)
        self._waiting.append(connection)

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, []
        now = get_running_loop().time()
        for connection in waiting:
            try:
                connection.answer(now)
            except Exception:  # one connection's trouble is not the others'
                _LOG.exception("A request could not be answered")
                connection.hang_up()
        for connection in waiting:
            connection.flush()


@coroutine
def resumed(making: Making, waits_for: Any) -> Generator[Any, Any, PromptAnswer]:
    """What is left of a coroutine after its first step, in which it began to wait for the future `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation, which is the coroutine's to handle
                waits_for = making.throw(error)
            else:
                waits_for = making.send(sent)
    except StopIteration as made:
        answer: PromptAnswer = made.value
        return answer
