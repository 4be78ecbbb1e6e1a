"""When connections answer: the batcher of connections that answer at the end of an event loop turn, and the deadline of
a client.

A task and two ASGI messages for each request would cost more than the network. So an application may have a method
`answer_now`, whose first step runs without a task (`HttpProtocol`).
"""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Final, Protocol

from uvicorn.server import ServerState

from simulator.server.message import HttpLimits, HttpRefusal, HttpRequest, header_lines
from simulator.server.transports import AnswerWriter

CONNECTIONS_MAX: Final = 64
"""The number of connections that answer in a turn. The others come first in the next turn, after the loop has checked
its timers and sockets, so that pipelined requests of some clients do not delay other clients."""

_LOG: Final = logging.getLogger(__name__)


class BatcherConnection(Protocol):
    """The parts of an `HttpProtocol` that the batcher uses."""

    writer: AnswerWriter

    def answer_next(self, now: float) -> None: ...
    def hang_up(self) -> None: ...


class ResponseBatcher:
    """A queue of the connections that have requests to answer at the end of this turn."""

    def __init__(self) -> None:
        self._waiting: dict[BatcherConnection, None] = {}  # oldest first
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, server_state: ServerState) -> bytes:
        """Return the server's default headers as lines, cached: uvicorn makes a new list every second."""
        headers = server_state.default_headers
        if headers is not self._defaults:
            self._defaults, self._lines = headers, header_lines(headers)
        return self._lines

    def add(self, connection: BatcherConnection) -> None:
        """Let a connection answer at the end of this turn, or of a later turn when there are many."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        self._waiting[connection] = None

    def _end(self) -> None:
        loop = asyncio.get_running_loop()
        waiting = list(self._waiting)
        self._waiting = dict.fromkeys(waiting[CONNECTIONS_MAX:])
        if self._waiting:
            loop.call_soon(self._end)
        del waiting[CONNECTIONS_MAX:]
        now = loop.time()
        for connection in waiting:
            try:
                connection.answer_next(now)
            except Exception:  # must not affect the other connections
                _LOG.exception("A request could not be answered")
                connection.hang_up()
        for connection in waiting:
            connection.writer.flush()


class ClientDeadline:
    """Calls `on_due` at the time that was set last: first, when the head of a request must have arrived.

    Setting a later time does not touch the timer: the old one fires, finds that the deadline has moved, and is set
    again. Cancelling and creating a timer of the event loop costs twenty times as much.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_due: Callable[[], None], limits: HttpLimits) -> None:
        self._loop, self._on_due, self._limits = loop, on_due, limits
        self._body_due = 0.0  # when the body that is being read has to be here
        self._at = self._fires_at = loop.time() + limits.head_timeout_s
        self._timer = loop.call_at(self._at, self._fire)

    def set(self, seconds: float) -> None:
        """Move the deadline to `seconds` from now."""
        self.set_at(self._loop.time() + seconds)

    def set_at(self, at: float) -> None:
        """Move the deadline to `at`, a time of the loop's clock."""
        self._at = at
        if at < self._fires_at:
            self._arm()

    def await_body(self, request: HttpRequest | None) -> None:
        """Wait for the next packet of a body. With `request`, the time for the whole body starts if it has not yet."""
        if request is not None and not request.spans_packets:
            request.spans_packets = True
            self._body_due = self._loop.time() + self._limits.body_total_s
        self.set_at(min(self._loop.time() + self._limits.body_timeout_s, self._body_due))

    def restart_body(self) -> None:
        """Give a body its whole time again, since the server itself did not read."""
        self._body_due = self._loop.time() + self._limits.body_total_s
        self.await_body(None)

    def late_body(self) -> HttpRefusal:
        """Return the refusal of a body that took too long as a whole, or paused too long."""
        if self._loop.time() >= self._body_due:
            return HttpRefusal("body_too_slow", self._limits.body_total_s)
        return HttpRefusal("body_timeout", self._limits.body_timeout_s)

    def end(self) -> None:
        """Cancel the timer and release the callback."""
        self._timer.cancel()
        self._on_due = lambda: None

    def _arm(self) -> None:
        self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_at(self._at, self._fire)

    def _fire(self) -> None:
        self._fires_at = math.inf
        if self._loop.time() < self._at:
            self._arm()
        else:
            self._on_due()
