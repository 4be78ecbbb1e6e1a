"""The timing of a connection: when its answers leave, and how long a slow client may take."""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Final, Protocol

from uvicorn.server import ServerState

from simulator.server.message import HttpLimits, HttpRefusal, RequestMemoryBudget

CONNECTIONS_MAX: Final = 64
"""The number of connections that answer in a turn. The others come first in the next turn, after the loop has checked
its timers and sockets, so that pipelined requests of some clients do not delay other clients."""

_LOG: Final = logging.getLogger(__name__)


class AnswerWriter:
    """The writing side of a connection: answers are gathered until the end of a turn, and wait for a slow client.

    `is_stalled`, and `writable` cleared, while the client does not read its answers. `hang_up` is called when no byte
    that is unsent or held by the gate leaves for `write_timeout_s`, or when too much waits for such clients."""

    transport: asyncio.Transport

    def __init__(self, budget: RequestMemoryBudget, hang_up: Callable[[], None]) -> None:
        self._budget, self._hang_up = budget, hang_up
        self.unsent = b""
        self.is_stalled = False
        self.writable = asyncio.Event()
        self.writable.set()
        self._untaken = 0  # bytes that the client had not taken when they were last counted; the budget has them
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes) -> None:
        """Write after what was gathered."""
        self.unsent += data
        self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        unsent, self.unsent = self.unsent, b""
        if unsent and not self.transport.is_closing():
            self.transport.write(unsent)

    def pause(self) -> None:
        """The client does not read."""
        self.is_stalled = True
        self.writable.clear()
        self._watch()
        if self._budget.unsent > self._budget.limits.unsent_bytes:
            self._hang_up()

    def resume(self) -> None:
        """The client reads again, or has left."""
        self.is_stalled = False
        self.writable.set()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._budget.unsent -= self._untaken
        self._untaken = 0

    def close(self) -> None:
        """Close once everything was written."""
        self.flush()
        if not self.transport.is_closing():  # asyncio's TLS has no buffer any more when it is closed twice
            self.transport.close()
        self._watch()

    def abort(self) -> None:
        """Close at once, without writing the rest."""
        self.transport.abort()
        self.resume()

    def _watch(self) -> None:
        if self._timer is None:
            before, self._untaken = self._untaken, self.transport.get_write_buffer_size()
            self._budget.unsent += self._untaken - before
            if self._untaken:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self._budget.limits.write_timeout_s, self._on_due)

    def _on_due(self) -> None:
        before, self._timer = self._untaken, None
        if self.transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self._hang_up()


class ClientDeadline:
    """Calls `on_due` at the time that was set last: first, when the head of a request must have arrived.

    Setting a later time does not touch the timer: the old one fires, finds that the deadline has moved, and is set
    again. Cancelling and creating a timer of the event loop costs twenty times as much.
    """

    def __init__(self, on_due: Callable[[], None], limits: HttpLimits) -> None:
        self._on_due = on_due
        self._loop, self._limits = asyncio.get_running_loop(), limits
        self._body_due = 0.0  # when the body that is being read has to be here
        self._at = self._fires_at = self._loop.time() + limits.head_timeout_s
        self._timer = self._loop.call_at(self._at, self._fire)

    def set(self, seconds: float) -> None:
        """Move the deadline to `seconds` from now."""
        self._at = self._loop.time() + seconds
        if self._at < self._fires_at:
            self._arm()

    def clear(self) -> None:
        """Wait for nothing any more."""
        self._timer.cancel()
        self._fires_at = math.inf

    def await_body(self, *, is_new: bool) -> None:
        """Wait for the next packet of a body. The time for the whole body starts when it `is_new`."""
        now = self._loop.time()
        if is_new:
            self._body_due = now + self._limits.body_total_s
        self.set(min(self._limits.body_timeout_s, self._body_due - now))

    def late_body(self) -> HttpRefusal:
        """Return the refusal of a body that took too long as a whole, or paused too long."""
        if self._loop.time() >= self._body_due:
            return HttpRefusal("body_too_slow", self._limits.body_total_s)
        return HttpRefusal("body_timeout", self._limits.body_timeout_s)

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


class BatchedConnection(Protocol):
    """The parts of an `HttpProtocol` that the batcher uses."""

    writer: AnswerWriter

    def answer_next(self) -> None: ...
    def hang_up(self) -> None: ...


class ResponseBatcher:
    """A queue of the connections that have requests to answer at the end of this turn."""

    def __init__(self) -> None:
        self._waiting: dict[BatchedConnection, None] = {}  # oldest first
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, server_state: ServerState) -> bytes:
        """Return the server's default headers as lines, cached: uvicorn makes a new list every second."""
        if self._defaults is not server_state.default_headers:
            self._defaults = server_state.default_headers
            self._lines = b"".join([b"%b: %b\r\n" % header for header in self._defaults])
        return self._lines

    def add(self, connection: BatchedConnection) -> None:
        """Let a connection answer at the end of this turn, or of a later turn when there are many."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        self._waiting[connection] = None

    def _end(self) -> None:
        waiting = list(self._waiting)
        self._waiting = dict.fromkeys(waiting[CONNECTIONS_MAX:])
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        del waiting[CONNECTIONS_MAX:]
        for connection in waiting:
            try:
                connection.answer_next()
            except Exception:  # must not affect the other connections
                _LOG.exception("A request could not be answered")
                connection.hang_up()
        for connection in waiting:
            connection.writer.flush()
