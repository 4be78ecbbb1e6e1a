"""How connections answer: the batcher of connections that answer at the end of an event loop turn, the deadline of a
client, the gate that holds output, and the writer, which waits for clients that read slowly.

A task and two ASGI messages for each request would cost more than the network. So an application may have a method
`answer_now`, whose first step runs without a task (`HttpProtocol`).
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

from uvicorn.server import ServerState

from simulator.server.message import HttpLimits, HttpRefusal, HttpRequest, RequestMemoryBudget, header_lines

CONNECTIONS_MAX: Final = 64
"""The number of connections that answer in a turn. The others come first in the next turn, after the loop has checked
its timers and sockets, so that pipelined requests of some clients do not delay other clients."""

_LOG: Final = logging.getLogger(__name__)
_LEASE_LOST: Final = (
    b'{"error":"lease_lost","message":"this server has lost its lease, and nothing was stored; send the request again",'
    b'"path":""}'
)
LEASE_LOST_ANSWER: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_LEASE_LOST), _LEASE_LOST)
)
"""The answer instead of one that must not leave, since what it says was not stored."""


class BatcherConnection(Protocol):
    """The parts of an `HttpProtocol` that the batcher uses."""

    writer: "AnswerWriter"

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


Act = Callable[[], None]

OutputGate = Callable[[Act, Act], bool]
"""Returns whether bytes may leave now; if not, it calls its first argument when they may, or the second if they never
will, or neither."""


class GatedTransport:
    """A transport that writes and closes, in the order of the calls, and each piece when the gate is open for it: what
    is written later may depend on a later commit. With `is_free` set, the next bytes need no gate."""

    def __init__(self, transport: asyncio.Transport, gate: OutputGate) -> None:
        self._transport = transport
        self._gate = gate
        self._held: deque[tuple[bytes, list[Act]]] = deque()  # what the gate holds, and what follows each
        self._is_closing = False
        self.is_free = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write when the gate is open; nothing to a client that has left by then."""
        if self.is_free or self._gate(self._release, self._refuse):
            self._do(partial(self._transport.write, data))
        else:
            self._held.append((data, []))

    def write_eof(self) -> None:
        """Close our side after everything was written."""
        self._do(self._transport.write_eof)

    def close(self) -> None:
        """Close after everything was written."""
        self._is_closing = True
        self._do(self._transport.close)

    def abort(self) -> None:
        """Close at once; what is held is not written."""
        self._is_closing = True
        self._held.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        """True when it closes, or will when the gate is open."""
        return self._is_closing or self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that the other side has not taken, including held bytes."""
        return sum(len(data) for data, _ in self._held) + self._transport.get_write_buffer_size()

    def _do(self, act: Act) -> None:
        if self._held:
            self._held[-1][1].append(act)
        else:
            act()

    def _refuse(self) -> None:
        """Refuse instead of sending what is held; in the middle of an answer, close alone."""
        if self._held and self._held[0][0].startswith(b"HTTP/1.1 ") and not self._transport.is_closing():
            self._transport.write(LEASE_LOST_ANSWER)
            self._transport.close()
        elif self._held:
            self._transport.abort()
        self._held.clear()

    def _release(self) -> None:
        if self._held:
            data, acts = self._held.popleft()
            acts.insert(0, partial(self._transport.write, data))
            for act in acts:
                if self._transport.is_closing():  # the client has left meanwhile
                    return
                act()


class AnswerWriter:
    """The writing side of a connection: answers are gathered until the end of a turn, and wait for a slow client.

    `is_stalled`, and `writable` cleared, while the client does not read its answers. `hang_up` is called when it takes
    nothing of what is unsent for `write_timeout_s`, or when too much waits for such clients."""

    transport: asyncio.Transport

    def __init__(self, budget: RequestMemoryBudget, hang_up: Act) -> None:
        self._budget, self._hang_up = budget, hang_up
        self.unsent = b""
        self.is_stalled = False
        self.writable = asyncio.Event()
        self.writable.set()
        self._untaken = 0  # bytes that the client had not taken when they were last counted
        self._counted = 0  # the part of it that the budget counts
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
        self._counted += self._untaken
        self._budget.unsent += self._untaken
        if self._budget.unsent > self._budget.limits.unsent_bytes:
            self._hang_up()

    def resume(self) -> None:
        """The client reads again, or has left."""
        self.is_stalled = False
        self.writable.set()
        self.release()

    def release(self) -> None:
        """Wait no more until the client takes something."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._budget.unsent -= self._counted
        self._untaken = self._counted = 0

    def close(self, *, is_watched: bool) -> None:
        """Close once everything was written."""
        self.flush()
        if not self.transport.is_closing():  # asyncio's TLS has no buffer any more when it is closed twice
            self.transport.close()
        if is_watched:
            self._watch()

    def _watch(self) -> None:
        if self._timer is None:
            self._untaken = self.transport.get_write_buffer_size()
            if self._untaken:
                delay_s = self._budget.limits.write_timeout_s
                self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_due)

    def _on_due(self) -> None:
        before, self._timer = self._untaken, None
        if self.transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self._hang_up()
