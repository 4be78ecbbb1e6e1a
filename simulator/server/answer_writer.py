"""Writing to a connection: answers of a turn are gathered, wait for a gate, and for clients that read slowly."""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from simulator.server.http_limits import HttpRefusal, RequestMemoryBudget

Act = Callable[[], None]


OutputGate = Callable[[Act, Act], bool]
"""Returns whether bytes may leave now; if not, it calls its first argument when they may, or the second if they never
will, or neither."""
_HEAD: Final = b"HTTP/1.1 "


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
        if self._held and self._held[0][0].startswith(_HEAD) and not self._transport.is_closing():
            self._transport.write(HttpRefusal("lease_lost").encode(b""))
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

    __slots__ = (
        "_budget", "_counted", "_hang_up", "_timer", "_untaken", "is_stalled", "transport", "unsent", "writable",
    )  # fmt: skip

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
