"""A connection whose bytes wait until the application says that they may leave."""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

Act = Callable[[], None]


class Gate(Protocol):
    """Whether bytes may leave now."""

    def is_open(self, act: Act) -> bool:
        """True when they may; else `act` is called when they may, or never, if that cannot be."""
        ...


class HeldTransport:
    """A transport that writes and closes, in the order in which it was asked to, when its gate is open."""

    def __init__(self, transport: asyncio.Transport, gate: Gate) -> None:
        self._transport = transport
        self._gate = gate
        self._held: deque[Act] = deque()
        self._held_bytes = 0
        self._is_closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write when the gate is open; nothing to a client that has left by then."""
        if self._held or not self._gate.is_open(self._release):
            self._held_bytes += len(data)
            self._held.append(partial(self._transport.write, data))
        else:
            self._transport.write(data)

    def write_eof(self) -> None:
        """Close our side behind what was written."""
        self._do(self._transport.write_eof)

    def close(self) -> None:
        """Close behind what was written."""
        self._is_closing = True
        self._do(self._transport.close)

    def abort(self) -> None:
        """Close at once; what is held is not written."""
        self._is_closing = True
        self._held.clear()
        self._held_bytes = 0
        self._transport.abort()

    def is_closing(self) -> bool:
        """True when it closes, or will when the gate is open."""
        return self._is_closing or self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        """The bytes that the other side has not taken, those that are held included."""
        return self._held_bytes + self._transport.get_write_buffer_size()

    def _do(self, act: Act) -> None:
        if self._held:
            self._held.append(act)
        else:
            act()

    def _release(self) -> None:
        held, self._held, self._held_bytes = self._held, deque(), 0
        for act in held:
            if self._transport.is_closing():  # the client has left meanwhile
                return
            act()
