"""Answers probes on a listening socket before the application can answer anything, in a thread of its own.

A probe is a GET of a few known paths in a single packet. Other connections wait, as in the backlog, and are given to
the server when it has started, with their bytes unread.
"""

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final

from simulator.server.message import STATUS_LINE

HELD_MAX: Final = 2048
"""The most connections that may wait here; further connections stay in the backlog."""

HEAD_BYTES_MAX: Final = 16 * 1024
_ACCEPTED_AT_ONCE: Final = 64

Probe = Callable[[], tuple[int, bytes]]
"""Returns a status and a body in JSON."""


class EarlyAnswers:
    """`probes` by path. `end` stops the thread and returns the connections that wait, and who had said nothing yet."""

    def __init__(self, listener: socket.socket, probes: Mapping[str, Probe]) -> None:
        self._listener = listener
        self._probes = {f"GET {path} HTTP/1.".encode(): probe for path, probe in probes.items()}
        self._selector = selectors.DefaultSelector()
        self._accepts = False
        self._silent: set[socket.socket] = set()
        self._held: list[socket.socket] = []
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="early", daemon=True)
        self._thread.start()

    def end(self) -> list[socket.socket]:
        """Answer no more."""
        self._wake.close()
        self._thread.join()
        self._woken.close()
        self._selector.close()
        return [*self._held, *self._silent]

    def _run(self) -> None:
        while True:
            self._accept_while_there_is_room()
            for key, _ in self._selector.select():
                ready = key.fileobj
                if ready is self._woken:
                    return
                if ready is self._listener:
                    self._accept()
                elif isinstance(ready, socket.socket):
                    self._look_at(ready)

    def _accept_while_there_is_room(self) -> None:
        has_room = len(self._held) + len(self._silent) < HELD_MAX
        if has_room and not self._accepts:
            self._selector.register(self._listener, selectors.EVENT_READ)
        elif self._accepts and not has_room:
            self._selector.unregister(self._listener)
        self._accepts = has_room

    def _accept(self) -> None:
        for _ in range(min(_ACCEPTED_AT_ONCE, HELD_MAX - len(self._held) - len(self._silent))):
            try:
                connection, _ = self._listener.accept()
            except OSError:  # the backlog is empty
                return
            connection.setblocking(False)
            self._silent.add(connection)
            self._selector.register(connection, selectors.EVENT_READ)

    def _look_at(self, connection: socket.socket) -> None:
        """Answer a probe; let anybody else wait."""
        self._selector.unregister(connection)
        self._silent.discard(connection)
        with contextlib.suppress(OSError):  # the client has left
            head = connection.recv(HEAD_BYTES_MAX, socket.MSG_PEEK)
            probe = self._probe(head)
            if head and (probe is None or not head.endswith(b"\r\n\r\n")):
                self._held.append(connection)
                return
            if probe is not None:
                connection.recv(HEAD_BYTES_MAX)
                connection.sendall(_encoded(*probe()))
        connection.close()

    def _probe(self, head: bytes) -> Probe | None:
        """The probe that a request is, if it is one."""
        return next((one for line, one in self._probes.items() if head.startswith(line)), None)


def _encoded(status: int, body: bytes) -> bytes:
    """Return an answer that closes the connection."""
    lines = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n" % len(body)
    return STATUS_LINE[status] + lines + b"\r\n" + body
