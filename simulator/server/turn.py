"""Answers together, at the end of a turn of the event loop, the requests that came in it.

What a small write costs most is to wake the process that waits for it. The first write of a turn does that, and those
after it find it awake. And the answering, one request after the other without the system in between, finds its own code
still in the processor's caches.
"""

import logging
from asyncio import get_running_loop
from typing import Any, Final

from simulator.server.message import header_lines

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
        for connection in waiting:
            try:
                connection.answer()
            except Exception:  # one connection's trouble is not the others'
                _LOG.exception("A request could not be answered")
                connection.hang_up()
        for connection in waiting:
            connection.flush()
