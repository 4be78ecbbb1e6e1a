"""Answers probes on a listening socket before the application can answer anything, in a thread of its own.

A probe is a GET of a few known paths in a single packet. Other connections wait, as in the backlog, and are given to
the server when it has started, with their bytes unread.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final

from simulator.server.message import STATUS_LINE
from simulator.server.serve import BACKLOG

SILENCE_S: Final = 0.2
"""How long a new connection may send nothing before it waits for the server."""
PAUSE_S: Final = 0.05
"""How long the thread waits for a connection before it looks whether it shall end."""
_HEAD_BYTES: Final = 16 * 1024


class EarlyAnswers:
    """`probes` by path return a status and a body in JSON. `end` returns the connections that wait, at most
    `BACKLOG`."""

    def __init__(self, listener: socket.socket, probes: Mapping[str, Callable[[], tuple[int, bytes]]]) -> None:
        self._listener = listener
        self._probes = {f"GET {path} HTTP/1.".encode(): probe for path, probe in probes.items()}
        self._held: list[socket.socket] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="early", daemon=True)
        self._thread.start()

    def end(self) -> list[socket.socket]:
        """Answer no more."""
        self._is_over.set()
        self._thread.join()
        return self._held

    def _run(self) -> None:
        self._listener.settimeout(PAUSE_S)
        while not self._is_over.is_set() and len(self._held) < BACKLOG:
            with contextlib.suppress(OSError), contextlib.ExitStack() as closing:  # no client came, or it has left
                connection = closing.enter_context(self._listener.accept()[0])
                if not self._answer(connection):
                    closing.pop_all()
                    connection.setblocking(False)
                    self._held.append(connection)
        self._listener.setblocking(False)

    def _answer(self, connection: socket.socket) -> bool:
        """Answer a probe. Return False for any other connection that is open."""
        connection.settimeout(SILENCE_S)
        try:
            head = connection.recv(_HEAD_BYTES, socket.MSG_PEEK)
        except TimeoutError:
            return False
        probe = next((one for line, one in self._probes.items() if head.startswith(line)), None)
        if head and (probe is None or not head.endswith(b"\r\n\r\n")):
            return False
        if probe is not None:
            connection.recv(_HEAD_BYTES)
            status, body = probe()
            lines = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n" % len(body)
            connection.sendall(STATUS_LINE[status] + lines + b"\r\n" + body)
        return True
